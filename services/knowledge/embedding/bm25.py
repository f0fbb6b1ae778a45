"""Words of operation documents and tickets, and BM25 as sparse vectors.

The vector of a text holds BM25's term-frequency part; the engine multiplies by the inverse document
frequency (Qdrant's modifier "idf"), which it knows at query time. A dot product is then the BM25
score (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
"""

import hashlib
import math
import re
import threading
from collections import Counter
from functools import lru_cache

from pydantic import BaseModel, ConfigDict
from snowballstemmer import stemmer

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 120
"""Words of a usual chunk. A constant, so that a vector does not depend on the rest of the store."""

_GRAINS = 2**30
_COMPOUND = re.compile(r"[^\W_]+(?:[_-][^\W_]+)*")
_PART = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_SEPARATOR = re.compile(r"[_-]")
_LONGEST_WORD = 64
"""Longer runs are hashes, keys or encoded blobs: nobody searches for one by its words."""
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been being but by can could did do does for
        from had has have how i if in into is it its may might more must no not
        of on or our s shall should so some such t than that the their them then
        there these they this those to too was we were what when where which
        while who why will with would you your""",
    )
)
_stemmer = stemmer("english")
_stemmer_lock = threading.Lock()
"""A stemmer keeps the word it works on in itself."""


class SparseVector(BaseModel):
    """Indices in rising order, none twice, with their weights."""

    model_config = ConfigDict(frozen=True)

    indices: tuple[int, ...]
    values: tuple[float, ...]


@lru_cache(maxsize=200_000)
def _terms_of(compound: str) -> tuple[str, ...]:
    if len(compound) > _LONGEST_WORD:
        return ()
    segments = [
        _PART.findall(segment.lower() if segment.isupper() else segment)
        for segment in _SEPARATOR.split(compound)
    ]
    parts = [part.lower() for segment in segments for part in segment]
    terms = [stem_word(part) for part in parts if part not in _STOP_WORDS]
    together = ["".join(segment).lower() for segment in segments if len(segment) > 1]
    if len(segments) > 1:
        together.append("".join(parts))
    return (*terms, *together)


@lru_cache(maxsize=200_000)
def stem_word(word: str) -> str:
    """The English stem of one lower-case word."""
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))


def tokenise(text: str) -> list[str]:
    """Stemmed words in order, stop words left out.

    A compound (`KubeNodeNotReady`, `crash-loop`, `Disk_IOSlow`) gives its parts and, as more
    words, what is written together, so that an exact name weighs more than its parts.
    """
    return [term for compound in _COMPOUND.findall(text) for term in _terms_of(compound)]


def split_name(name: str) -> str:
    """A name written together as separate words: `KubeNodeNotReady` is `Kube Node Not Ready`."""
    return " ".join(part for word in _COMPOUND.findall(name) for part in _PART.findall(word))


def document_vector(text: str) -> SparseVector:
    """The sparse vector of a text that is to be found."""
    counts = Counter(tokenise(text))
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return _vector({term: n * (K1 + 1) / (n + norm) for term, n in counts.items()})


def query_vector(text: str) -> SparseVector:
    """The sparse vector of a query; a word said twice counts a little more, not double."""
    counts = Counter(tokenise(text))
    return _vector({term: 2 * n / (n + 1) for term, n in counts.items()})


def rarity(found: int, total: int) -> float:
    """The inverse document frequency of BM25: what a word says that `found` of `total` texts hold.

    A multiple of 2^-30, so that sums are exact and the same in whatever order a set gives its
    words: no ranking may hang on the hash seed of a process.
    """
    return round(math.log((total + 1) / (found + 0.5)) * _GRAINS) / _GRAINS


def _vector(weights: dict[str, float]) -> SparseVector:
    by_index: dict[int, float] = {}
    for term, weight in weights.items():
        index = _index(term)
        by_index[index] = by_index.get(index, 0.0) + weight
    ordered = sorted(by_index.items())
    return SparseVector(
        indices=tuple(index for index, _ in ordered), values=tuple(value for _, value in ordered)
    )


@lru_cache(maxsize=200_000)
def _index(term: str) -> int:
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")
