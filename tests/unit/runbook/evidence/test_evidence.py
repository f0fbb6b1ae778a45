import pytest

from services.kit.fits.trees import Forest, Tree
from services.runbook.evidence.fact import (
    Fact,
    FactKind,
    Forests,
    ScoredFact,
    Voter,
    in_words,
    score_facts,
    with_votes,
)
from services.runbook.evidence.facts import facts_of
from services.runbook.evidence.grounded_workflow import (
    GroundedWorkflow,
    brevity_features,
    coverage_features,
)
from services.runbook.evidence.page_lines import CitedPages
from tests.unit.runbook.evidence.fan import (
    OIL,
    OPEN,
    PAGE,
    READ,
    RIGHT,
    SOURCE,
    SWAPPED,
    TEXT,
    UNCONDITIONAL,
    drawn,
)

FORESTS = Forests.shipped()
UNDER_YES = Fact(FactKind.GUARD, "open", "shut", "yes")


def test_facts_are_the_conditions_arrows_questions_and_ends():
    facts = {fact for fact, _ in facts_of(RIGHT)}
    assert UNDER_YES in facts
    assert Fact(FactKind.FREE, "oil") in facts
    assert Fact(FactKind.QUESTION, "shut") in facts
    assert Fact(FactKind.ARROW, "shut", "oil", "no") in facts
    assert Fact(FactKind.GUARD, "open", "shut", "no") in {f for f, _ in facts_of(SWAPPED)}
    alone = drawn(("read", "oil", ""), steps=(READ, OIL))
    assert Fact(FactKind.END, "oil") in {fact for fact, _ in facts_of(alone)}


def test_a_fact_is_told_as_a_person_reads_it():
    assert in_words(UNDER_YES, RIGHT) == (
        "“Open the valve by hand” only if “Is the valve shut?” is answered yes"
    )


def test_lines_know_their_place():
    assert SOURCE.place(7).items == (6, 7)
    assert SOURCE.place(5).is_numbered
    assert SOURCE.place(6).sections[:-1] == SOURCE.place(12).sections[:-1]
    assert SOURCE.is_heading(10)
    assert SOURCE.headings_between(8, 12) == 1
    assert SOURCE.roles(PAGE).conditional >= {6, 12}
    assert SOURCE.roles(PAGE).escalating == {12}


def test_pages_do_not_share_lines():
    two = CitedPages({PAGE: TEXT, "other.md": "# Other\n\nOil the door.\n"})
    assert two.text((two.number("other.md", 3),)) == "Oil the door."
    assert two.place(two.number("other.md", 3)).sections[0] != two.place(5).sections[0]


def test_lines_that_do_not_exist_stand_nowhere():
    assert SOURCE.text((900,)) == ""
    assert SOURCE.place(900).sections == ()


def test_the_answers_as_the_line_says_them_are_likelier_than_swapped():
    def mean(of):
        guards = [
            d.chance for d in score_facts(facts_of(of), FORESTS) if d.fact.kind is FactKind.GUARD
        ]
        return sum(guards) / len(guards)

    assert mean(RIGHT) > mean(SWAPPED)


def test_a_step_told_to_everybody_against_its_condition_is_unlikely():
    chances = {d.fact: d.chance for d in score_facts(facts_of(UNCONDITIONAL), FORESTS)}
    assert chances[Fact(FactKind.FREE, "open")] < chances[Fact(FactKind.FREE, "read")]


def test_without_forests_nothing_is_decided():
    assert score_facts(facts_of(RIGHT), Forests(forests={})) == []


def test_coverage_sees_a_question_that_is_gone():
    whole = coverage_features(RIGHT, RIGHT.roles)
    less = coverage_features(UNCONDITIONAL, UNCONDITIONAL.roles)
    assert whole["conditions"] > less["conditions"]
    assert whole["instructions"] == less["instructions"]
    assert brevity_features(RIGHT, RIGHT.roles)["implied"] == pytest.approx(1 / 5)


def test_a_workflow_without_a_known_page_covers_nothing():
    empty = drawn(steps=(OPEN.model_copy(update={"citations": ()}),))
    assert set(coverage_features(empty, empty.roles).values()) == {0.0}


def voices(*drawn: GroundedWorkflow) -> list[list[ScoredFact]]:
    return with_votes(
        [Voter(of, [ScoredFact(fact, 0.5) for fact, _ in facts_of(of)]) for of in drawn]
    )


def chance_of(decided: list[ScoredFact], fact: Fact) -> float:
    return next(each.chance for each in decided if each.fact == fact)


def test_what_others_say_too_is_likelier_and_what_they_contradict_is_not():
    right, _, swapped = voices(RIGHT, RIGHT, SWAPPED)
    assert chance_of(right, Fact(FactKind.FREE, "oil")) > 0.6
    wrong = Fact(FactKind.GUARD, "open", "shut", "no")
    assert chance_of(swapped, wrong) < 0.4 < chance_of(right, UNDER_YES)


def test_a_tree_follows_its_thresholds_and_knows_where_the_unknown_goes():
    tree = Tree(
        sign=[0, -1, -1], below=[1.0, -2.0, 2.0], left=[1, 0, 0], right=[2, 0, 0],
        missing_left=[1, 0, 0],
    )  # fmt: skip
    forest = Forest(signs=["height"], start=0.0, trees=[tree])
    assert forest.log_odds({"height": 1.0}) == -2
    assert forest.log_odds({"height": 1.5}) == 2
    assert forest.log_odds({}) == -2
    assert forest.chance({"height": 9}) == pytest.approx(0.8808, abs=1e-4)
