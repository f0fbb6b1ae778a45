"""What scoring rests on that was fitted: forests decide facts, weights and chance follow."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from services.procedure.evidence.conditions import ConditionForests
from services.procedure.evidence.decide import Forests
from services.scorer.chance import Chance
from services.scorer.criteria.weighing import Weighings


@dataclass(frozen=True)
class ScoringFit:
    """Fitted one after the other on the same rows: one is worth little with the others of old."""

    forests: Forests
    weighings: Weighings
    chance: Chance
    conditions: ConditionForests
    """Fitted by itself: it marks, and no score hangs on it."""

    @classmethod
    def shipped(cls) -> Self:
        """Those that come with the package."""
        return cls(
            Forests.shipped(), Weighings.shipped(), Chance.shipped(), ConditionForests.shipped()
        )

    @classmethod
    def of_folder(cls, data_folder: Path) -> Self:
        """Each of the data folder where it has one.

        Raises:
            UnusableFitError: A file there cannot be used.
        """
        return cls(
            Forests.of_folder(data_folder),
            Weighings.of_folder(data_folder),
            Chance.of_folder(data_folder),
            ConditionForests.of_folder(data_folder),
        )

    @property
    def hash(self) -> str:
        """Another one where any of them is another but the chance, which is of one ticket."""
        all_of_it = (self.forests.hash, self.weighings.hash, self.conditions.hash)
        return hashlib.sha256("".join(all_of_it).encode()).hexdigest()[:16]

    def write(self) -> None:
        """Make them those that are shipped."""
        self.forests.write()
        self.weighings.write()
        self.chance.write()
