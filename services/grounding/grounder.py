"""Grounding of steps: the source sentence that a step rests on, and how well it supports it."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from services.grounding.evidence import Evidence, Unit, terms_of
from services.kit.lru_cache import LruCache
from services.knowledge.ports import Embedder
from services.workflow.model import Citation, Step, StepKind, Workflow

Vector = NDArray[np.float32]

_CANDIDATES = 6
"""Sentences compared by meaning: those that share most words with the step."""
_VERBATIM = 0.85
"""Share of a step's words in its source from which meaning is not compared."""
GROUNDED = 0.5
"""Support from which a step counts as supported by its source."""
_MIDDLE = 0.95
"""Sum of shared words and cosine that is as likely for a step of another workflow as for one of the
page's own: logistic regression on the even ids of the benchmark."""
_STEEPNESS = 7.0
"""Makes a sentence quoted almost word for word count over 0.98, one that shares nothing 0."""


@dataclass(frozen=True)
class GroundedStep:
    """A step with the sentence that supports it most."""

    step: Step
    unit: Unit | None
    """Sentence that supports the step; None if none shares a word with it."""
    support: float
    """Support of the step by the sentence, or by the cited lines together, 0–1."""
    claimed: bool
    """True if the sentence is in the lines that the step cites."""
    verbatim: bool
    """True if words alone decided, and meaning was not compared."""

    @property
    def is_grounded(self) -> bool:
        """True if its source supports it enough."""
        return self.unit is not None and self.support >= GROUNDED


@dataclass(frozen=True)
class _SourceMatches:
    """Sentences that may support a step, with the share of its words they contain, best first."""

    text: str
    cited: tuple[tuple[Unit, float], ...]
    together: float
    """Share of its words that the cited sentences contain together."""
    anywhere: tuple[tuple[Unit, float], ...]

    @property
    def is_verbatim(self) -> bool:
        """True if words alone decide."""
        shares = (self.together, *(share for _, share in (*self.cited, *self.anywhere)))
        return max(shares) >= _VERBATIM

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts to embed; none if words alone decide."""
        if self.is_verbatim:
            return ()
        return (self.text, *(unit.text for unit, _ in (*self.cited, *self.anywhere)))


class RecentVectors:
    """Cache of text vectors; the embedder is asked in bulk, only for texts not seen lately."""

    def __init__(self, embedder: Embedder, capacity: int) -> None:
        """Keep the vectors of the `capacity` texts used last. Threads may share it."""
        self._embedder = embedder
        self._recent: LruCache[str, Vector] = LruCache(capacity)

    def of(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the vector of each different text."""
        wanted = dict.fromkeys(texts)
        vectors = self._recent.get_many(wanted)
        missing = [text for text in wanted if text not in vectors]
        if missing:
            made = dict(zip(missing, self._embedder.embed(missing), strict=True))
            self._recent.keep(made)
            vectors |= made
        return vectors


class Grounder:
    """Finder of the source sentence for each step of the workflows of one ticket."""

    def __init__(self, evidence: Evidence, vectors: RecentVectors, *, jointly: bool = True) -> None:
        """Search in `evidence`, and compare meaning by `vectors`.

        With `jointly` all cited lines together may support a step. Where whole passages are cited
        they contain nearly any words, and a single sentence has to support it.
        """
        self._evidence = evidence
        self._vectors = vectors
        self._jointly = jointly

    def ground(self, workflows: Iterable[Workflow]) -> list[tuple[GroundedStep, ...]]:
        """Return for each workflow one entry per step, in the order of the steps.

        A step that cites lines is looked for there first; if they do not support it, as for a step
        that cites nothing, the best sentence of the whole context is named, unclaimed. All texts
        are embedded in one call.
        """
        listed = list(workflows)
        steps = {_key(step): step for workflow in listed for step in workflow.steps}
        searches = {key: self._match(step) for key, step in steps.items()}
        undecided = _undecided_steps(listed, searches)
        vectors = self._vectors.of(text for key in undecided for text in searches[key].texts)
        grounded = {
            key: _ground_step(steps[key], search, vectors, verbatim=key not in undecided)
            for key, search in searches.items()
        }
        return [
            tuple(replace(grounded[_key(step)], step=step) for step in workflow.steps)
            for workflow in listed
        ]

    def _match(self, step: Step) -> _SourceMatches:
        terms = terms_of(step.text)
        cited = self._evidence.cited(step.citations)
        shares = [(unit, self._evidence.share(terms, unit.terms)) for unit in cited]
        together = {term for unit in cited for term in unit.terms} if self._jointly else set()
        return _SourceMatches(
            text=step.text,
            cited=tuple(sorted(shares, key=lambda pair: -pair[1])[:_CANDIDATES]),
            together=self._evidence.share(terms, together),
            anywhere=tuple(self._evidence.nearest(terms, _CANDIDATES)),
        )


