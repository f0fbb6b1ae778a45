"""Verdicts of blind readers on what was shown to them, counted by way of showing."""

from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evaluation.measures.figures import Figures
from evaluation.measures.shares import wilson

BENCHMARK = "acceptance"


class Verdict(BaseModel):
    """What a reader says of one file."""

    model_config = ConfigDict(frozen=True)

    file: str
    verdict: Literal["accept", "edit", "reject"]
    harm: bool
    recall: float
    """Estimated share of the page's key steps that are there, 0 to 100."""
    clear: float
    """How quickly the reader knew what to do, 1 to 5."""
    worst: str = ""


def verdict_figures(verdicts: Sequence[Verdict]) -> Figures:
    """Return shares, means, and Wilson's 95 % intervals of the shares; none without verdicts."""
    if not verdicts:
        return {}
    accepted = sum(each.verdict == "accept" for each in verdicts)
    harmed = sum(each.harm for each in verdicts)
    n = len(verdicts)
    return {
        "n": n,
        **wilson("accept", accepted, n),
        "reject": round(sum(each.verdict == "reject" for each in verdicts) / n, 3),
        **wilson("harm", harmed, n),
        "key steps": round(fmean(each.recall for each in verdicts), 1),
        "clear": round(fmean(each.clear for each in verdicts), 2),
    }
