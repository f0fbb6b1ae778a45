"""Uses of approvals, and the kind of approval that each of them needs."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from services.runbook.model import Procedure
from services.runbook.ports import ApprovalKind
from services.workflow.model import Provenance


class ApprovalUse(StrEnum):
    """The uses of an approval."""

    CHANGE = "change"
    """The executor sends a change that the page tells."""
    ANSWER = "answer"
    """The executor lets a tool answer a question in a run that may change something."""
    LOOK = "look"
    """The executor takes a step as approved, to find how a tool looks there."""
    ASK_NO_MODEL = "ask no model"
    """The planner lets no model write another workflow of the page."""
    ORDER = "order"
    """The scorer puts a workflow before its page as it is."""
    CHANCE = "chance"
    """The scorer counts a workflow as checked in its chance to be right."""
    FACTS = "facts"
    """The scorer decides the facts of drawings by the procedure."""
    PAGE_CHOICE = "page choice"
    """No model chooses another page than one with the alert's own name."""
    CONDITIONS = "conditions"
    """The owner's page marks no condition of a model's reading as doubtful."""
    COMPLETENESS = "completeness"
    """The checks of a page are suggested to others of its kind."""
    VERDICT = "verdict"
    """The verdict calls a workflow checked."""
    BOXES_VERDICT = "verdict on boxes"
    """The verdict calls the boxes of a workflow or page checked."""


NEEDED: Mapping[ApprovalUse, ApprovalKind | None] = {
    ApprovalUse.CHANGE: ApprovalKind.WORKFLOW,
    ApprovalUse.ANSWER: ApprovalKind.WORKFLOW,
    ApprovalUse.LOOK: ApprovalKind.CHECKLIST,
    ApprovalUse.ASK_NO_MODEL: ApprovalKind.WORKFLOW,
    ApprovalUse.ORDER: ApprovalKind.WORKFLOW,
    ApprovalUse.CHANCE: ApprovalKind.WORKFLOW,
    ApprovalUse.FACTS: ApprovalKind.WORKFLOW,
    ApprovalUse.PAGE_CHOICE: ApprovalKind.CHECKLIST,
    ApprovalUse.CONDITIONS: ApprovalKind.WORKFLOW,
    ApprovalUse.COMPLETENESS: None,
    ApprovalUse.VERDICT: ApprovalKind.WORKFLOW,
    ApprovalUse.BOXES_VERDICT: ApprovalKind.CHECKLIST,
}
"""The least kind of approval for each use; None where a person reads the result with its source."""


def suffices(kind: ApprovalKind | None, use: ApprovalUse) -> bool:
    """Return True if an approval of this kind, or none, is enough for the use."""
    needed = NEEDED[use]
    return needed is None or (kind is not None and kind.includes(needed))


def kind_by_origin(procedure: Procedure) -> ApprovalKind:
    """Return the kind of an approval that does not name it."""
    return ApprovalKind.CHECKLIST if procedure.begun_from_boxes else ApprovalKind.WORKFLOW


def least_kind(kinds: Iterable[ApprovalKind | None]) -> ApprovalKind | None:
    """Return the kind that all of these approvals have; None without any, or if one is missing."""
    each = set(kinds)
    if not each or None in each:
        return None
    return ApprovalKind.WORKFLOW if each == {ApprovalKind.WORKFLOW} else ApprovalKind.CHECKLIST


_KIND_OF_STATE = {"checklist": ApprovalKind.CHECKLIST, "approved": ApprovalKind.WORKFLOW}
_STATE_OF_KIND = {None: "read"} | {kind: state for state, kind in _KIND_OF_STATE.items()}


def provenance_state(kind: ApprovalKind | None) -> str:
    """Return the `Provenance.state` of a workflow whose procedures have this kind of approval."""
    return _STATE_OF_KIND[kind]


def is_approved_for(use: ApprovalUse, origin: Provenance | None) -> bool:
    """Return True if each procedure in a workflow was approved enough for the use."""
    return suffices(_KIND_OF_STATE.get(origin.state) if origin else None, use)
