from services.retrieval.match import Rarity, terms_of, union


def test_a_text_is_its_words_and_its_runs_of_three():
    terms = terms_of("fan tray failed again")
    assert terms.words == {"fan", "tray", "fail", "again"}
    assert terms.runs == {("fan", "tray", "fail"), ("tray", "fail", "again")}


def test_a_short_text_is_one_run_and_an_empty_one_none():
    assert terms_of("fan tray").runs == {("fan", "tray")}
    assert terms_of("").runs == set()


def test_several_texts_hold_what_each_holds():
    assert union([terms_of("fan"), terms_of("tray")]).words == {"fan", "tray"}


def test_a_word_that_few_candidates_have_counts_more():
    candidates = [terms_of(f"switch number{i}") for i in range(9)] + [terms_of("switch optics")]
    rarity = Rarity(candidates)
    wanted = frozenset({"switch", "optic"})
    assert rarity.share_of_words(wanted, frozenset({"optic"})) > 0.9
    assert rarity.share_of_words(wanted, frozenset({"switch"})) < 0.1
    assert rarity.share_of_words(wanted, wanted) == 1


def test_nothing_wanted_is_no_share():
    assert Rarity([]).share_of_words(frozenset(), frozenset({"fan"})) == 0


def test_runs_are_shared_literally():
    wanted = terms_of("link flap limit reached").runs
    rarity = Rarity([terms_of("fan tray failed")])
    assert rarity.share_of_runs(wanted, terms_of("the link flap limit reached on port").runs) == 1
    assert rarity.share_of_runs(wanted, terms_of("limit of link flap").runs) == 0
