"""The base of what a team writes into the files of its catalogue."""

from pydantic import ConfigDict

from services.kit.value import Value


class CatalogueEntry(Value):
    """A key that it does not know is an error: a misspelt denial must not count as none."""

    model_config = ConfigDict(frozen=True, extra="forbid")
