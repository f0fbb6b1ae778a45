import pytest

from services.contracts.scorer import DIMENSIONS, Dimension, Score
from services.scorer.judges.opinion import Opinion
from services.scorer.merge import merged
from services.scorer.settings import ScorerSettings
from services.workflow.model import Workflow
from tests.unit.scorer.cases import EDGES, GOOD, STEPS
from tests.unit.scorer.judging import OTHER, TellingModel, judging, ranked, scored

EVIDENCE = Score(**{name: Dimension(value=4, reason="Seen.") for name in DIMENSIONS})
JUDGE = Opinion(dict.fromkeys(DIMENSIONS, 2.0))
LIKELIHOOD = Opinion(dict.fromkeys(DIMENSIONS, 1.0))
CAKE = Workflow(
    title="Cake",
    steps=tuple(
        step.model_copy(update={"text": f"Bake cake {n}", "commands": (), "citations": ()})
        for n, step in enumerate(STEPS)
    ),
    transitions=EDGES,
)
SHARES = {key: {"evidence": 0.5, "judge": 0.25, "likelihood": 0.25} for key in DIMENSIONS}


def test_parts_are_weighed_within_each_dimension_and_shown():
    found = merged(EVIDENCE, {"judge": JUDGE, "likelihood": LIKELIHOOD}, SHARES)
    assert found.coverage.value == pytest.approx(2.75)
    assert found.coverage.parts == {"evidence": 4, "judge": 2, "likelihood": 1}


def test_each_dimension_has_weights_of_its_own_and_overall_is_the_mean_of_the_five():
    shares = SHARES | {"relevance": {"evidence": 0.0, "judge": 1.0}}
    found = merged(EVIDENCE, {"judge": JUDGE}, shares)
    values = [dimension.value for dimension in found.dimensions.values()]
    assert found.relevance.value == 2
    assert found.overall == pytest.approx(sum(values) / 5)


def test_the_vote_of_a_missing_part_goes_to_the_others():
    found = merged(EVIDENCE, {"judge": JUDGE}, SHARES)
    assert found.coverage.value == pytest.approx((0.5 * 4 + 0.25 * 2) / 0.75)


def test_where_all_that_have_a_vote_are_missing_the_evidence_decides():
    only_likelihood = {key: {"likelihood": 1.0} for key in DIMENSIONS}
    assert merged(EVIDENCE, {"judge": JUDGE}, only_likelihood).coverage.value == 4


def test_without_other_parts_the_score_is_what_it_was():
    assert merged(EVIDENCE, {}, SHARES) is EVIDENCE


def test_a_model_that_nobody_fitted_is_shown_and_has_no_vote():
    (found,) = scored(judging(lambda text: 1), GOOD)
    (alone,) = scored(None, GOOD)
    assert found.score.overall == alone.score.overall
    assert found.score.coverage.parts == {"evidence": alone.score.coverage.value, "judge": 1}


def test_a_fitted_judge_moves_the_ranking():
    model = judging(lambda text: 5 if "Sell" in text else 1)
    good, other = scored(model, GOOD, OTHER, shares={"evidence": 0.2, "judge": 0.8})
    assert other.score.overall > good.score.overall


def test_a_part_that_was_fitted_to_have_no_say_is_not_asked():
    model = judging(lambda text: 1)
    (found,) = scored(model, GOOD, shares={"evidence": 1.0, "judge": 0.0})
    assert model.requests == []
    assert found.score.coverage.parts == {}


def test_parts_that_are_switched_off_are_not_asked():
    model = TellingModel(lambda text: pytest.fail("asked"))
    scored(model, GOOD, judge=False, likelihood=False)
    assert model.requests == []


def test_a_workflow_of_nothing_known_is_not_good_enough():
    good, cake = scored(None, GOOD, CAKE)
    assert good.good_enough
    assert cake.score.relevance.value < ScorerSettings().least_relevance
    assert not cake.good_enough


def test_what_is_good_enough_can_be_set():
    (found,) = scored(None, GOOD, least_score=4.9)
    assert not found.good_enough


def test_what_rests_on_nothing_stands_last_however_the_judge_praises_it():
    model = judging(lambda text: 5 if "cake" in text else 3)
    shares = {"evidence": 0.1, "judge": 0.9}
    good, cake = scored(model, GOOD, CAKE, shares=shares)
    assert cake.score.overall > good.score.overall
    assert not cake.good_enough
    assert ranked(model, GOOD, CAKE, shares=shares)[0] == good
