"""The facts of drawings, decided once: they hang on the page and on what is drawn of it."""

from collections.abc import Hashable, Sequence

from services.kit.recent import Recent
from services.knowledge.screening.document import hash_of
from services.procedure.evidence.decide import Decided, Forests, decide
from services.procedure.evidence.drawn import Drawn

_KEPT = 2048
"""Drawings whose facts are kept: some 40 MB."""


class PageFacts:
    """Decides by the evidence of the lines, and keeps what was decided last."""

    def __init__(self, forests: Forests) -> None:
        self._forests = forests
        self._decided: Recent[Hashable, Sequence[Decided]] = Recent(_KEPT)

    def of(self, drawn: Drawn, reading: Drawn | None) -> Sequence[Decided]:
        """See `decide`."""
        asked = (_content(drawn), _content(reading) if reading else None)
        known = self._decided.known([asked])
        if not known:
            known = {asked: tuple(decide(drawn, reading, self._forests))}
            self._decided.keep(known)
        return known[asked]


def _content(drawn: Drawn) -> Hashable:
    """All that signs are read from: the transitions, the steps, and the pages that they cite.

    What labels of the ticket put into commands is left out; no sign reads it.
    """
    steps, source = drawn.workflow.steps, drawn.source
    cited = dict.fromkeys(c.document_id for step in steps for c in step.citations)
    return (
        drawn.workflow.transitions,
        tuple((s.id, s.kind, s.text, s.citations, s.implied) for s in steps),
        tuple((id_, hash_of(source.whole(id_))) for id_ in cited if id_ in source),
    )
