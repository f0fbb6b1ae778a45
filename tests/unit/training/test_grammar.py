import pytest

from training.toy.grammar import Page, claims, facts_f1, marks, written
from training.toy.world import Level, ToyWorld

PAGE = Page((("drain", "if_hot"), ("restart", "always"), ("swap", "if_full")))
RIGHT = written(PAGE.cited)


def test_what_the_page_says_is_all_right():
    assert RIGHT == "1 drain if_hot 2 restart always 3 swap if_full 4 end"
    assert facts_f1(RIGHT, PAGE) == 1


@pytest.mark.parametrize(
    "worse",
    [
        "1 drain if_hot 3 swap if_full 4 end",
        "1 drain always 2 restart always 3 swap if_full 4 end",
        "1 drain if_hot 3 swap if_full 2 restart always 4 end",
        "1 drain if_hot 2 restart always 2 restart always 3 swap if_full 4 end",
        "1 drain if_hot 2 restart always 3 swap if_full 4 flush if_hot 5 end",
    ],
    ids=["left out", "unguarded", "swapped", "doubled", "invented"],
)
def test_each_mistake_costs(worse):
    assert 0 < facts_f1(worse, PAGE) < 1
    assert sum(marks(worse, PAGE).values()) < sum(marks(RIGHT, PAGE).values()) == 25


def test_saying_less_never_pays():
    steps = PAGE.cited
    scores = [facts_f1(written(steps[:n], 4), PAGE) for n in range(4)]
    assert scores == sorted(scores)
    assert len(set(scores)) == 4


@pytest.mark.parametrize(
    "text", ["", "end", "1 drain", "1 drain if_hot", "drain 1 if_hot 2 end", "1 drain if_hot end 2"]
)
def test_what_is_not_in_the_form_claims_nothing(text):
    assert claims(text) is None
    assert facts_f1(text, PAGE) == 0
    assert set(marks(text, PAGE).values()) == {1}


def test_the_levels_of_context_are_ordered_reversed_and_none():
    world = ToyWorld(train=4, holdout=2, test=2)
    query = world.train[0]
    good, fair, poor = (world.prompt(query, level) for level in Level)
    assert sorted(set(good.split()) - {"<s>"}) == sorted(set(fair.split()) - {"<s>"})
    assert good != fair
    assert "nothing" in poor


def test_no_page_is_in_two_of_the_parts():
    world = ToyWorld(train=40, holdout=20, test=20)
    pages = [world.page(query) for query in (*world.train, *world.holdout, *world.test)]
    assert len(set(pages)) == 80
    demonstrated = {prompt for prompt, _ in world.demonstrations(200) if "nothing" not in prompt}
    contexts = {prompt.split("context", 1)[1] for prompt in demonstrated}
    own = {world.prompt(query).split("context", 1)[1] for query in world.train}
    assert contexts.isdisjoint(own)
