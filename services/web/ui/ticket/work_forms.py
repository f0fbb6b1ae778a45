"""Forms of a ticket's page for the work on its workflow, each of which shows the page again."""

from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from services.contracts.adoption import (
    MOST_WORDS,
    Acceptance,
    EditRequest,
    Judgement,
    MarkPatch,
    StepJudgement,
    StepState,
)
from services.contracts.gateway import StoredWorkflow
from services.contracts.readings import BoxCorrection, Readings
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError
from services.kit.text import clean_text
from services.tickets.adoption.service import AdoptionService
from services.tickets.path_ids import TicketId, WorkflowId
from services.tickets.service import TicketService
from services.tickets.ticket.queries import WorkflowNotFoundError
from services.web.ui.forms import FormFields, form_route, query_string, redirect_to
from services.web.ui.ticket.side_page import DocumentParam, FragmentParam
from services.web.ui.ticket.views import numbers_of
from services.workflow.editing.edits import (
    MOST_LINES,
    MOST_TEXT,
    AddStep,
    ChangeBranch,
    ChangeStep,
    Edit,
    RemoveStep,
)
from services.workflow.model import Workflow

_Step = Annotated[str, Form(max_length=400)]
_Words = Annotated[str, Form(max_length=MOST_WORDS)]
_Text = Annotated[str, Form(max_length=MOST_TEXT)]
_Lines = Annotated[str, Form(max_length=MOST_TEXT * MOST_LINES)]


def create_work_forms(tickets: TicketService, adoption: AdoptionService) -> APIRouter:
    """Build the router of the forms that record the work on a workflow."""
    router = APIRouter(
        include_in_schema=False, prefix="/tickets/{ticket_id}/workflows/{workflow_id}"
    )

    @router.post("/marks")
    @form_route()
    @needs(Need.OPERATE)
    def mark_of_page(  # noqa: PLR0917 - FastAPI passes them by name
        sent: FormFields,
        ticket_id: TicketId,
        workflow_id: WorkflowId,
        step: _Step,
        state: Annotated[StepState | None, Form()] = None,
        exit_: Annotated[int | None, Form(alias="exit", ge=1, le=1000)] = None,
        why: Annotated[str | None, Form(max_length=MOST_WORDS)] = None,
        seen: _Words = "",
        was: _Words = "",
        beside: DocumentParam = "",
        part: FragmentParam = "",
    ) -> Response:
        """Record what was done with a step.

        Fields that the form does not send stay as they are; an empty note removes the note.
        """
        workflow = workflow_of(tickets, ticket_id, workflow_id).workflow
        mark = MarkPatch(
            state=state,
            why=why,
            seen=clean_text(seen).strip() if "seen" in sent else None,
            branch=_condition(workflow, step, exit_) if exit_ else None,
            was=was,
        )
        work = adoption.mark(workflow_id, step, mark)
        # A page opens where it was: its next box hangs on what stands open.
        is_guided = work.next is not None and not workflow.is_checklist
        has_gone_on = is_guided and state is not StepState.OPEN
        at = work.next if has_gone_on and (state or exit_) else step
        return _redirect_to_step(ticket_id, workflow_id, workflow, at, beside=(beside, part))

    @router.post("/judgements")
    @form_route()
    @needs(Need.OPERATE)
    def judgement_of_page(  # noqa: PLR0917 - FastAPI passes them by name
        ticket_id: TicketId,
        workflow_id: WorkflowId,
        step: _Step,
        verdict: Annotated[Judgement, Form()] = Judgement.NONE,
        word: _Words = "",
        was: _Words = "",
    ) -> Response:
        """Record a judgement of a step."""
        workflow = workflow_of(tickets, ticket_id, workflow_id).workflow
        adoption.judge(workflow_id, step, StepJudgement(verdict=verdict, word=word, was=was))
        return _redirect_to_step(ticket_id, workflow_id, workflow, step)

    @router.post("/acceptance")
    @form_route()
    @needs(Need.OPERATE)
    def acceptance_of_page(  # noqa: PLR0917 - FastAPI passes them by name
        ticket_id: TicketId,
        workflow_id: WorkflowId,
        accepted: Annotated[bool, Form()] = True,
        word: _Words = "",
        beside: DocumentParam = "",
        part: FragmentParam = "",
    ) -> Response:
        """Record that the workflow was the answer, or take that back."""
        workflow_of(tickets, ticket_id, workflow_id)
        adoption.accept(workflow_id, Acceptance(accepted=accepted, word=word))
        return _redirect_to_step(ticket_id, workflow_id, beside=(beside, part))

    @router.post("/edits")
    @form_route()
    @needs(Need.OPERATE)
    def edit_of_page(  # noqa: PLR0917 - FastAPI passes them by name
        ticket_id: TicketId,
        workflow_id: WorkflowId,
        edit: Annotated[str, Form(max_length=10)],
        step: _Step,
        text: _Text = "",
        commands: _Lines = "",
        notes: _Lines = "",
        exit_: Annotated[int | None, Form(alias="exit", ge=1, le=1000)] = None,
        condition: _Text = "",
        target: _Step = "",
    ) -> Response:
        """Make one edit of a step or of a branch, and show the new version."""
        workflow = workflow_of(tickets, ticket_id, workflow_id).workflow
        exit_condition = _condition(workflow, step, exit_) if exit_ else ""
        fields: dict[str, object] = {"edit": edit, "step": step}
        match edit:
            case "change":
                fields |= {"text": text, "commands": _lines(commands), "notes": _lines(notes)}
            case "branch":
                fields |= {"condition": exit_condition, "new_condition": condition}
                fields |= {"new_target": target or None}
            case "add":
                fields = {"edit": edit, "after": step, "condition": exit_condition, "text": text}
                fields |= {"commands": _lines(commands)}
        version = adoption.versions.edit(workflow_id, EditRequest(edits=(_parse_edit(fields),)))
        now = tickets.queries.workflow(version).workflow
        is_shown = tickets.queries.ticket(ticket_id).workflow_id == version
        # A version of an earlier walk, or of another candidate, the ticket does not show by itself.
        shown = "" if is_shown else version
        return _redirect_to_step(ticket_id, shown, now, step if step in now.by_id else None)

    return router


_EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)


def _parse_edit(fields: dict[str, object]) -> ChangeStep | ChangeBranch | AddStep | RemoveStep:
    """Return the edit that a form describes.

    Raises:
        InvalidInputError: A field is missing or cannot be used.
    """
    try:
        return _EDIT.validate_python(fields)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)[0]
        raise InvalidInputError(_describe_error(details)[:300]) from error


_FIELD_NAMES = {
    "text": "what to do",
    "commands": "the commands",
    "notes": "the notes",
    "condition": "the branch",
    "new_condition": "the branch",
    "new_target": "where the branch leads",
}


def _describe_error(details: ErrorDetails) -> str:
    """Describe which field of the form is wrong, and how."""
    fields = [part for part in details["loc"] if isinstance(part, str)]
    name = _FIELD_NAMES.get(fields[-1], fields[-1]) if fields else "the edit"
    line = details["loc"][-1] if details["loc"] else ""
    where = f"{name}, line {line + 1}" if isinstance(line, int) else name
    most = details.get("ctx", {}).get("max_length")
    match details["type"]:
        case "string_too_long":
            return f"{where}: at most {most} characters are possible"
        case "too_long":
            return f"{where}: at most {most} lines are possible"
    return f"{where}: {details['msg']}"


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())


def _condition(workflow: Workflow, step_id: str, place: int) -> str:
    """Return the condition of an exit by its index from 1.

    Raises:
        InvalidInputError: The step has no such exit.
    """
    exits = workflow.exits(step_id)
    if place > len(exits):
        raise InvalidInputError(f"the step has {len(exits)} branches, and no branch {place}")
    return exits[place - 1].condition


def _redirect_to_step(
    ticket_id: str,
    workflow_id: str,
    workflow: Workflow | None = None,
    step_id: str | None = None,
    *,
    beside: tuple[str, str] = ("", ""),
) -> RedirectResponse:
    """Redirect to the ticket's page, at a step of a workflow, or of the one that it shows.

    `beside` is the page shown beside it, and the fragment of that.
    """
    document, part = beside
    fields = {"candidate": workflow_id, "beside": document, "part": part}
    at = f"#step-{numbers_of(workflow)[step_id]}" if workflow and step_id else "#work"
    return redirect_to("tickets", ticket_id, at=query_string(fields) + at)


def workflow_of(tickets: TicketService, ticket_id: str, workflow_id: str) -> StoredWorkflow:
    """Return a workflow of this ticket, also one of an earlier walk or a version.

    Raises:
        WorkflowNotFoundError: There is no such workflow, or it is another ticket's.
    """
    stored = tickets.queries.workflow(workflow_id)
    if stored.ticket_id != ticket_id:
        raise WorkflowNotFoundError(f"the ticket {ticket_id[:60]!r} has no workflow of that id")
    return stored


def create_box_forms(tickets: TicketService, readings: Callable[[], Readings]) -> APIRouter:
    """Build the router of the form that corrects which blocks are steps."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/workflows/{workflow_id}/boxes")
    @form_route()
    @needs(Need.APPROVE)
    def box_of_page(
        ticket_id: TicketId,
        workflow_id: WorkflowId,
        key: Annotated[str, Form(max_length=40)],
        is_step: Annotated[bool | None, Form()] = None,
    ) -> Response:
        """Store whether a block is a step; None for `is_step` removes the correction.

        The page of this ticket stays as it is until the ticket is walked again.
        """
        page = workflow_of(tickets, ticket_id, workflow_id).workflow.page
        if page is None:
            raise InvalidInputError("expected a workflow that shows a page, and this one has steps")
        correction = BoxCorrection(document_id=page.document_id, key=key, is_step=is_step)
        readings().correct_box(correction)
        query = f"?candidate={quote(workflow_id, safe='')}"
        at = f"#at-{key}" if is_step is None else f"&corrected={key}#corrected"
        return redirect_to("tickets", ticket_id, at=query + at)

    return router
