"""Tools for a ticket: its workflow and questions, feedback on it, and how it was run."""

import json
from itertools import zip_longest

from starlette.concurrency import run_in_threadpool

from services.contracts.adoption import Acceptance, Judgement, StepJudgement
from services.contracts.gateway import TicketDetail
from services.contracts.mcp import (
    AnswerQuestion,
    GetRuns,
    GetWorkflow,
    MakeWorkflow,
    OpenQuestion,
    RecordedFeedback,
    RecordFeedback,
    TicketRun,
    TicketRuns,
    TicketWorkflow,
)
from services.contracts.triage import Rejection
from services.kit.access.scopes import Scope
from services.kit.errors import InvalidInputError, UnavailableError
from services.llm.prompts import quote_untrusted
from services.tickets.formats import markdown
from services.web.mcp.tool import McpTool, Platform


class NoOpenQuestionError(InvalidInputError):
    """The ticket has no question to answer."""


async def _make(platform: Platform, arguments: MakeWorkflow) -> TicketWorkflow:
    body = arguments.model_dump_json(exclude={"wait_s"}, exclude_defaults=True)
    accepted = await run_in_threadpool(platform.gateway.accept_own, body.encode())
    (ticket,) = accepted.tickets
    await platform.gateway.are_over([ticket.id], arguments.wait_s, platform.stopping)
    return await run_in_threadpool(_load_workflow, platform, ticket.id)


async def _answer(platform: Platform, arguments: AnswerQuestion) -> TicketWorkflow:
    ticket_id = await run_in_threadpool(_submit_answer, platform, arguments)
    await platform.gateway.are_over([ticket_id], arguments.wait_s, platform.stopping)
    return await run_in_threadpool(_load_workflow, platform, ticket_id)


def _submit_answer(platform: Platform, arguments: AnswerQuestion) -> str:
    """Answer the question and return the ticket's id."""
    ticket = platform.gateway.queries.ticket(arguments.ticket_id)
    question = ticket.open_question or ticket.page_question
    if question is None:
        raise NoOpenQuestionError("nothing is asked about this ticket")
    platform.gateway.answer_handler.answer(ticket.id, question.id, arguments.answer)
    return ticket.id


def _load_workflow(platform: Platform, ticket_id: str) -> TicketWorkflow:
    ticket = platform.gateway.queries.ticket(ticket_id)
    stored = platform.gateway.queries.workflow(ticket.workflow_id) if ticket.workflow_id else None
    question = ticket.open_question
    return TicketWorkflow(
        ticket_id=ticket.id,
        title=ticket.title,
        status=ticket.status,
        reason=ticket.reason,
        fit=ticket.fit,
        is_checked=ticket.is_checked,
        has_checked_boxes=ticket.has_checked_boxes,
        conditions=ticket.conditions,
        doubtful=ticket.doubtful,
        page_origin=ticket.page_origin,
        kind=ticket.kind,
        edited_by=ticket.edited_by,
        against=ticket.against,
        degraded=ticket.degraded,
        workflow=stored,
        question=OpenQuestion(
            question=question.question, choices=question.choices, cards=question.cards
        )
        if question
        else None,
        team=ticket.triage.team if ticket.triage else None,
        nearest=ticket.nearest,
        url=f"/tickets/{ticket.id}",
    )


def _write_workflow(answer: TicketWorkflow) -> str:
    """Write the ticket's state, then the quotes: the workflow, and the open question."""
    facts = {
        "ticket_id": answer.ticket_id,
        "status": answer.status,
        "verdict": answer.verdict_words,
        "kind": answer.kind,
        "reason": answer.reason,
        "against": list(answer.against),
        "degraded": list(answer.degraded),
        "team": answer.team,
    }
    parts = [
        json.dumps({name: fact for name, fact in facts.items() if fact}, ensure_ascii=False),
        answer.notice,
    ]
    if answer.workflow is not None:
        written = markdown(answer.workflow.workflow, for_model=True)
        parts.append(quote_untrusted("workflow", written.strip()))
    if answer.question is not None:
        near = [f": {' › '.join(card.section)}\n{card.excerpt}" for card in answer.question.cards]
        choices_with_excerpts = zip_longest(answer.question.choices, near, fillvalue="")
        choices = [
            f"{number}. {choice}{lines}"
            for number, (choice, lines) in enumerate(choices_with_excerpts, 1)
        ]
        parts += [
            "`answer_question` makes the workflow better:",
            quote_untrusted("question", "\n".join([answer.question.question, *choices])),
        ]
    return "\n\n".join(parts)


