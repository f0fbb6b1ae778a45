"""Approved bindings whose step no reading has any more, and the boxes that have its commands."""

from collections.abc import Collection
from typing import NamedTuple

from services.executor.bindings.binding import BadBindingError, Binding
from services.executor.bindings.store import ApprovedBinding, BindingStore
from services.executor.changing import Texts, identity_of
from services.executor.tools.catalogue import Catalogue, UnknownToolError
from services.executor.tools.tool import BadArgumentError, Effect
from services.knowledge.screening.document import hash_of
from services.procedure.checklist.same_commands import box_with_commands
from services.procedure.lowering import lower
from services.procedure.ports import ReadingSource
from services.workflow.model import Step, Workflow

_AT_A_BOX = frozenset({""})
"""A box asks nothing: what comes behind it comes in any case."""


class Orphan(NamedTuple):
    """A binding that somebody approved for a step that is gone."""

    approved: ApprovedBinding
    step: Step


class OrphanedBindings:
    """They stay approved for their step, should it come back, and for nothing else.

    At the box of the page that alone has the step's commands they are proposed anew.
    """

    def __init__(self, store: BindingStore, texts: Texts, readings: ReadingSource) -> None:
        self._store = store
        self._texts = texts
        self._readings = readings

    def of_documents(self, document_ids: Collection[str]) -> list[Orphan]:
        """Return those of the documents' steps that no reading served now has.

        Those in whose place somebody has approved one at a box are left out.
        """
        known = self._store.of_documents(document_ids)
        settled = {each.instead_of for each in known}
        found = [
            Orphan(each, each.step)
            for each in known
            if each.step is not None and not each.step.block and each.key not in settled
        ]
        if not found:
            return []
        there = self._steps_of_readings(document_ids)
        return [each for each in found if identity_of(each.step) not in there]

    def at_boxes(self, workflow: Workflow, catalogue: Catalogue) -> dict[str, ApprovedBinding]:
        """Return by the box of a checklist the look that somebody had approved for its commands.

        A box is only looked at, and answers nothing: what changes something stays a person's.
        """
        if workflow.page is None:
            return {}
        found: dict[str, ApprovedBinding] = {}
        for each in self.of_documents([workflow.page.document_id]):
            box = box_with_commands(workflow, each.step.commands)
            look = _look(each.approved.binding, box, catalogue) if box else None
            if box and look:
                found[box.id] = each.approved.model_copy(update={"binding": look})
        return found

    def _steps_of_readings(self, document_ids: Collection[str]) -> set[tuple[object, ...]]:
        texts = {id_: text for id_ in document_ids if (text := self._texts.text_of(id_))}
        hashes = {id_: hash_of(text) for id_, text in texts.items()}
        readings = self._readings.served_many(sorted(set(hashes.values())))
        return {
            identity_of(step)
            for id_, text_hash in hashes.items()
            if text_hash in readings
            for procedure in readings[text_hash].reading.procedures
            for step in lower(procedure, id_).steps
        }


def _look(binding: Binding, box: Step, catalogue: Catalogue) -> Binding | None:
    """Return the binding as a look at the box; None where it is none, or the tool is another."""
    look = binding.model_copy(update={"step": box.id, "answers": ()})
    try:
        look.check(box, _AT_A_BOX, catalogue)
        is_look = catalogue.tool(look.tool).effect is Effect.READ
    except (BadBindingError, UnknownToolError, BadArgumentError):
        return None
    return look if is_look else None
