"""Numbers fitted on data, as values that are handed in: those shipped, or those of a platform."""

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from services.kit.errors import InvalidInputError

FOLDER = "fitted"
"""Where a data folder keeps the files that stand in for those shipped, under the same names."""


class UnusableFitError(InvalidInputError):
    """A file of fitted numbers is damaged, or holds something else."""


class FittedNumbers(BaseModel):
    """A part of a file of fitted numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Spread(FittedNumbers):
    """How surely numbers are known: what learning on site starts from."""

    names: tuple[str, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()
    """Shape (names, names); empty where it is not known, so that nothing is learned from it."""

    @model_validator(mode="after")
    def _is_square(self) -> Self:
        sizes = {len(self.covariance), *map(len, self.covariance)}
        if sizes != {len(self.names)}:
            raise ValueError(f"expected {len(self.names)} rows of as many numbers")
        return self


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError where a name is not one of those that this version reads."""
    if unknown := sorted(set(given).difference(known)):
        raise ValueError(f"unknown names {unknown}, known are {sorted(known)}")


class FittedFile(FittedNumbers):
    """What was fitted together, a file of its own."""

    NAME: ClassVar[str] = ""
    """What people call it, where it is learned on site."""
    SHIPPED: ClassVar[Path]
    INDENT: ClassVar[int | None] = 1

    @classmethod
    def shipped(cls) -> Self:
        """Those that come with the package."""
        return cls.read(cls.SHIPPED)

    @classmethod
    def of_folder(cls, data_folder: Path) -> Self:
        """Those of the data folder where it has a file of that name, else those shipped.

        Raises:
            UnusableFitError: That file cannot be used; it is not passed over.
        """
        own = data_folder / FOLDER / cls.SHIPPED.name
        return cls.read(own) if own.exists() else cls.shipped()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Those of a file.

        Raises:
            UnusableFitError: It cannot be read, or does not hold just such numbers.
        """
        try:
            text = path.read_bytes()
        except OSError as error:
            raise _unusable(cls.__name__, str(path), str(error.strerror)) from error
        return cls.of_text(text, str(path))

    @classmethod
    def of_text(cls, text: str | bytes, place: str) -> Self:
        """Those of a text that stands in `place`; raises as `read` does."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            came = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
            raise _unusable(cls.__name__, place, came) from error

    @property
    def hash(self) -> str:
        """Another one for other content, for keys of what follows from these numbers."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def write(self) -> None:
        """Make them those that are shipped."""
        self.SHIPPED.write_text(self.model_dump_json(indent=self.INDENT) + "\n", encoding="utf-8")


def _unusable(expected: str, place: str, came: str) -> UnusableFitError:
    return UnusableFitError(
        f"expected {expected} in {place}, got {came!r}; fit it again, or take it away to use"
        " what is shipped"
    )
