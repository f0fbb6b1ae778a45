import pytest

from services.runbook.evidence.fact import Fact, FactKind, ScoredFact
from services.scorer.judges.panel import (
    BY_MODEL,
    PanelVerdict,
    chances_by_judge,
    combine_with_judge,
)
from services.scorer.judges.question import FactClaim, FactQuestion, Option, OptionKind
from services.scorer.service import CRITERIA
from tests.unit.scorer.fan_page import RIGHT
from tests.unit.scorer.judges.test_questions import FREED, SWAPPED
from tests.unit.scorer.judging import judging, right, scored, service

FACT = Fact(FactKind.FREE, "b")


def decided(evidence, judge):
    (combined,) = combine_with_judge([ScoredFact(FACT, evidence)], {FACT: judge})
    return combined


def question(option):
    options = tuple(Option(OptionKind.NEXT, text) for text in "xy")
    return FactQuestion("", "", options, (FactClaim(1, FACT, option),), 1.0)


def test_a_judge_moves_the_chance_and_the_evidence_still_counts():
    assert decided(0.5, 0.9).chance == pytest.approx(0.988, abs=0.001)
    assert decided(0.1, 0.9).chance == pytest.approx(0.9)
    assert decided(0.9, 0.03).chance < 0.02
    assert decided(0.9, 0.5).chance == pytest.approx(0.9)


def test_who_decided_is_told_and_other_facts_stay():
    other = ScoredFact(Fact(FactKind.FREE, "c"), 0.3)
    combined = combine_with_judge([ScoredFact(FACT, 0.5), other], {FACT: 0.9})
    assert combined[0].by == BY_MODEL
    assert combined[1] == other


def test_of_several_questions_about_a_fact_the_one_that_doubts_it_most_counts():
    questions = [question(0), question(1)]
    facts = chances_by_judge(questions, PanelVerdict({0: (0.8, 0.2), 1: (0.6, 0.4)}), 2)
    assert facts == [{}, {FACT: 0.4}]


def test_a_right_judge_puts_a_wrong_guard_right():
    wrong, good = scored(service(judging(right)), SWAPPED, RIGHT)
    before_wrong, before_good = scored(service(), SWAPPED, RIGHT)
    assert good.score.coherence.value > wrong.score.coherence.value
    assert good.score.coherence.value > before_good.score.coherence.value
    assert wrong.score.coherence.value < before_wrong.score.coherence.value
    assert "Push the tray" in wrong.score.coherence.reason


def test_what_the_evidence_alone_says_is_shown_where_a_model_decided():
    (with_model,) = scored(service(judging(right)), RIGHT)
    (alone,) = scored(service(), RIGHT)
    assert alone.score.coherence.parts == {}
    assert with_model.score.relevance == alone.score.relevance
    for name in CRITERIA:
        dimension = with_model.score.dimensions[name]
        assert dimension.parts == {"evidence": alone.score.dimensions[name].value}


def test_a_withdrawn_judge_changes_nothing_and_is_named():
    candidates = scored(service(judging(lambda question, options: "A")), RIGHT, SWAPPED, FREED)
    alone = scored(service(), RIGHT, SWAPPED, FREED)
    for one, other in zip(candidates, alone, strict=True):
        assert one.score.overall == other.score.overall
        assert one.score.coherence.reason.endswith(
            "The judge was withdrawn: it always answers “A”."
        )


def test_a_slow_judge_leaves_what_the_evidence_says():
    slow = service(judging(right, seconds=1), deadline_s=0.05)
    assert scored(slow, RIGHT, FREED) == scored(service(), RIGHT, FREED)


def test_a_judge_that_is_switched_off_is_not_called():
    model = judging(right)
    scored(service(model, judge=False), RIGHT, FREED)
    assert model.requests == []


def test_no_more_is_asked_than_was_set():
    model = judging(right)
    scored(service(model, judged_facts=2), RIGHT, SWAPPED, FREED)
    assert len(model.requests) == 4


def test_no_candidates_are_no_questions():
    model = judging(right)
    assert scored(service(model)) == []
    assert model.requests == []
