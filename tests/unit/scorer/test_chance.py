import pytest

from services.contracts.scorer import DIMENSIONS, Dimension, Score
from services.scorer.chance import Chance, chance_of_page, features_of, with_chance
from services.workflow.model import Provenance

FITTED = Chance.shipped()
BY_RULES = Provenance(planner="extractive", reader="rules", state="read")
APPROVED = Provenance(planner="extractive", reader="rules", state="approved")
BY_MODEL = Provenance(planner="llm", model="some")


def score(value: float = 4.0, **values: float) -> Score:
    return Score(
        **{
            name: Dimension(value=values.get(name, value), reason=f"why {name}")
            for name in DIMENSIONS
        }
    )


def test_the_chance_follows_the_scores_and_who_read_the_page():
    chances = [
        with_chance(score(), origin, FITTED).chance for origin in (BY_RULES, BY_MODEL, APPROVED)
    ]
    assert chances == sorted(chances)
    assert chances[0] < 0.5 < chances[2]
    assert with_chance(score(), APPROVED, FITTED, of_page=0.5).chance < chances[2]


def test_what_lowers_the_chance_is_reported():
    reasons = with_chance(score(1.2), BY_RULES, FITTED).lowered_by
    assert any("nobody has checked" in each for each in reasons)
    assert with_chance(score(4.8), APPROVED, FITTED).lowered_by == ()


def test_no_dimension_counts_against_a_workflow():
    assert all(FITTED.weights[name] >= 0 for name in DIMENSIONS)


def test_without_a_fit_there_is_no_chance():
    assert with_chance(score(), BY_MODEL, Chance(weights={}, bias=0, usual={})).chance is None


def test_values_at_the_ends_of_the_scale_are_finite():
    signs = features_of(dict.fromkeys(DIMENSIONS, 5.0), is_by_rules=False, is_checked=True)
    assert 0 < FITTED.of(signs) < 1


def test_a_page_that_is_not_the_best_has_what_the_best_one_leaves():
    assert chance_of_page(0.8, 1.0) == 0.8
    assert chance_of_page(0.8, 0.5) == pytest.approx(0.1)
    assert chance_of_page(1.0, 0.9) == 0
