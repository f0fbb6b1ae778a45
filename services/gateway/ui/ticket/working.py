"""Forms of a ticket's page by which an engineer works on its workflow; the page comes again."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from services.contracts.adoption import (
    MOST_WORDS,
    Acceptance,
    EditRequest,
    Judgement,
    PartOfMark,
    StepJudgement,
    StepState,
)
from services.gateway.ports import Adoption, Tickets
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import SentFields, form, query_of, show
from services.gateway.ui.ticket.beside import Document, Part
from services.gateway.ui.ticket.views import numbers_of
from services.gateway.ui.ticket.workflows import workflow_of
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError
from services.kit.text import clean_text
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


def create_work_forms(tickets: Tickets, adoption: Adoption) -> APIRouter:
    """The forms, over what takes the work down."""
    router = APIRouter(
        include_in_schema=False, prefix="/tickets/{ticket_id}/workflows/{workflow_id}"
    )

    @router.post("/marks")
    @form()
    @needs(Need.OPERATE)
    def mark_of_page(  # noqa: PLR0917 - FastAPI passes them by name
        sent: SentFields,
        ticket_id: Id,
        workflow_id: Id,
        step: _Step,
        state: Annotated[StepState | None, Form()] = None,
        exit_: Annotated[int | None, Form(alias="exit", ge=1, le=1000)] = None,
        why: Annotated[str | None, Form(max_length=MOST_WORDS)] = None,
        seen: _Words = "",
        was: _Words = "",
        beside: Document = "",
        part: Part = "",
    ) -> Response:
        """What was done with a step; what the form does not say stays; an empty note is none."""
        workflow = workflow_of(tickets, ticket_id, workflow_id).workflow
        mark = PartOfMark(
            state=state,
            why=why,
            seen=clean_text(seen).strip() if "seen" in sent else None,
            branch=_condition(workflow, step, exit_) if exit_ else None,
            was=was,
        )
        work = adoption.mark(workflow_id, step, mark)
        # A page opens where it was: its next box hangs on what stands open.
        is_led = work.next is not None and not workflow.is_checklist
        has_gone_on = is_led and state is not StepState.OPEN
        at = work.next if has_gone_on and (state or exit_) else step
        return _page_at(ticket_id, workflow_id, workflow, at, beside=(beside, part))

    @router.post("/judgements")
    @form()
    @needs(Need.OPERATE)
    def judgement_of_page(  # noqa: PLR0917 - FastAPI passes them by name
        ticket_id: Id,
        workflow_id: Id,
        step: _Step,
        verdict: Annotated[Judgement, Form()] = Judgement.NONE,
        word: _Words = "",
        was: _Words = "",
    ) -> Response:
        """What is thought of a step."""
        workflow = workflow_of(tickets, ticket_id, workflow_id).workflow
        adoption.judge(workflow_id, step, StepJudgement(verdict=verdict, word=word, was=was))
        return _page_at(ticket_id, workflow_id, workflow, step)

    @router.post("/acceptance")
    @form()
    @needs(Need.OPERATE)
    def acceptance_of_page(  # noqa: PLR0917 - FastAPI passes them by name
        ticket_id: Id,
        workflow_id: Id,
        accepted: Annotated[bool, Form()] = True,
        word: _Words = "",
        beside: Document = "",
        part: Part = "",
    ) -> Response:
        """The workflow was the answer, or that is taken back."""
        workflow_of(tickets, ticket_id, workflow_id)
        adoption.accept(workflow_id, Acceptance(accepted=accepted, word=word))
        return _page_at(ticket_id, workflow_id, beside=(beside, part))

    @router.post("/edits")
    @form()
    @needs(Need.OPERATE)
    def edit_of_page(  # noqa: PLR0917 - FastAPI passes them by name
        ticket_id: Id,
        workflow_id: Id,
        edit: Annotated[str, Form(max_length=10)],
        step: _Step,
        text: _Text = "",
        commands: _Lines = "",
        notes: _Lines = "",
        exit_: Annotated[int | None, Form(alias="exit", ge=1, le=1000)] = None,
        condition: _Text = "",
        target: _Step = "",
    ) -> Response:
        """One edit of a step or of a branch makes a new version, which is shown."""
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
        version = adoption.edit(workflow_id, EditRequest(edits=(_edit(fields),)))
        now = tickets.workflow(version).workflow
        is_shown = tickets.ticket(ticket_id).workflow_id == version
        # A version of an earlier walk, or of another candidate, the ticket does not show by itself.
        shown = "" if is_shown else version
        return _page_at(ticket_id, shown, now, step if step in now.by_id else None)

    return router


_EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)


def _edit(fields: dict[str, object]) -> ChangeStep | ChangeBranch | AddStep | RemoveStep:
    """The edit that a form means.

    Raises:
        InvalidInputError: It says too little.
    """
    try:
        return _EDIT.validate_python(fields)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        raise InvalidInputError(_in_words(found)[:300]) from error


_NAMES = {
    "text": "what to do",
    "commands": "the commands",
    "notes": "the notes",
    "condition": "the branch",
    "new_condition": "the branch",
    "new_target": "where the branch leads",
}


def _in_words(found: ErrorDetails) -> str:
    """What is wrong with which field of the form."""
    fields = [part for part in found["loc"] if isinstance(part, str)]
    name = _NAMES.get(fields[-1], fields[-1]) if fields else "the edit"
    line = found["loc"][-1] if found["loc"] else ""
    where = f"{name}, line {line + 1}" if isinstance(line, int) else name
    most = found.get("ctx", {}).get("max_length")
    match found["type"]:
        case "string_too_long":
            return f"{where}: at most {most} characters are possible"
        case "too_long":
            return f"{where}: at most {most} lines are possible"
    return f"{where}: {found['msg']}"


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())


def _condition(workflow: Workflow, step_id: str, place: int) -> str:
    """The condition of an exit by its place from 1.

    Raises:
        InvalidInputError: The step has no such exit.
    """
    exits = workflow.exits(step_id)
    if place > len(exits):
        raise InvalidInputError(f"the step has {len(exits)} branches, and no branch {place}")
    return exits[place - 1].condition


def _page_at(
    ticket_id: str,
    workflow_id: str,
    workflow: Workflow | None = None,
    step_id: str | None = None,
    *,
    beside: tuple[str, str] = ("", ""),
) -> RedirectResponse:
    """Lead to the ticket's page at a step of a workflow, or of the one that the ticket shows.

    `beside` is the page that stands beside it, and the part of that.
    """
    document, part = beside
    fields = {"candidate": workflow_id, "beside": document, "part": part}
    at = f"#step-{numbers_of(workflow)[step_id]}" if workflow and step_id else "#work"
    return show("tickets", ticket_id, at=query_of(fields) + at)
