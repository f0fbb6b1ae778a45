"""Ids and lines of the nodes and arms of a program."""

from collections.abc import Iterable
from itertools import count

from services.runbook.model import Arm, LineRange, Node, Noted, Procedure, Reading, Remark


def assign_ids(reading: Reading) -> Reading:
    """Return the reading with an id for every node and arm, unique in its procedure.

    An existing id stays; of two with the same id the first keeps it. None is also the name of a
    body, since jumps name both.
    """
    procedures = tuple(map(with_ids, reading.procedures))
    return reading.model_copy(update={"procedures": procedures})


def with_ids(procedure: Procedure) -> Procedure:
    """Return the procedure with an id for each node and arm; see `assign_ids`."""
    taken = set(procedure.bodies)
    unusable = taken | {each.id for each in procedure.sourced()}
    fresh = (id_ for number in count(1) if (id_ := f"n{number}") not in unusable)

    def unique(existing: str) -> dict[str, str]:
        id_ = existing if existing and existing not in taken else next(fresh)
        taken.add(id_)
        return {"id": id_}

    return procedure.map(
        node=lambda node: (node.model_copy(update=unique(node.id)),),
        arm=lambda arm: arm.model_copy(update=unique(arm.id)),
        order="down",
    )


def lines_of(procedure: Procedure) -> set[int]:
    """Return the numbers of the lines of all its nodes, arms and notes."""
    everything = (one for each in procedure.sourced() for one in (each, *notes_of(each)))
    return line_numbers(lines for each in everything for lines in each.lines)


def notes_of(thing: Node | Arm) -> tuple[Remark, ...]:
    """Return the notes that stand in a node; an arm has none."""
    return thing.notes if isinstance(thing, Noted) else ()


def extent_lines(procedure: Procedure) -> set[int]:
    """Return the numbers of the procedure's own lines; if it names none, those of its nodes."""
    return line_numbers(procedure.lines) or lines_of(procedure)


def line_numbers(ranges: Iterable[LineRange]) -> set[int]:
    """Return the line numbers in the ranges."""
    return {number for first, last in ranges for number in range(first, last + 1)}
