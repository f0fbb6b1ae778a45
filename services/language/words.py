"""Words as texts are looked up by them: stemmed, and weighed by how rare they are."""

import math
import threading
from functools import cache, lru_cache

from snowballstemmer import stemmer

from services.language.lexicon import words
from services.language.names import COMPOUND, parts_of

_GRAINS = 2**30
_LONGEST_WORD = 64
"""Longer runs are hashes, keys or encoded blobs: nobody searches for one by its words."""
_stemmer = stemmer("english")
_stemmer_lock = threading.Lock()
"""A stemmer keeps the word it works on in itself."""


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The English stem of one lower-case word."""
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))


@cache
def stems(file: str, name: str) -> frozenset[str]:
    """The stems of one list of a lexicon file."""
    return frozenset(stem(word) for word in words(file, name))


def tokenise(text: str) -> list[str]:
    """Stemmed words in order, stop words left out.

    A compound (`KubeNodeNotReady`, `crash-loop`, `Disk_IOSlow`) gives its parts and, as more
    words, what is written together, so that an exact name weighs more than its parts.
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


def rarity(found: int, total: int) -> float:
    """The inverse document frequency of BM25: what a word says that `found` of `total` texts hold.

    A multiple of 2^-30, so that sums are exact and the same in whatever order a set gives its
    words: no ranking may hang on the hash seed of a process.
    """
    return round(math.log((total + 1) / (found + 0.5)) * _GRAINS) / _GRAINS
