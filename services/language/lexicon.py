"""The word lists beside this module."""

import json
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def words(file: str, name: str) -> frozenset[str]:
    """One list of a lexicon file, such as `verbs` and `imperatives`."""
    return frozenset(_loaded(file)[name])


@cache
def pairs(file: str, name: str) -> dict[str, str]:
    """One table of a lexicon file."""
    return dict(_loaded(file)[name])


@cache
def _loaded(file: str) -> dict[str, dict[str, str]]:
    loaded: dict[str, dict[str, str]] = json.loads((_HERE / f"{file}.json").read_text("utf-8"))
    return loaded
