"""Steps of approved procedures, by what they are approved for, and approved bindings of steps gone.

A procedure that is approved as a checklist alone has no step that may change something or decide.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

from services.execution.bindings.binding import BadBindingError
from services.execution.bindings.store import ApprovedBinding, BindingStore
from services.execution.tools.catalogue import Catalogue, UnknownToolError
from services.execution.tools.tool import BadArgumentError, ToolEffect
from services.knowledge.screening.document import hash_of
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.runbook.checking.approvals import ApprovalUse, suffices
from services.runbook.checklist.places import box_with_commands, fills
from services.runbook.lowering import lower
from services.runbook.model import Procedure
from services.runbook.ports import ApprovalKind, ReadingSource
from services.workflow.model import Step, Workflow


class DocumentTextSource(Protocol):
    """Source of the text of documents, as it is used."""

    def text_of(self, document_id: str) -> str | None:
        """Return the text; None if there is no such document, or it is not to be used."""


class DocumentTexts:
    """Implements `DocumentTextSource` on the documents in SQL."""

    def __init__(self, documents: SqlDocumentStore) -> None:
        self._documents = documents

    def text_of(self, document_id: str) -> str | None:
        """See `DocumentTextSource.text_of`."""
        document = self._documents.get(document_id)
        return document.for_model().text if document else None


def approved_steps(
    workflow: Workflow, texts: DocumentTextSource, readings: ReadingSource, use: ApprovalUse
) -> dict[str, Step]:
    """Return, by step of a workflow, the one of its page that is approved for the use.

    Its blanks are still open.

    It must have the same words at the same lines; blanks of its commands may have been filled.
    Where another procedure of the page, not approved for the use, has such a step too, it must also
    come behind the same answers as the approved one.
    A box of a page is never approved, though an approved step says the same: its conditions are
    not.
    """
    steps = [step for step in workflow.steps if not step.block]
    cited = {c.document_id for step in steps for c in step.citations}
    by_identity: dict[tuple[object, ...], list[_LoweredStep]] = {}
    for id_, procedure, kind in served_procedures(cited, texts, readings):
        lowered, is_approved = lower(procedure, id_), suffices(kind, use)
        for step in lowered.steps:
            of_page = _LoweredStep(step, _ways_in(lowered, step), is_approved)
            by_identity.setdefault(identity_of(step), []).append(of_page)
    approved: dict[str, Step] = {}
    for step in steps:
        same = by_identity.get(identity_of(step), [])
        if not all(each.is_approved for each in same):
            ways = _ways_in(workflow, step)
            same = [each for each in same if ways and each.ways_in == ways]
        for each in same if all(each.is_approved for each in same) else ():
            has_commands = len(each.step.commands) == len(step.commands)
            if has_commands and all(map(fills, each.step.commands, step.commands)):
                approved.setdefault(step.id, each.step)
    return approved


class _LoweredStep(NamedTuple):
    """Step of a served procedure."""

    step: Step
    ways_in: frozenset[tuple[object, ...]]
    is_approved: bool


def _ways_in(workflow: Workflow, step: Step) -> frozenset[tuple[object, ...]]:
    """Return what leads to a step: each step before it, and the answer."""
    by_id = workflow.by_id
    into = (arrow for arrow in workflow.transitions if arrow.target == step.id)
    return frozenset((identity_of(by_id[arrow.source]), arrow.condition) for arrow in into)


def served_procedures(
    document_ids: Collection[str], texts: DocumentTextSource, readings: ReadingSource
) -> Iterator[tuple[str, Procedure, ApprovalKind | None]]:
    """Yield the document, procedure and approval's kind of all that is served of present texts."""
    present = {id_: text for id_ in sorted(document_ids) if (text := texts.text_of(id_))}
    hashes = {id_: hash_of(text) for id_, text in present.items()}
    served = readings.served_many(sorted(set(hashes.values())))
    for id_, text_hash in hashes.items():
        if (each := served.get(text_hash)) is not None:
            for place, procedure in enumerate(each.reading.procedures):
                yield id_, procedure, each.kind(place)


def identity_of(step: Step) -> tuple[object, ...]:
    """Return what a step has in common in a reading and in a ticket's workflow: words and lines."""
    return step.kind, step.text, step.citations


_AT_A_BOX = frozenset({""})
"""Conditions behind a box: it asks nothing, and what follows it follows in any case."""


class Orphan(NamedTuple):
    """Approved binding of a step that is gone."""

    approved: ApprovedBinding
    step: Step


class OrphanedBindings:
    """Finder of approved bindings whose steps are gone from their pages.

    They stay approved for their step, should it come back, and for nothing else. At the only box
    of the page that has the step's commands they are proposed anew.
    """

    def __init__(
        self, store: BindingStore, texts: DocumentTextSource, readings: ReadingSource
    ) -> None:
        self._store = store
        self._texts = texts
        self._readings = readings

    def of_documents(self, document_ids: Collection[str]) -> list[Orphan]:
        """Return approved bindings of steps of these documents that no served reading has.

        Those in whose place somebody has approved one at a box are left out.
        """
        approved = self._store.of_documents(document_ids)
        settled = {each.instead_of for each in approved}
        orphans = [
            Orphan(each, each.step)
            for each in approved
            if each.step is not None and not each.step.block and each.key not in settled
        ]
        if not orphans:
            return []
        current = {
            identity_of(step)
            for id_, procedure, _ in served_procedures(document_ids, self._texts, self._readings)
            for step in lower(procedure, id_).steps
        }
        return [each for each in orphans if identity_of(each.step) not in current]

    def at_boxes(self, workflow: Workflow, catalogue: Catalogue) -> dict[str, ApprovedBinding]:
        """Return, by box of a checklist, the read that was approved for the box's commands.

        A box is only looked at, and answers nothing: what changes something stays a person's.
        """
        if workflow.page is None:
            return {}
        by_box: dict[str, ApprovedBinding] = {}
        for each in self.of_documents([workflow.page.document_id]):
            if (box := box_with_commands(workflow, each.step.commands)) is None:
                continue
            look = each.approved.binding.model_copy(update={"step": box.id, "answers": ()})
            try:
                look.check(box, _AT_A_BOX, catalogue)
                is_look = catalogue.tool(look.tool).effect is ToolEffect.READ
            except (BadBindingError, UnknownToolError, BadArgumentError):
                continue
            if is_look:
                by_box[box.id] = each.approved.model_copy(update={"binding": look})
        return by_box
