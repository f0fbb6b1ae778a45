"""Choice of the served reading: approved procedures, and the best of the others around them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from services.runbook.checking.doubts import without_dangling_doubts
from services.runbook.lowering import lower
from services.runbook.model import Procedure, Reader, Reading
from services.runbook.ports import Approval, ApprovedProcedure, Offer, ServedReading
from services.runbook.program import extent_lines, lines_of
from services.workflow.model import Workflow

SERVING_ORDER = (Reader.PERSON, Reader.MODEL, Reader.IMPORTED, Reader.COMPOSED)
"""Readers whose readings are served if nothing is approved, best first; no other is."""

COVERED_FROM = 0.75
"""The share of a procedure's step lines that approved ones must have to replace it."""


def best_reading(readings: Mapping[Reader, Reading]) -> Reading | None:
    """Return the reading that is served if nothing is approved."""
    return next((readings[reader] for reader in SERVING_ORDER if reader in readings), None)


def merge_served(
    readings: Mapping[Reader, Reading],
    approved: Sequence[ApprovedProcedure],
    *,
    was_approved: bool = False,
) -> ServedReading | None:
    """Return approved procedures in place of those they cover, in the order of the page.

    The others are of the best reading; all of it that no approved procedure covers is served.
    """
    base = best_reading(readings)
    if base is None and not approved:
        return None
    base = base or Reading(reader=Reader.PERSON)
    checked = [each.procedure for each in approved]
    merged = [
        _ServedProcedure(procedure, place, None)
        for place, procedure in enumerate(base.procedures)
        if not is_covered(procedure, checked)
    ]
    merged += [_ServedProcedure(each.procedure, None, each.approval) for each in approved]
    merged.sort(key=lambda each: min(extent_lines(each.procedure), default=0))
    new_places = {each.place: new for new, each in enumerate(merged) if each.place is not None}
    doubts = (
        doubt.model_copy(update={"procedure": new_places[doubt.procedure]})
        for doubt in base.doubts
        if doubt.procedure in new_places
    )
    procedures = tuple(each.procedure for each in merged)
    update = {"procedures": procedures, "doubts": tuple(doubts)}
    return ServedReading(
        reading=without_dangling_doubts(base.model_copy(update=update)),
        approvals=tuple(each.approval for each in merged),
        was_approved=was_approved,
    )


def find_offers(
    readings: Mapping[Reader, tuple[Reading, datetime]], approved: Sequence[ApprovedProcedure]
) -> list[Offer]:
    """Return the alternatives of the best later reading, for each approved procedure."""
    current = merge_served({reader: reading for reader, (reading, _) in readings.items()}, approved)
    procedures = current.reading.procedures if current else ()
    offers = []
    for each in approved:
        later = best_reading(
            {r: reading for r, (reading, at) in readings.items() if at > each.approval.at}
        )
        if later is None:
            continue
        for procedure in later.procedures:
            if procedure != each.procedure and is_covered(procedure, [each.procedure]):
                place = procedures.index(each.procedure)
                offers.append(Offer(procedure=place, reader=later.reader, offered=procedure))
    return offers


def is_covered(procedure: Procedure, approved: Sequence[Procedure]) -> bool:
    """Return True if approved procedures cover the lines of this one's steps."""
    lines = lines_of(procedure) or extent_lines(procedure)
    if not lines:
        return any(each.title == procedure.title for each in approved)
    covered = lines & set().union(*map(extent_lines, approved))
    return len(covered) >= COVERED_FROM * len(lines)


class _ServedProcedure(NamedTuple):
    """A procedure that is served."""

    procedure: Procedure
    place: int | None
    """Index in its reading; None if it is approved."""
    approval: Approval | None


def draw(served: ServedReading, procedure_index: int, document_id: str) -> Workflow:
    """Return the workflow of one procedure, with what its reading doubts marked."""
    reading = served.reading
    doubts = {d.node: d.question for d in reading.doubts if d.procedure == procedure_index}
    return lower(reading.procedures[procedure_index], document_id, doubts)
