"""Detection of sentences that address a language model rather than a person who repairs.

The detection is not complete. Matches are kept from models, steps and citations. A text it misses
is still only data, cited and scored like any other sentence. Texts about such sentences, as on a
page about prompt injection, match too.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from services.knowledge.folding import fold, reveal_invisible
from services.knowledge.screening.instruction_rules import MARKS, PROSE, InstructionRule

_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,4000}={0,2}")
_LONGEST = 4000
"""Window in characters; a longer run without the end of a sentence is no sentence."""
_OVERLAP = 400
"""Overlap of two windows in characters, longer than any wording here."""


@lru_cache(maxsize=65_536)
def instruction_in(text: str) -> str | None:
    """Describe what the text asks of a model, in a few words; None if it addresses people.

    `text` is a sentence, or a few that belong together. Invisible letters, mixed alphabets,
    entities, markup and Base64 hide nothing.
    """
    starts = range(0, max(1, len(text) - _OVERLAP), _LONGEST - _OVERLAP)
    return next(
        (instruction for at in starts if (instruction := _in_piece(text[at : at + _LONGEST]))), None
    )


def _in_piece(text: str) -> str | None:
    plain = reveal_invisible(text)
    if instruction := _first_match(MARKS, plain) or _match_prose(plain):
        return instruction
    return next(
        (
            f"{what}, encoded"
            for decoded in _decode_base64(plain)
            if (what := _match_prose(decoded))
        ),
        None,
    )


def _first_match(rules: Iterable[InstructionRule], text: str) -> str | None:
    return next((rule.what for rule in rules if rule.matches(text)), None)


def _match_prose(text: str) -> str | None:
    return _first_match(PROSE, fold(text))


def _decode_base64(text: str) -> Iterator[str]:
    for run in _ENCODED.findall(text):
        try:
            yield base64.b64decode(run + "=" * (-len(run) % 4), altchars=b"-_").decode()
        except (binascii.Error, UnicodeDecodeError, ValueError):
            continue
