"""Which sentence of the sources a step rests on, and how well it does."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from services.grounding.evidence import Evidence, Unit, terms_of
from services.grounding.vectors import RecentVectors, Vector
from services.workflow.model import Citation, Step, StepKind, Workflow

_CANDIDATES = 6
"""Sentences that are compared by meaning, those that share most words with the step."""
_VERBATIM = 0.85
"""Share of a step's words in its source from which meaning need not be asked."""
GROUNDED = 0.5
"""Support from which a step counts as said by its source."""
_MIDDLE = 0.95
"""Sum of shared words and cosine that is as likely for a step of another workflow as for one of the
page's own: logistic regression on the even ids of the benchmark."""
_STEEPNESS = 7.0
"""Makes a sentence quoted almost word for word count over 0.98, one that shares nothing 0."""


@dataclass(frozen=True)
class Grounded:
    """A step with the sentence that says most of it."""

    step: Step
    unit: Unit | None
    """None when no sentence shares a word with it."""
    support: float
    """0–1: how far the sentence, or the cited lines together, say the step."""
    claimed: bool
    """Whether the sentence stands in the lines that the step cites."""
    verbatim: bool
    """Whether the words alone decided; meaning was not asked then."""

    @property
    def is_grounded(self) -> bool:
        """Whether its source says enough of it."""
        return self.unit is not None and self.support >= GROUNDED


@dataclass(frozen=True)
class _Search:
    """What may say a step: sentences with the share of its words they hold, best first."""

    text: str
    cited: tuple[tuple[Unit, float], ...]
    together: float
    """Share of its words that the cited sentences hold together."""
    anywhere: tuple[tuple[Unit, float], ...]

    @property
    def is_verbatim(self) -> bool:
        """Whether words alone decide."""
        shares = (self.together, *(share for _, share in (*self.cited, *self.anywhere)))
        return max(shares) >= _VERBATIM

    @property
    def texts(self) -> tuple[str, ...]:
        """What has to be embedded; nothing where words alone decide."""
        if self.is_verbatim:
            return ()
        return (self.text, *(unit.text for unit, _ in (*self.cited, *self.anywhere)))


class Grounder:
    """Finds the sentence for each step of the workflows of one ticket."""

    def __init__(self, evidence: Evidence, vectors: RecentVectors, *, jointly: bool = True) -> None:
        """Looks in `evidence`, compares by `vectors`.

        With `jointly` all cited lines together may say a step. Where whole passages are claimed
        they hold nearly any words, and one sentence has to say it.
        """
        self._evidence = evidence
        self._vectors = vectors
        self._jointly = jointly

    def ground(self, workflows: Iterable[Workflow]) -> list[tuple[Grounded, ...]]:
        """For each workflow one entry per step, in the order of the steps.

        A step that cites lines is looked for there first; where they do not say it, as for a step
        that cites nothing, the best sentence of the whole context is named, unclaimed. All texts
        are embedded in one call.
        """
        listed = list(workflows)
        steps = {_key(step): step for workflow in listed for step in workflow.steps}
        searches = {key: self._search(step) for key, step in steps.items()}
        asked = _asked(listed, searches)
        vectors = self._vectors.of(text for key in asked for text in searches[key].texts)
        found = {
            key: _choose(steps[key], search, vectors, verbatim=key not in asked)
            for key, search in searches.items()
        }
        return [
            tuple(replace(found[_key(step)], step=step) for step in workflow.steps)
            for workflow in listed
        ]

    def _search(self, step: Step) -> _Search:
        terms = terms_of(step.text)
        cited = self._evidence.cited(step.citations)
        shares = [(unit, self._evidence.share(terms, unit.terms)) for unit in cited]
        together = {term for unit in cited for term in unit.terms} if self._jointly else set()
        return _Search(
            text=step.text,
            cited=tuple(sorted(shares, key=lambda pair: -pair[1])[:_CANDIDATES]),
            together=self._evidence.share(terms, together),
            anywhere=tuple(self._evidence.nearest(terms, _CANDIDATES)),
        )


def say_verbatim(evidence: Evidence, step: Step) -> bool:
    """Whether the lines that a step cites say it by their words alone, its commands included."""
    said = {term for unit in evidence.cited(step.citations) for term in unit.terms}
    terms = terms_of(step.text)
    is_said = bool(terms) and evidence.share(terms, said) >= _VERBATIM
    return is_said and all(map(evidence.quotes, step.commands))


def support_of(share: float, cosine: float) -> float:
    """How far a sentence says a step, 0–1, from the words they share and their cosine."""
    return 1 / (1 + math.exp(-_STEEPNESS * (share + cosine - _MIDDLE)))


def cite(grounded: Iterable[Grounded]) -> tuple[Step, ...]:
    """The steps with the lines they rest on; a step that rests on none stays unsourced."""
    return tuple(
        found.step.model_copy(update={"citations": _citations(found)}) for found in grounded
    )


_Key = tuple[str, tuple[Citation, ...]]


def _key(step: Step) -> _Key:
    return step.text, step.citations


def _asked(workflows: Iterable[Workflow], searches: Mapping[_Key, _Search]) -> dict[_Key, None]:
    """Steps whose meaning is asked: those that words do not decide.

    A workflow that is verbatim up to its ends is taken at its words: the ends are the planner's
    own phrases, and embedding what they might rest on takes longer than all the rest of the walk.
    """
    asked: dict[_Key, None] = {}
    for workflow in workflows:
        undecided = [step for step in workflow.steps if not searches[_key(step)].is_verbatim]
        if any(step.kind is not StepKind.TERMINAL for step in undecided):
            asked.update(dict.fromkeys(map(_key, undecided)))
    return asked


def _choose(
    step: Step, search: _Search, vectors: Mapping[str, Vector], *, verbatim: bool
) -> Grounded:
    unit, support = _best(search.text, search.cited, vectors)
    support = max(support, support_of(search.together, search.together))
    if unit is not None and support >= GROUNDED:
        return Grounded(step, unit, support, claimed=True, verbatim=verbatim)
    unit, support = _best(search.text, search.anywhere, vectors)
    return Grounded(step, unit, support, claimed=False, verbatim=verbatim)


def _best(
    text: str, candidates: Iterable[tuple[Unit, float]], vectors: Mapping[str, Vector]
) -> tuple[Unit | None, float]:
    best: tuple[Unit | None, float] = (None, 0.0)
    for unit, share in candidates:
        # Without vectors the words alone decided; they stand in for the cosine.
        known = text in vectors and unit.text in vectors
        cosine = float(vectors[text] @ vectors[unit.text]) if known else share
        support = support_of(share, cosine)
        if support > best[1]:
            best = unit, support
    return best


def _citations(found: Grounded) -> tuple[Citation, ...]:
    if found.unit is None or not found.is_grounded:
        return ()
    unit = found.unit
    return (
        Citation(document_id=unit.document_id, start_line=unit.start_line, end_line=unit.end_line),
    )
