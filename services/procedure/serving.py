"""Which reading of a text is served: what people approved, and the best of the others around it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from services.procedure.doubt_answers import without_doubts_about_nothing
from services.procedure.model import Procedure, Reader, Reading
from services.procedure.ports import Approval, ApprovedProcedure, Offer, ServedReading
from services.procedure.program.cited_lines import lines_of, where

ORDER = (Reader.PERSON, Reader.MODEL, Reader.IMPORTED, Reader.COMPOSED)
"""Whose reading is served where nothing is approved, the best first; no other is."""

COVERED_FROM = 0.75
"""Share of the lines of its steps that approved ones must have to stand in a procedure's place."""


def best(readings: Mapping[Reader, Reading]) -> Reading | None:
    """The reading that is served where nothing is approved."""
    return next((readings[reader] for reader in ORDER if reader in readings), None)


def served(
    readings: Mapping[Reader, Reading],
    approved: Sequence[ApprovedProcedure],
    *,
    was_approved: bool = False,
) -> ServedReading | None:
    """Approved procedures in the place of those they cover, in the order of the page.

    The others are of the best reading; nothing of it is left out that no approved one covers.
    """
    base = best(readings)
    if base is None and not approved:
        return None
    base = base or Reading(reader=Reader.PERSON)
    mixed = _mixed(base.procedures, approved)
    places = {each.place: new for new, each in enumerate(mixed) if each.place is not None}
    doubts = (
        doubt.model_copy(update={"procedure": places[doubt.procedure]})
        for doubt in base.doubts
        if doubt.procedure in places
    )
    procedures = tuple(each.procedure for each in mixed)
    update = {"procedures": procedures, "doubts": tuple(doubts)}
    return ServedReading(
        reading=without_doubts_about_nothing(base.model_copy(update=update)),
        approvals=tuple(each.approval for each in mixed),
        was_approved=was_approved,
    )


def offers(
    readings: Mapping[Reader, tuple[Reading, datetime]], approved: Sequence[ApprovedProcedure]
) -> list[Offer]:
    """What the best reading made since an approval says otherwise, approved one by approved one."""
    current = served({reader: reading for reader, (reading, _) in readings.items()}, approved)
    procedures = current.reading.procedures if current else ()
    found = []
    for each in approved:
        later = best({r: reading for r, (reading, at) in readings.items() if at > each.approval.at})
        if later is None:
            continue
        for procedure in later.procedures:
            if procedure != each.procedure and is_covered(procedure, [each.procedure]):
                place = procedures.index(each.procedure)
                found.append(Offer(procedure=place, reader=later.reader, offered=procedure))
    return found


def is_covered(procedure: Procedure, approved: Sequence[Procedure]) -> bool:
    """Whether approved procedures stand where this one's steps are told."""
    lines = lines_of(procedure) or where(procedure)
    if not lines:
        return any(each.title == procedure.title for each in approved)
    covered = lines & set().union(*map(where, approved))
    return len(covered) >= COVERED_FROM * len(lines)


class _Placed(NamedTuple):
    """A procedure that is served."""

    procedure: Procedure
    place: int | None
    """In the reading that it is of; None where it is approved."""
    approval: Approval | None


def _mixed(procedures: Sequence[Procedure], approved: Sequence[ApprovedProcedure]) -> list[_Placed]:
    checked = [each.procedure for each in approved]
    mixed = [
        _Placed(procedure, place, None)
        for place, procedure in enumerate(procedures)
        if not is_covered(procedure, checked)
    ]
    mixed += [_Placed(each.procedure, None, each.approval) for each in approved]
    return sorted(mixed, key=lambda each: min(where(each.procedure), default=0))
