"""How far the chances of conditions hold on a team's own pages: what people corrected tells."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from services.kit.fitted import FittedFile, Spread
from services.procedure.evidence.conditions import Condition
from services.procedure.evidence.odds import chance_of, log_odds

_NEAREST = 0.005
"""To 0 and to 1."""


class Reliability(FittedFile):
    """A line over log-odds (Platt, 1999); as shipped it changes nothing."""

    NAME: ClassVar = "conditions"
    SHIPPED: ClassVar = Path(__file__).with_name("reliability.json")

    intercept: float
    slope: float = Field(ge=0)
    spread: Spread = Field(default=Spread())
    """Of the intercept, then of the slope."""
    provenance: str = ""
    """What it was fitted on, and by which command."""

    def of(self, chance: float) -> float:
        """The chance on these pages, 0–1."""
        return chance_of(self.intercept + self.slope * bounded_odds(chance))

    def applied(self, conditions: Iterable[Condition]) -> list[Condition]:
        """The same conditions with their chances on these pages."""
        if (self.intercept, self.slope) == (0.0, 1.0):
            return list(conditions)
        told = [(each, round(self.of(each.chance), 3)) for each in conditions]
        return [each.model_copy(update={"chance": chance}) for each, chance in told]


def bounded_odds(chance: float) -> float:
    """The log-odds that the line is laid over."""
    return log_odds(chance, nearest=_NEAREST)
