"""Whether a sentence speaks to a language model and not to a person who repairs something.

A net with known meshes: what it finds is kept from models, steps and citations. What it misses is
still only data, cited and scored like any other sentence. A text about such sentences, as a page on
prompt injection quotes them, is found too.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from services.knowledge.folding import folded, revealed
from services.knowledge.screening.instruction_rules import MARKS, PROSE, Rule

_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,4000}={0,2}")
_LONGEST = 4000
"""Characters looked at together; a longer run without a sentence's end is no sentence."""
_OVERLAP = 400
"""Characters that two looks share, more than any wording here takes."""


@lru_cache(maxsize=65_536)
def instruction_in(text: str) -> str | None:
    """What the text wants of a model, in a few words; None where it speaks to people.

    `text` is a sentence, or a few that belong together. Letters that cannot be seen, mixed
    alphabets, entities, markup and Base64 hide nothing.
    """
    starts = range(0, max(1, len(text) - _OVERLAP), _LONGEST - _OVERLAP)
    return next((found for at in starts if (found := _in_piece(text[at : at + _LONGEST]))), None)


def _in_piece(text: str) -> str | None:
    plain = revealed(text)
    if found := _first(MARKS, plain) or _worded(plain):
        return found
    return next((f"{what}, encoded" for said in _decoded(plain) if (what := _worded(said))), None)


def _first(rules: Iterable[Rule], text: str) -> str | None:
    return next((rule.what for rule in rules if rule.matches(text)), None)


def _worded(text: str) -> str | None:
    return _first(PROSE, folded(text))


def _decoded(text: str) -> Iterator[str]:
    for run in _ENCODED.findall(text):
        try:
            yield base64.b64decode(run + "=" * (-len(run) % 4), altchars=b"-_").decode()
        except (binascii.Error, UnicodeDecodeError, ValueError):
            continue
