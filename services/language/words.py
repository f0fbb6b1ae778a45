"""Word lists of the JSON files beside this module, and stemmed search terms by their rarity."""

import json
import math
import threading
from functools import cache, lru_cache
from pathlib import Path

from snowballstemmer import stemmer

from services.language.names import COMPOUND, parts_of

_LEXICON: dict[str, dict[str, dict[str, str]]] = {
    path.stem: json.loads(path.read_text("utf-8")) for path in Path(__file__).parent.glob("*.json")
}
_WORDS = {
    (file, name): frozenset(entries)
    for file, lists in _LEXICON.items()
    for name, entries in lists.items()
}
_GRAINS = 2**30
_LONGEST_WORD = 64
"""Longer runs are hashes, keys or encoded blobs: nobody searches for one by its words."""
_stemmer = stemmer("english")
_stemmer_lock = threading.Lock()
"""A stemmer keeps the word it works on in itself."""


def words(file: str, name: str) -> frozenset[str]:
    """Return one list of a lexicon file, such as `verbs` and `imperatives`."""
    return _WORDS[file, name]


def pairs(file: str, name: str) -> dict[str, str]:
    """Return one table of a lexicon file, such as `verbs` and `participles`."""
    return _LEXICON[file][name]


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the English stem of one lower-case word."""
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))


@cache
def stems(file: str, name: str) -> frozenset[str]:
    """Return the stems of one list of a lexicon file."""
    return frozenset(stem(word) for word in words(file, name))


def tokenise(text: str) -> list[str]:
    """Return the stemmed words in order, without stop words.

    A compound (`KubeNodeNotReady`, `crash-loop`, `Disk_IOSlow`) yields its parts and, in addition,
    the parts joined, so that an exact name weighs more than its parts.
    """
    return [term for compound in COMPOUND.findall(text) for term in _terms_of(compound)]


@lru_cache(maxsize=200_000)
def _terms_of(compound: str) -> tuple[str, ...]:
    if len(compound) > _LONGEST_WORD:
        return ()
    segments = [
        parts_of(segment.lower() if segment.isupper() else segment)
        for segment in compound.replace("_", "-").split("-")
    ]
    parts = [part.lower() for segment in segments for part in segment]
    terms = [stem(part) for part in parts if part not in words("words", "not_searched")]
    together = ["".join(segment).lower() for segment in segments if len(segment) > 1]
    if len(segments) > 1:
        together.append("".join(parts))
    return (*terms, *together)


def rarity(count: int, total: int) -> float:
    """Return the inverse document frequency of BM25 of a word in `count` of `total` texts.

    A multiple of 2^-30, so that sums are exact and the same in whatever order a set yields its
    words: no ranking may depend on the hash seed of a process.
    """
    return round(math.log((total + 1) / (count + 0.5)) * _GRAINS) / _GRAINS
