"""Programs, changes and dangers of `table.yaml`, with their patterns compiled."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("table.yaml").read_text("utf-8"))


def _any_of(patterns: Sequence[str], flags: re.RegexFlag) -> re.Pattern[str]:
    fragments = _TABLE["fragments"]
    whole = re.sub(r"\{([a-z_]+)\}", lambda match: fragments[match[1]], "|".join(patterns))
    return re.compile(whole, flags)


class Program:
    """Read-only uses of a program."""

    def __init__(
        self,
        reads: Sequence[str] = (),
        exactly: Sequence[str] = (),
        never: Sequence[str] = (),
        valued: str = "",
    ) -> None:
        """Compile a row of the table."""
        looks = [*exactly, *(f"(?:{each})(?: .*)?" for each in reads)]
        self._looks = _any_of(looks or [".*"], re.DOTALL)
        self._never = _any_of(never, re.DOTALL) if never else None
        self._valued = frozenset(valued.split())

    def is_read_only(self, arguments: list[str]) -> bool:
        """Return True if the program only reads with these arguments."""
        if self._never and self._never.search(" ".join(arguments)):
            return False
        return bool(self._looks.fullmatch(" ".join(self._operands(arguments))))

    def _operands(self, arguments: list[str]) -> list[str]:
        """Return the words that are no options or option values; with `*` the first run of them."""
        operands: list[str] = []
        skips = False
        for word in arguments:
            if skips:
                skips = False
            elif word.startswith("-") and len(word) > 1:
                if "*" in self._valued and operands:
                    break
                skips = "=" not in word and bool(self._valued & {word, "*"})
            else:
                operands.append(word)
        return operands


@dataclass(frozen=True)
class Wrapper:
    """A program that runs another one, after its options and a number of operands."""

    valued: str
    operands: int = 0


@dataclass(frozen=True)
class Change:
    """A change such as `restarts a service`; `undo` is empty if there is no general way back."""

    what: str
    undo: str = ""
    in_prose: bool = True


RESERVED = frozenset(_TABLE["reserved"].split())
READERS = frozenset(_TABLE["readers"].split())
LISTENERS = frozenset(_TABLE["listeners"].split())
WRAPPERS = {name: Wrapper(**row) for name, row in _TABLE["wrappers"].items()}
CLIENTS: dict[str, str] = _TABLE["clients"]
PROGRAMS = {
    name: Program(**{key: value for key, value in row.items() if key != "names"})
    for row in _TABLE["programs"]
    for name in row["names"].split()
}


def _changes(kind: str) -> tuple[tuple[re.Pattern[str], Change], ...]:
    flags = re.IGNORECASE | re.MULTILINE
    return tuple((_any_of(row.pop("patterns"), flags), Change(**row)) for row in _TABLE[kind])


_CHANGES, _DANGERS = _changes("changes"), _changes("dangers")


def change_of(command: str) -> Change | None:
    """Return the known change a command makes; None if it is not in the table."""
    return next((change for pattern, change in _CHANGES if pattern.search(command)), None)


def danger_of(command: str) -> Change | None:
    """Return the first destructive operation found in a command."""
    return next((danger for pattern, danger in _DANGERS if pattern.search(command)), None)


def danger_in_prose(text: str) -> Change | None:
    """Return the first destructive operation in a sentence, by patterns unlike plain English."""
    return next((d for pattern, d in _DANGERS if d.in_prose and pattern.search(text)), None)