GET = McpTool(
    name="get_workflow",
    title="Get the workflow of a ticket",
    description="How a ticket stands, with its best workflow: steps, decisions and commands, each "
    "with the lines of the documents that it comes from. Of the kind `checklist` it is a team's "
    "page as it is, a task at each step: nobody has checked its decisions.",
    scope=Scope.READ,
    arguments=GetWorkflow,
    answer=TicketWorkflow,
    run=lambda platform, arguments: _load_workflow(platform, arguments.ticket_id),
    write=_write_workflow,
)

MAKE = McpTool(
    name="make_workflow",
    title="Make a workflow for a ticket",
    description="Takes a ticket in and waits for its troubleshooting workflow. What fits no "
    "document is refused, with what came closest; nothing is made up.",
    scope=Scope.OPERATE,
    arguments=MakeWorkflow,
    answer=TicketWorkflow,
    run=_make,
    write=_write_workflow,
)

ANSWER = McpTool(
    name="answer_question",
    title="Answer what is asked about a ticket",
    description="Answers the open question about a ticket and waits for the workflow that takes "
    "the answer into account.",
    scope=Scope.OPERATE,
    arguments=AnswerQuestion,
    answer=TicketWorkflow,
    run=_answer,
    write=_write_workflow,
)


class NoWorkflowError(InvalidInputError):
    """The ticket has no workflow that feedback could be about."""


def _record(platform: Platform, feedback: RecordFeedback) -> RecordedFeedback:
    ticket = platform.gateway.queries.ticket(feedback.ticket_id)
    if feedback.step:
        judgement = StepJudgement(verdict=Judgement(feedback.verdict), word=feedback.reason)
        platform.adoption.judge(_workflow_id(ticket), feedback.step, judgement)
    elif feedback.verdict == "accepted":
        platform.adoption.accept(_workflow_id(ticket), Acceptance(word=feedback.reason))
    else:
        platform.triage.reject(ticket.id, Rejection(reason=feedback.reason))
    ticket = platform.gateway.queries.ticket(ticket.id)
    return RecordedFeedback(
        ticket_id=ticket.id,
        verdict=feedback.verdict,
        step=feedback.step,
        status=ticket.status,
        team=ticket.triage.team if ticket.triage else None,
    )


def _workflow_id(ticket: TicketDetail) -> str:
    if ticket.workflow_id is None:
        raise NoWorkflowError("the ticket has no workflow that anything could be said of")
    return ticket.workflow_id


def _write_feedback(recorded: RecordedFeedback) -> str:
    what = "the step" if recorded.step else "the workflow"
    return f"Recorded: {what} is {recorded.verdict}. The ticket is {recorded.status}."


FEEDBACK = McpTool(
    name="record_feedback",
    title="Say whether a workflow helped",
    description="Records what the engineer says of a ticket's workflow, or of one step. Call it "
    "only with what a person has said.",
    scope=Scope.OPERATE,
    arguments=RecordFeedback,
    answer=RecordedFeedback,
    run=_record,
    write=_write_feedback,
)


MOST = 5
"""Most runs in one answer, the latest."""


class NoExecutorError(UnavailableError):
    """The gateway was started without an executor."""


def _get_runs(platform: Platform, arguments: GetRuns) -> TicketRuns:
    execution = platform.execution
    if execution is None:
        raise NoExecutorError("this gateway knows no executor to ask")
    ticket_id = platform.gateway.queries.ticket(arguments.ticket_id).id
    runs = []
    for summary in execution.runs(ticket_id)[:MOST]:
        run = execution.run(summary.id)
        waits = run.approval.shown if run.approval else run.question.text if run.question else ""
        runs.append(
            TicketRun(
                id=run.id,
                mode=run.mode,
                phase=run.phase,
                outcome=run.outcome,
                why=run.why,
                waits_for=waits,
                report=run.report,
            )
        )
    return TicketRuns(ticket_id=ticket_id, runs=tuple(runs))


def _write_runs(answer: TicketRuns) -> str:
    parts = []
    for run in answer.runs:
        state = run.outcome.value if run.outcome else run.phase.value
        parts.append(f"Run {run.id}, {run.mode.value}: {state.replace('_', ' ')}")
        texts = {"why": run.why, "waits for": run.waits_for, "report": run.report}
        parts += [quote_untrusted(name, text) for name, text in texts.items() if text]
    return "\n\n".join(parts) or "The ticket has no runs."


RUNS = McpTool(
    name="get_runs",
    title="How a workflow was carried out",
    description="How the workflow of a ticket was carried out: what was sent to devices, by whose "
    "leave, what was seen, and what waits for a person. Starts and approves nothing.",
    scope=Scope.READ,
    arguments=GetRuns,
    answer=TicketRuns,
    run=_get_runs,
    write=_write_runs,
)
