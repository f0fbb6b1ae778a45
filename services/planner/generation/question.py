"""What the model is asked: how pages are read, what is different for a ticket, and the ticket."""

import json
from collections.abc import Mapping

from services.contracts.planner import PlanRequest
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.kit.observability.redaction import redacted
from services.llm.chat_model import Message
from services.llm.prompts import load_prompt
from services.planner.generation.selection import best_page
from services.planner.generation.shown import Shown
from services.procedure.by_model import question as reading
from services.procedure.by_model.page import numbered
from services.procedure.by_model.worked_examples import WorkedExample, most_similar
from services.procedure.choose import ranked_procedures
from services.procedure.model import as_json

_TICKET = load_prompt("services.planner", "plan")
PROMPT = _TICKET.model_copy(update={"system": f"{reading.PROMPT.system}\n{_TICKET.system}"})
LABEL = f"{_TICKET.label}+{reading.PROMPT.label}"
"""Of both: an answer is as old as the older of them."""

_TICKET_CHARACTERS = 4000
_NOTHING = "(none)"
_NOT_SHOWN = ("commands", "expected")
"""Of a reading: the lines have them, and code takes them from there."""


def messages(request: PlanRequest, shown: Shown) -> tuple[Message, ...]:
    """The rules, a worked example as a turn that went before, the task."""
    best = best_page(request)
    rules, task = PROMPT.render(
        {
            "ticket": redacted(ticket_text(request.ticket)),
            "pages": str(shown),
            "reading": _stored(best, ticket_text(request.ticket)) if best else _NOTHING,
        }
    )
    example = most_similar(best.text if best else shown.text)
    return (rules, *_turns(example), task) if example else (rules, task)


def ticket_text(ticket: TicketDraft) -> str:
    """What the ticket says, labels included."""
    lines = [ticket.title, ticket.alert_name, ticket.description]
    lines += [f"{name}: {value}" for name, value in sorted(ticket.labels.items())]
    return "\n".join(dict.fromkeys(filter(None, lines)))[:_TICKET_CHARACTERS]


def _turns(example: WorkedExample) -> tuple[Message, Message]:
    """The page of an example for a ticket about its own fault."""
    procedure: Mapping[str, object] = example.program["procedures"][0]
    title = str(procedure["title"])
    told = {
        "ticket": f"{title}\n{procedure.get('treats', '')}".strip(),
        "pages": f"Page: {title}\n{numbered(example.text)}",
        "reading": _NOTHING,
    }
    answer = json.dumps({"procedures": [procedure]}, ensure_ascii=False)
    return PROMPT.render(told)[-1], Message(role="assistant", content=answer)


def _stored(page: PageReading, ticket: str) -> str:
    """What was read of the page for the fault of the ticket, and what is doubted about it."""
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
    told = {"procedures": [_without(as_json(read.procedures[place]))], "doubts": doubts}
    return redacted(json.dumps(told, ensure_ascii=False))


def _without(program: object) -> object:
    if isinstance(program, dict):
        return {key: _without(of) for key, of in program.items() if key not in _NOT_SHOWN}
    return [_without(each) for each in program] if isinstance(program, list) else program
