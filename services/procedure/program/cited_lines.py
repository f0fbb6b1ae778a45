"""The lines that a procedure says it was read from."""

from collections.abc import Iterable

from services.procedure.model import LineRange, Procedure
from services.procedure.program.numbering import sourced


def lines_of(procedure: Procedure) -> set[int]:
    """Numbers of the lines of all its nodes and arms."""
    return numbers(lines for each in sourced(procedure) for lines in each.lines)


def where(procedure: Procedure) -> set[int]:
    """Numbers of the lines where the page tells it; where that is not said, those of its nodes."""
    return numbers(procedure.lines) or lines_of(procedure)


def numbers(ranges: Iterable[LineRange]) -> set[int]:
    """The numbers in the ranges."""
    return {number for first, last in ranges for number in range(first, last + 1)}
