"""`get_workflow`, `make_workflow`, `answer_question`: a ticket's checked, cited workflow."""

import json
from itertools import zip_longest

from starlette.concurrency import run_in_threadpool

from services.contracts.clarification import Clarification
from services.contracts.mcp import (
    AnswerQuestion,
    GetWorkflow,
    MakeWorkflow,
    OpenQuestion,
    TicketWorkflow,
)
from services.gateway.formats import markdown
from services.gateway.mcp.tool import Platform, Tool
from services.kit.access.scopes import Scope
from services.kit.errors import InvalidInputError
from services.llm.prompts import quoted


class NoOpenQuestionError(InvalidInputError):
    """Nothing is asked about the ticket."""


async def _get(platform: Platform, wanted: GetWorkflow) -> TicketWorkflow:
    return await run_in_threadpool(_standing, platform, wanted.ticket_id)


async def _make(platform: Platform, wanted: MakeWorkflow) -> TicketWorkflow:
    body = wanted.model_dump_json(exclude={"wait_s"}, exclude_defaults=True)
    accepted = await run_in_threadpool(platform.gateway.accept_own, body.encode())
    (ticket,) = accepted.tickets
    await platform.gateway.are_over([ticket.id], wanted.wait_s, platform.stopping)
    return await run_in_threadpool(_standing, platform, ticket.id)


async def _answer(platform: Platform, wanted: AnswerQuestion) -> TicketWorkflow:
    await run_in_threadpool(_give, platform, wanted)
    await platform.gateway.are_over([wanted.ticket_id], wanted.wait_s, platform.stopping)
    return await run_in_threadpool(_standing, platform, wanted.ticket_id)


def _give(platform: Platform, wanted: AnswerQuestion) -> None:
    ticket = platform.gateway.ticket(wanted.ticket_id)
    asked = ticket.open_question or ticket.page_question
    if asked is None:
        raise NoOpenQuestionError("nothing is asked about this ticket")
    platform.gateway.answer(wanted.ticket_id, asked.id, wanted.answer)


def _standing(platform: Platform, ticket_id: str) -> TicketWorkflow:
    ticket = platform.gateway.ticket(ticket_id)
    stored = platform.gateway.workflow(ticket.workflow_id) if ticket.workflow_id else None
    asked = ticket.open_question
    return TicketWorkflow(
        ticket_id=ticket.id,
        title=ticket.title,
        status=ticket.status,
        reason=ticket.reason,
        fit=ticket.fit,
        is_checked=ticket.is_checked,
        conditions=ticket.conditions,
        doubtful=ticket.doubtful,
        page_origin=ticket.page_origin,
        kind=ticket.kind,
        edited_by=ticket.edited_by,
        against=ticket.against,
        degraded=ticket.degraded,
        workflow=stored,
        question=_open(asked) if asked else None,
        team=ticket.triage.team if ticket.triage else None,
        nearest=ticket.nearest,
        url=f"/tickets/{ticket.id}",
    )


def _open(asked: Clarification) -> OpenQuestion:
    return OpenQuestion(question=asked.question, choices=asked.choices, cards=asked.cards)


def _write(standing: TicketWorkflow) -> str:
    """How it stands, then what is quoted: the workflow, and what is asked."""
    parts = [_told(standing), standing.notice]
    if standing.workflow is not None:
        written = markdown(standing.workflow.workflow, for_model=True)
        parts.append(quoted("workflow", written.strip()))
    if standing.question is not None:
        parts += ["`answer_question` makes the workflow better:", _asked(standing.question)]
    return "\n\n".join(parts)


def _told(standing: TicketWorkflow) -> str:
    facts = {
        "ticket_id": standing.ticket_id,
        "status": standing.status,
        "verdict": standing.verdict_words,
        "kind": standing.kind,
        "reason": standing.reason,
        "against": list(standing.against),
        "degraded": list(standing.degraded),
        "team": standing.team,
    }
    return json.dumps({name: fact for name, fact in facts.items() if fact}, ensure_ascii=False)


def _asked(asked: OpenQuestion) -> str:
    near = [f": {' › '.join(card.section)}\n{card.excerpt}" for card in asked.cards]
    told = zip_longest(asked.choices, near, fillvalue="")
    choices = [f"{number}. {choice}{lines}" for number, (choice, lines) in enumerate(told, 1)]
    return quoted("question", "\n".join([asked.question, *choices]))


GET = Tool(
    name="get_workflow",
    title="Get the workflow of a ticket",
    description="How a ticket stands, with its best workflow: steps, decisions and commands, each "
    "with the lines of the documents that it comes from. Of the kind `checklist` it is a team's "
    "page as it is, a task at each step: nobody has checked its decisions.",
    scope=Scope.READ,
    arguments=GetWorkflow,
    answer=TicketWorkflow,
    run=_get,
    write=_write,
)

MAKE = Tool(
    name="make_workflow",
    title="Make a workflow for a ticket",
    description="Takes a ticket in and waits for its troubleshooting workflow. What fits no "
    "document is refused, with what came closest; nothing is made up.",
    scope=Scope.OPERATE,
    arguments=MakeWorkflow,
    answer=TicketWorkflow,
    run=_make,
    write=_write,
)

ANSWER = Tool(
    name="answer_question",
    title="Answer what is asked about a ticket",
    description="Answers the open question about a ticket and waits for the workflow that takes "
    "the answer into account.",
    scope=Scope.OPERATE,
    arguments=AnswerQuestion,
    answer=TicketWorkflow,
    run=_answer,
    write=_write,
)
