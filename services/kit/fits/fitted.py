"""Numbers fitted on data, as values that are passed in: shipped, or a platform's own."""

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from services.kit.errors import InvalidInputError

FOLDER = "fitted"
"""Subfolder of a data folder with files that replace the shipped ones of the same names."""


class UnusableFitError(InvalidInputError):
    """A file of fitted numbers is damaged, or holds something else."""


class FittedNumbers(BaseModel):
    """A part of a file of fitted numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Spread(FittedNumbers):
    """Covariance of fitted numbers, the prior of learning on site."""

    names: tuple[str, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()
    """Matrix of shape (names, names); empty if unknown, so that nothing is learned from it."""

    @model_validator(mode="after")
    def _is_square(self) -> Self:
        sizes = {len(self.covariance), *map(len, self.covariance)}
        if sizes != {len(self.names)}:
            raise ValueError(f"expected {len(self.names)} rows of as many numbers")
        return self


def refuse_unknown(names: Iterable[str], allowed: Collection[str]) -> None:
    """Raise ValueError if a name is not one that this version reads."""
    if unknown := sorted(set(names).difference(allowed)):
        raise ValueError(f"unknown names {unknown}, known are {sorted(allowed)}")


class FittedFile(FittedNumbers):
    """A file of numbers that were fitted together."""

    NAME: ClassVar[str] = ""
    """Name for people, if the numbers are learned on site."""
    SHIPPED: ClassVar[Path]
    INDENT: ClassVar[int | None] = 1

    @classmethod
    def shipped(cls) -> Self:
        """Load the numbers shipped with the package."""
        return cls.read(cls.SHIPPED)

    @classmethod
    def of_folder(cls, data_folder: Path) -> Self:
        """Load the data folder's file of that name if it exists, else the shipped one.

        Raises:
            UnusableFitError: The folder's file cannot be used; it is not passed over.
        """
        own = data_folder / FOLDER / cls.SHIPPED.name
        return cls.read(own) if own.exists() else cls.shipped()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Load the numbers of a file.

        Raises:
            UnusableFitError: It cannot be read, or does not hold exactly these numbers.
        """
        try:
            text = path.read_bytes()
        except OSError as error:
            raise _unusable(cls.__name__, str(path), str(error.strerror)) from error
        return cls.of_text(text, str(path))

    @classmethod
    def of_text(cls, text: str | bytes, place: str) -> Self:
        """Parse the numbers of a text from `place`; raises as `read` does."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            came = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
            raise _unusable(cls.__name__, place, came) from error

    @property
    def hash(self) -> str:
        """Hash of the content, for cache keys of what is computed from the numbers."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def write(self) -> None:
        """Write the numbers to the shipped file."""
        self.SHIPPED.write_text(self.model_dump_json(indent=self.INDENT) + "\n", encoding="utf-8")


def _unusable(expected: str, place: str, came: str) -> UnusableFitError:
    return UnusableFitError(
        f"expected {expected} in {place}, got {came!r}; fit it again, or take it away to use"
        " what is shipped"
    )
