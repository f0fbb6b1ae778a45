"""Doubts of a reading: settled by people's answers, and raised by tickets."""

from collections.abc import Sequence

from services.kit.errors import InvalidInputError, NotFoundError
from services.runbook.checking.walker import steps_before_rounds, unreached_steps
from services.runbook.lowering import lower
from services.runbook.model import Answer, Doubt, DoubtKind, Procedure, Reading
from services.runbook.ports import ServedReading, TicketDoubt
from services.runbook.program import assign_ids, with_ids

_LONGEST = 300
_WAY = "way"
"""The begin of the ids of doubts about lost ways."""
_LEAVE = Answer(text="The page says it so: leave it as it is")
_TAKE_OUT = Answer(text="It is wrong: take it out", replace=())


class DoubtNotFoundError(NotFoundError):
    """The reading has no doubt of this id; it may have been answered meanwhile."""


class UnknownAnswerError(InvalidInputError):
    """The doubt does not offer this answer, or what it would replace is not in the reading."""


def settle_doubt(reading: Reading, doubt_id: str, answer_index: int) -> Reading:
    """Return the reading with one doubt settled by one of its answers, counted from 0.

    Doubts about parts that the answer takes out go with them.

    Raises:
        DoubtNotFoundError: No such doubt.
        UnknownAnswerError: No such answer, or nothing it could replace.
    """
    doubt = next((each for each in reading.doubts if each.id == doubt_id), None)
    if doubt is None:
        raise DoubtNotFoundError(f"the reading has no doubt {doubt_id!r}: read it again")
    if not 0 <= answer_index < len(doubt.answers):
        raise UnknownAnswerError(
            f"expected an answer from 0 to {len(doubt.answers) - 1}, got {answer_index}"
        )
    left = tuple(each for each in reading.doubts if each.id != doubt_id)
    settled = reading.model_copy(update={"doubts": left})
    replacement = doubt.answers[answer_index].replace
    if replacement is None:
        return settled
    if not 0 <= doubt.procedure < len(reading.procedures):
        raise UnknownAnswerError(f"the reading has no procedure {doubt.procedure}")
    procedures = list(reading.procedures)
    procedure = procedures[doubt.procedure]
    if not doubt.node or all(each.id != doubt.node for each in procedure.sourced()):
        raise UnknownAnswerError(f"the reading has nothing with the id {doubt.node!r}")
    procedures[doubt.procedure] = procedure.map(
        node=lambda node: replacement if node.id == doubt.node else (node,),
        arm=lambda arm: (
            arm.model_copy(update={"body": replacement}) if arm.id == doubt.node else arm
        ),
    )
    changed = settled.model_copy(update={"procedures": tuple(procedures)})
    return without_dangling_doubts(assign_ids(changed))


def find_lost_ways(procedures: Sequence[Procedure]) -> tuple[Doubt, ...]:
    """Return a doubt for each action that no path leads to, and each loop without a way out."""
    doubts: list[Doubt] = []
    for place, procedure in enumerate(map(with_ids, procedures)):
        workflow = lower(procedure, "page")
        questions: dict[str, tuple[str, tuple[Answer, ...]]] = {
            step.node: (
                f"After “{_short(step.text)}” one goes back without end. Does the page say so?",
                (_LEAVE,),
            )
            for step in steps_before_rounds(workflow)
        }
        for step in unreached_steps(procedure, workflow):
            question = f"No path leads to “{_short(step.text)}”. Does the page say so?"
            questions[step.id] = (question, (_LEAVE, _TAKE_OUT))
        lines = {each.id: each.lines for each in procedure.sourced()}
        doubts += [
            Doubt(
                id=f"{_WAY}:{place}:{node}",
                kind=DoubtKind.EXIT,
                node=node,
                procedure=place,
                question=question,
                lines=lines.get(node, ()),
                answers=answers,
            )
            for node, (question, answers) in questions.items()
        ]
    return tuple(doubts)


def without_dangling_doubts(reading: Reading) -> Reading:
    """Return the reading without doubts about procedures and nodes that it does not have.

    Doubts about lost ways go where the procedures have them no more.
    """
    if any(each.id.startswith(f"{_WAY}:") for each in reading.doubts):
        lost = {(each.procedure, each.node) for each in find_lost_ways(reading.procedures)}
        left = tuple(
            each
            for each in reading.doubts
            if not each.id.startswith(f"{_WAY}:") or (each.procedure, each.node) in lost
        )
        reading = reading.model_copy(update={"doubts": left})
    ids = [{each.id for each in procedure.sourced()} for procedure in reading.procedures]
    kept = tuple(
        doubt
        for doubt in reading.doubts
        if 0 <= doubt.procedure < len(ids)
        and (not doubt.node or doubt.node in ids[doubt.procedure])
    )
    return reading.model_copy(update={"doubts": kept})


def doubt_id(doubt: TicketDoubt) -> str:
    """Return the id of the doubt among those of its reading."""
    return f"ticket:{doubt.ticket}:{doubt.step}"


def with_ticket_doubts(served: ServedReading, doubts: Sequence[TicketDoubt]) -> ServedReading:
    """Return the reading with the doubts of tickets after its own.

    A doubt about a node that no longer exists is put to the page's first procedure.
    """
    if not doubts or not served.reading.procedures:
        return served
    more = tuple(_doubt(served.reading, each) for each in doubts)
    reading = served.reading.model_copy(update={"doubts": served.reading.doubts + more})
    return served.model_copy(update={"reading": reading})


def without_ticket_doubts(reading: Reading) -> Reading:
    """Return the reading without doubts of tickets, as it is stored and exported."""
    own = tuple(each for each in reading.doubts if not each.ticket)
    return reading.model_copy(update={"doubts": own})


def _doubt(reading: Reading, doubt: TicketDoubt) -> Doubt:
    place, node = next(
        (
            (place, each)
            for place, procedure in enumerate(reading.procedures)
            for each in procedure.sourced()
            if doubt.node and each.id == doubt.node
        ),
        (0, None),
    )
    step, why = _short(doubt.text), f" ({_short(doubt.word)})" if doubt.word else ""
    question = f"On a ticket {doubt.by} found “{step}” wrong{why}. Is it right?"
    if doubt.instead:
        question = (
            f"On a ticket {doubt.by} did “{_short(doubt.instead)}” instead of “{step}”{why}. "
            "Does the page tell it rightly?"
        )
    return Doubt(
        id=doubt_id(doubt),
        kind=DoubtKind.STEP,
        node=node.id if node else "",
        procedure=place,
        question=question,
        lines=node.lines if node else (),
        answers=(_LEAVE, _TAKE_OUT) if node else (_LEAVE,),
        ticket=doubt.ticket,
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
