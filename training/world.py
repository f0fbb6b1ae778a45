"""What coevolution needs of a world: queries, prompts at three levels of context, a measure."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol


class Level(StrEnum):
    """How much of the context the Planner is shown, named by what it then writes."""

    GOOD = "good"
    """Complete and in order."""
    FAIR = "fair"
    """Complete, from the last to the first."""
    POOR = "poor"
    """None."""


class Query(NamedTuple):
    """An incident in words, and which one it is."""

    text: str
    key: str


class World(Protocol):
    """Where a Planner is trained: it needs queries, and no workflow that somebody wrote."""

    @property
    def train(self) -> Sequence[Query]:
        """What is learned from."""

    @property
    def holdout(self) -> Sequence[Query]:
        """Queries that tell when to stop."""

    def prompt(self, query: Query, level: Level = Level.GOOD) -> str:
        """What the Planner is asked; the one at `GOOD` is also what the Scorer sees."""

    def measure(self, query: Query, workflow: str) -> float:
        """How right a workflow is, 0 to 1, by whoever is trusted for the held-out queries."""


class Scorer(Protocol):
    """Whoever gives the reward."""

    def scores(self, queries: Sequence[Query], workflows: Sequence[str]) -> list[float]:
        """One for each workflow, the more the better."""
