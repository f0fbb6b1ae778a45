"""What is learned from past tickets."""

import numpy as np
import pytest

from services.contracts.triage import Team
from services.knowledge.embedding.embedders import HashingEmbedder
from services.tickets.triage.choice import RoutingLimits, choose_by_ranker
from services.tickets.triage.routing.cases import case_of, entities_of
from services.tickets.triage.routing.router import RoutingModel, folds_of, is_team_unseen
from tests.unit.tickets.triage.cases import PARTS, past_cases, router

LIMITS = RoutingLimits(sure_from=0.6, abstain_below=0.3)


@pytest.mark.parametrize("with_graph", [True, False])
def test_a_ticket_goes_to_the_team_whose_parts_it_names(with_graph):
    learned = router(with_graph=with_graph)
    texts = ["The raidcard beeps.", "Our SMTP relay drops every letter.", "No codec module found."]
    assert [ranking.teams[0] for ranking in learned.rank(texts)] == ["storage", "mail", "voice"]


def test_chances_fall_and_leave_room_for_no_team_at_all():
    (ranking,) = router().rank(["The raidcard beeps."])
    assert sorted(ranking.teams) == sorted(PARTS)
    assert list(ranking.chances) == sorted(ranking.chances, reverse=True)
    assert 0.5 < ranking.chances[0] < sum(ranking.chances) <= 1.0 + 1e-9


def test_what_is_like_nothing_known_gets_a_lower_chance():
    familiar, strange = router().rank(["The iscsi target is full.", "zzqx vvbn wwlp"])
    assert strange.chances[0] < familiar.chances[0]


def test_why_is_told_by_the_path_from_an_entity_to_the_team():
    learned = router()
    text = "The raidcard is slow."
    best = learned.explain(text, learned.rank([text])[0], 1)[0]
    assert best.team == "storage"
    assert "raidcard → storage: 4 of 4 tickets" in best.why


def test_a_name_is_one_way_told_by_the_part_of_it_that_speaks_for_the_team():
    learned = router()
    (best,) = learned.explain("RaidcardIscsi_snapshotQuux9", learned.rank(["raidcard"])[0], 1)
    assert len(best.why) == 1
    assert best.why[0] in {
        "Raidcard → storage: 4 of 4 tickets",
        "Iscsi → storage: 4 of 4 tickets",
        "snapshot → storage: 4 of 4 tickets",
    }


def test_a_long_name_is_cut():
    name = "x" * 50
    cases = [*past_cases(), *(case_of(f"x{n}", name, "storage", 99.0 + n) for n in range(3))]
    learned = RoutingModel(cases, (), HashingEmbedder())
    (best,) = learned.explain(name, learned.rank([name])[0], 1)
    assert best.why == (f"{'x' * 31}… → storage: 3 of 3 tickets",)


def test_a_declared_team_without_past_tickets_may_be_named():
    teams = (Team(name="printing", description="Printers, toner, paper trays."),)
    assert "printing" in router(teams).rank(["toner"])[0].teams


def test_walks_reach_teams_over_shared_entities():
    assert router().rank_with_reached("dialplan broken", 1)[1] == ["voice"]


def test_doubt_costs_a_second_round_and_may_end_without_a_team():
    strict = RoutingLimits(sure_from=1.0, abstain_below=0.999)
    chosen = choose_by_ranker(router(), "zzqx vvbn", "zzqx vvbn wwlp", strict)
    assert (chosen.rounds, chosen.team, chosen.by) == (2, None, "ranker")
    sure = choose_by_ranker(router(), "The raidcard is full.", "The raidcard is full.", LIMITS)
    assert (sure.rounds, sure.team) == (1, "storage")


def test_two_tickets_of_one_team_are_enough_to_learn_from():
    cases = [case_of("1", "disk full", "ops", 1.0), case_of("2", "disk slow", "ops", 2.0)]
    assert RoutingModel(cases, (), HashingEmbedder()).rank(["disk"])[0].teams == ("ops",)


def test_a_text_without_words_is_ranked_too():
    assert len(router().rank(["", "…"])) == 2


def test_parts_are_runs_unless_tickets_are_sorted_by_team():
    mixed = np.tile(np.arange(3), 20)
    assert list(np.unique(np.diff(folds_of(mixed)))) == [0, 1]
    by_team = np.repeat(np.arange(12), 5)
    assert not is_team_unseen(by_team, folds_of(by_team)).any()


def test_a_team_is_hidden_where_all_its_tickets_lie_in_one_part():
    folds = np.array([0, 0, 1, 1])
    assert list(is_team_unseen(np.array([0, 0, 0, 1]), folds)) == [False, False, False, True]


def test_what_is_said_of_a_part_does_not_know_its_teams():
    cases = past_cases()
    turned = [case.model_copy(update={"team": "mail"}) for case in cases[-6:]]
    honest = RoutingModel(cases, (), HashingEmbedder())
    wrong = RoutingModel([*cases[:-6], *turned], (), HashingEmbedder())
    texts = [case.text for case in cases[-6:]]
    assert [f.chances for f in honest.rank(texts)] != [f.chances for f in wrong.rank(texts)]


def test_entities_are_names_whole_and_in_parts_with_their_number():
    counts = entities_of("DiskFull: DiskFull on node7")
    assert counts["diskfull"] == 2
    assert counts["disk"] == 2
