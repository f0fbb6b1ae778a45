"""What people corrected moves the chances of conditions, and as shipped nothing does."""

import pytest

from services.procedure.evidence.conditions import Condition
from services.procedure.evidence.fact import FactKind
from services.procedure.evidence.reliability import Reliability

SHIPPED = Reliability.shipped()
CAREFUL = SHIPPED.model_copy(update={"intercept": -1.0})


def conditions(*chances):
    return [Condition(kind=FactKind.FREE, step="look", chance=chance) for chance in chances]


def test_as_shipped_nothing_changes():
    given = conditions(0.0, 0.3, 1.0)
    assert SHIPPED.applied(given) == given


def test_a_team_whose_pages_were_corrected_doubts_more():
    given = conditions(0.0, 0.3, 0.9, 1.0)
    told = [each.chance for each in CAREFUL.applied(given)]
    assert all(new < old or old == 0 for new, old in zip(told, [0.0, 0.3, 0.9, 1.0], strict=True))
    assert told == sorted(told)


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_it_stays_a_chance(chance):
    assert 0 < CAREFUL.of(chance) < 1
