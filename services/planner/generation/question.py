"""The request to the model: how pages are read, the rules for a ticket, and the ticket itself."""

import json
from collections.abc import Mapping

from services.contracts.planner import PlanRequest
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.kit.observability.redaction import redact
from services.llm.chat_model import Message
from services.llm.prompts import load_prompt
from services.planner.generation.numbered_excerpts import NumberedExcerpts
from services.planner.generation.selection import best_page
from services.runbook.by_model import question as reading
from services.runbook.by_model.question import WorkedExample, most_similar, number_lines
from services.runbook.choose import ranked_procedures
from services.runbook.model import as_json

_TICKET = load_prompt("services.planner", "plan")
PROMPT = _TICKET.model_copy(update={"system": f"{reading.PROMPT.system}\n{_TICKET.system}"})
LABEL = f"{_TICKET.label}+{reading.PROMPT.label}"
"""Label of both prompts: an answer is outdated if either of them has changed."""

_TICKET_CHARACTERS = 4000
_NOTHING = "(none)"
_NOT_SHOWN = ("commands", "expected")
"""Keys of a reading that are hidden: the lines contain them, and code takes them from there."""


def messages(request: PlanRequest, shown: NumberedExcerpts) -> tuple[Message, ...]:
    """Return the messages: the rules, a worked example as an earlier turn, the task."""
    best = best_page(request)
    rules, task = PROMPT.render(
        {
            "ticket": redact(ticket_text(request.ticket)),
            "pages": str(shown),
            "reading": _stored_reading(best, ticket_text(request.ticket)) if best else _NOTHING,
        }
    )
    example = most_similar(best.text if best else shown.text)
    return (rules, *_example_turns(example), task) if example else (rules, task)


def ticket_text(ticket: TicketDraft) -> str:
    """Return the text of the ticket, labels included."""
    lines = [ticket.title, ticket.alert_name, ticket.description]
    lines += [f"{name}: {value}" for name, value in sorted(ticket.labels.items())]
    return "\n".join(dict.fromkeys(filter(None, lines)))[:_TICKET_CHARACTERS]


def _example_turns(example: WorkedExample) -> tuple[Message, Message]:
    """Return an example as a turn: its page, for a ticket about its own fault."""
    procedure: Mapping[str, object] = example.program["procedures"][0]
    title = str(procedure["title"])
    values = {
        "ticket": f"{title}\n{procedure.get('treats', '')}".strip(),
        "pages": f"Page: {title}\n{number_lines(example.text)}",
        "reading": _NOTHING,
    }
    answer = json.dumps({"procedures": [procedure]}, ensure_ascii=False)
    return PROMPT.render(values)[-1], Message(role="assistant", content=answer)


def _stored_reading(page: PageReading, ticket: str) -> str:
    """Return the stored reading of the page for the ticket's fault, and its doubts."""
    if page.served is None or not page.procedures:
        return _NOTHING
    read = page.served.reading
    ranked = ranked_procedures(read.procedures, ticket)
    place = ranked[0][0]
    doubts = [
        {"about": doubt.node, "question": doubt.question, "at": doubt.lines}
        for doubt in read.doubts
        if doubt.procedure == place
    ]
    program = {
        "procedures": [_without_hidden_keys(as_json(read.procedures[place]))],
        "doubts": doubts,
    }
    return redact(json.dumps(program, ensure_ascii=False))


def _without_hidden_keys(program: object) -> object:
    if isinstance(program, dict):
        return {
            key: _without_hidden_keys(of) for key, of in program.items() if key not in _NOT_SHOWN
        }
    return (
        [_without_hidden_keys(each) for each in program] if isinstance(program, list) else program
    )
