"""The facts of drawings, decided once: they hang on the page and on what is drawn of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from services.procedure.evidence.decide import Decided, Forests, decide
from services.procedure.evidence.drawn import Drawn
from services.workflow.model import Workflow

_KEPT = 2048
"""Drawings whose facts are kept: some 20 MB."""


@dataclass(frozen=True)
class _Asked:
    """A drawing and another reading as the argument of a cache that looks at their content alone.

    What labels of the ticket put into commands is left out: no sign reads it.
    """

    drawn: Drawn = field(compare=False)
    reading: Drawn | None = field(compare=False)
    content: tuple[object, ...]

    @classmethod
    def of(cls, drawn: Drawn, reading: Drawn | None) -> "_Asked":
        beside = _content(reading) if reading else ()
        return cls(drawn, reading, (_content(drawn), beside))

    @cached_property
    def _hash(self) -> int:
        return hash(self.content)

    def __hash__(self) -> int:
        return self._hash


class PageFacts:
    """Decides by the evidence of the lines, and keeps what was decided last."""

    def __init__(self, forests: Forests) -> None:
        self._decided = lru_cache(maxsize=_KEPT)(
            lambda asked: tuple(decide(asked.drawn, asked.reading, forests))
        )

    def of(self, drawn: Drawn, reading: Drawn | None) -> Sequence[Decided]:
        """See `decide`."""
        return self._decided(_Asked.of(drawn, reading))


def _content(drawn: Drawn) -> tuple[object, ...]:
    """All that signs are read from: the steps without their commands, and the pages they cite."""
    workflow = drawn.workflow
    texts = tuple((id_, drawn.source.whole(id_)) for id_ in _cited(workflow) if id_ in drawn.source)
    steps = tuple((s.id, s.kind, s.text, s.citations, s.implied, s.node) for s in workflow.steps)
    return steps, workflow.transitions, texts


def _cited(workflow: Workflow) -> dict[str, None]:
    return dict.fromkeys(c.document_id for step in workflow.steps for c in step.citations)
