"""The facts of drawings, decided once: they hang on the page and on what is drawn of it."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from services.kit.recent import Recent
from services.knowledge.screening.document import hash_of
from services.procedure.evidence.conditions import Condition, ConditionForests, conditions_of
from services.procedure.evidence.decide import Decided, Forests, decide
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.facts import facts_of

_KEPT = 2048
"""Drawings whose facts are kept: some 40 MB."""


class Told(NamedTuple):
    """What the evidence of the lines says of a drawing."""

    decided: Sequence[Decided]
    """All its facts."""
    conditions: tuple[Condition, ...]
    """Those that are marked where they are doubtful."""


class PageFacts:
    """Decides by the evidence of the lines, and keeps what was decided last."""

    def __init__(self, forests: Forests, doubting: ConditionForests) -> None:
        self._forests = forests
        self._doubting = doubting
        self._told: Recent[Hashable, Told] = Recent(_KEPT)

    def of(self, drawn: Drawn) -> Told:
        """By the signs of its lines."""
        asked = _content(drawn)
        known = self._told.known([asked])
        if not known:
            facts = facts_of(drawn)
            found = Told(
                tuple(decide(facts, self._forests)), conditions_of(drawn, facts, self._doubting)
            )
            known = {asked: found}
            self._told.keep(known)
        return known[asked]


def _content(drawn: Drawn) -> Hashable:
    """All that signs are read from: the transitions, the steps, and the pages that they cite.

    What labels of the ticket put into commands is left out; no sign reads it.
    """
    steps, source = drawn.workflow.steps, drawn.source
    cited = dict.fromkeys(c.document_id for step in steps for c in step.citations)
    origin = drawn.workflow.provenance
    return (
        (origin.reader, origin.planner) if origin else None,
        drawn.workflow.transitions,
        tuple((s.id, s.kind, s.text, s.citations, s.implied, bool(s.doubt)) for s in steps),
        tuple((id_, hash_of(source.whole(id_))) for id_ in cited if id_ in source),
    )
