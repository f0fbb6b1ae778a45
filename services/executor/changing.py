"""Which steps may change something: those of procedures that a person has approved.

Whoever approves a procedure that began as the boxes of its page approves the boxes alone: none of
its steps is among them until its owner has been asked for its decisions.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

from services.knowledge.screening.document import hash_of
from services.procedure.checklist.same_commands import fills
from services.procedure.lowering import lower
from services.procedure.ports import ReadingSource, ReadingState
from services.workflow.model import Step, Workflow


class Texts(Protocol):
    """The text of documents, as it is used."""

    def text_of(self, document_id: str) -> str | None:
        """None where there is no such document, or it is not to be used."""


class ApprovedSteps:
    """Steps of one workflow, each beside the approved step of its page that says the same."""

    def __init__(self, workflow: Workflow, texts: Texts, readings: ReadingSource) -> None:
        self._workflow = workflow
        self._texts = texts
        self._readings = readings

    def approved(self, step: Step) -> Step | None:
        """As it was approved, what a reader fills in still open; None where nobody has approved it.

        It must say the same words at the same lines; its commands may have had gaps filled. A box
        of a page is never approved, though an approved step says the same: its conditions are not.
        """
        if step.block:
            return None
        for each in self._known.get(identity_of(step), ()):
            if len(each.commands) == len(step.commands) and all(
                map(fills, each.commands, step.commands)
            ):
                return each
        return None

    @cached_property
    def _known(self) -> Mapping[tuple[object, ...], list[Step]]:
        cited = {c.document_id for step in self._workflow.steps for c in step.citations}
        texts = {id_: text for id_ in sorted(cited) if (text := self._texts.text_of(id_))}
        hashes = {id_: hash_of(text) for id_, text in texts.items()}
        readings = self._readings.served_many(sorted(set(hashes.values())))
        known: dict[tuple[object, ...], list[Step]] = {}
        for id_, text_hash in hashes.items():
            served = readings.get(text_hash)
            for place, procedure in enumerate(served.reading.procedures if served else ()):
                is_approved = served and served.state(place) is ReadingState.APPROVED
                if is_approved and not procedure.begun_from_boxes:
                    for step in lower(procedure, id_).steps:
                        known.setdefault(identity_of(step), []).append(step)
        return known


def identity_of(step: Step) -> tuple[object, ...]:
    """What is the same of a step in a reading and in a ticket's workflow: words and lines."""
    return step.kind, step.text, step.citations