def is_verbatim(evidence: Evidence, step: Step) -> bool:
    """Return True if a step's cited lines contain its words, its commands included."""
    cited_terms = {term for unit in evidence.cited(step.citations) for term in unit.terms}
    terms = terms_of(step.text)
    is_covered = bool(terms) and evidence.share(terms, cited_terms) >= _VERBATIM
    return is_covered and all(map(evidence.quotes, step.commands))


def support_of(share: float, cosine: float) -> float:
    """Return the support of a step by a sentence, 0–1, from shared words and cosine."""
    return 1 / (1 + math.exp(-_STEEPNESS * (share + cosine - _MIDDLE)))


def cite(grounded: Iterable[GroundedStep]) -> tuple[Step, ...]:
    """Return the steps with the lines that they rest on; unsupported steps stay unsourced."""
    steps = []
    for each in grounded:
        citations: tuple[Citation, ...] = ()
        if each.unit is not None and each.is_grounded:
            first, last = each.unit.start_line, each.unit.end_line
            cited = Citation(document_id=each.unit.document_id, start_line=first, end_line=last)
            citations = (cited,)
        steps.append(each.step.model_copy(update={"citations": citations}))
    return tuple(steps)


_Key = tuple[str, tuple[Citation, ...]]


def _key(step: Step) -> _Key:
    return step.text, step.citations


def _undecided_steps(
    workflows: Iterable[Workflow], searches: Mapping[_Key, _SourceMatches]
) -> dict[_Key, None]:
    """Return the steps whose meaning is compared: those that words do not decide.

    A workflow that is verbatim up to its ends is taken at its words: the ends are the planner's own
    phrases, and embedding what they might rest on takes longer than all the rest of the walk.
    """
    by_key: dict[_Key, None] = {}
    for workflow in workflows:
        undecided = [step for step in workflow.steps if not searches[_key(step)].is_verbatim]
        if any(step.kind is not StepKind.TERMINAL for step in undecided):
            by_key.update(dict.fromkeys(map(_key, undecided)))
    return by_key


def _ground_step(
    step: Step, search: _SourceMatches, vectors: Mapping[str, Vector], *, verbatim: bool
) -> GroundedStep:
    unit, support = _best(search.text, search.cited, vectors)
    support = max(support, support_of(search.together, search.together))
    if unit is not None and support >= GROUNDED:
        return GroundedStep(step, unit, support, claimed=True, verbatim=verbatim)
    unit, support = _best(search.text, search.anywhere, vectors)
    return GroundedStep(step, unit, support, claimed=False, verbatim=verbatim)


def _best(
    text: str, candidates: Iterable[tuple[Unit, float]], vectors: Mapping[str, Vector]
) -> tuple[Unit | None, float]:
    best: tuple[Unit | None, float] = (None, 0.0)
    for unit, share in candidates:
        # Without vectors the words alone decided; they stand in for the cosine.
        has_vectors = text in vectors and unit.text in vectors
        cosine = float(vectors[text] @ vectors[unit.text]) if has_vectors else share
        support = support_of(share, cosine)
        if support > best[1]:
            best = unit, support
    return best
