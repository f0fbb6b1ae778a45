"""Doubts that tickets raise, as doubts of the reading that is served."""

from collections.abc import Sequence

from services.procedure.model import Answer, Doubt, DoubtKind, LineRange, Reading
from services.procedure.ports import ServedReading, TicketDoubt
from services.procedure.program.numbering import sourced

_MOST_WORDS = 300
_LEAVE = Answer(text="The page says it so: leave it as it is")
_TAKE_OUT = Answer(text="It is wrong: take it out", replace=())


def doubt_id(doubt: TicketDoubt) -> str:
    """Names it among the doubts of its reading."""
    return f"ticket:{doubt.ticket}:{doubt.step}"


def with_ticket_doubts(served: ServedReading, doubts: Sequence[TicketDoubt]) -> ServedReading:
    """The reading with what tickets find wrong of it, behind its own doubts.

    What is about a node that is not there any more is about the page's first procedure.
    """
    if not doubts or not served.reading.procedures:
        return served
    more = tuple(_doubt(served.reading, each) for each in doubts)
    reading = served.reading.model_copy(update={"doubts": served.reading.doubts + more})
    return served.model_copy(update={"reading": reading})


def without_ticket_doubts(reading: Reading) -> Reading:
    """The reading as it is kept and exported."""
    own = tuple(each for each in reading.doubts if not each.ticket)
    return reading.model_copy(update={"doubts": own})


def _doubt(reading: Reading, doubt: TicketDoubt) -> Doubt:
    place, lines = _place(reading, doubt.node)
    is_there = lines is not None
    return Doubt(
        id=doubt_id(doubt),
        kind=DoubtKind.STEP,
        node=doubt.node if is_there else "",
        procedure=place,
        question=_question(doubt),
        lines=lines or (),
        answers=(_LEAVE, _TAKE_OUT) if is_there else (_LEAVE,),
        ticket=doubt.ticket,
    )


def _place(reading: Reading, node: str) -> tuple[int, tuple[LineRange, ...] | None]:
    """The procedure that has the node, and its lines; None where none has it."""
    for place, procedure in enumerate(reading.procedures):
        for each in sourced(procedure):
            if node and each.id == node:
                return place, each.lines
    return 0, None


def _question(doubt: TicketDoubt) -> str:
    step = _short(doubt.text)
    why = f" ({_short(doubt.word)})" if doubt.word else ""
    if doubt.instead:
        return (
            f"On a ticket {doubt.by} did \u201c{_short(doubt.instead)}\u201d instead of "
            f"\u201c{step}\u201d{why}. Does the page tell it rightly?"
        )
    return f"On a ticket {doubt.by} found \u201c{step}\u201d wrong{why}. Is it right?"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_WORDS else f"{line[: _MOST_WORDS - 1]}\u2026"
