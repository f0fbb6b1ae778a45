"""Tables whose rows pair a fault with its remedy."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.knowledge.document.markdown import Block, BlockKind, Row
from services.knowledge.model import SectionRole, Span
from services.planner.article import Part
from services.planner.chain import chained, cut
from services.planner.code import told_in
from services.planner.decisions import told
from services.planner.draft import Ask, Element
from services.planner.sentences import question, sentences

_MOST_ACTIONS = 4
_NOT_ASKED = frozenset({SectionRole.REFERENCE, SectionRole.PARAMETER, SectionRole.PREVENTION})
_FAULT_COLUMN = re.compile(
    r"cause|symptom|alarm|alert|error|message|problem|issue|fault|condition|event|failure|observ"
    r"|finding|result|if you see",
    re.IGNORECASE,
)
_REMEDY_COLUMN = re.compile(
    r"remed|fix|action|solution|resol|mitigat|what to do|correct|respon|recommend|then|next step",
    re.IGNORECASE,
)
_CHECK_COLUMN = re.compile(
    r"check|verif|diagnos|confirm|investigat|how to (?:find|tell|see|test)|command", re.IGNORECASE
)


@dataclass(frozen=True)
class _Columns:
    """What the columns of a table are for, by their places."""

    faults: Sequence[int]
    check: int | None
    """How to see whether it is this fault."""
    remedy: int


def row_chain(part: Part, block: Block) -> tuple[Element, ...]:
    """A question per row of a table of faults and remedies, each asked when the one before is not.

    Empty for any other block.
    """
    if block.kind is not BlockKind.TABLE or part.role in _NOT_ASKED:
        return ()
    remedy = next((n for n, name in enumerate(block.header) if _REMEDY_COLUMN.search(name)), None)
    faults = [
        n for n, name in enumerate(block.header) if _FAULT_COLUMN.search(name) and n != remedy
    ]
    if remedy is None or not faults:
        return ()
    looks = [n for n, name in enumerate(block.header) if _CHECK_COLUMN.search(name)]
    check = next((n for n in looks if n != remedy and n not in faults), None)
    columns = _Columns(faults, check, remedy)
    rows = [row for row in block.rows if row.cells[remedy]]
    return chained([asked for row in rows for asked in _asked(part, row, columns)])


def _asked(part: Part, row: Row, columns: _Columns) -> Iterator[Ask]:
    named = (row.cells[n] for n in (columns.faults[0], columns.faults[-1]) if row.cells[n])
    fault = ": ".join(dict.fromkeys(named))
    if not fault:
        return
    span = (part.lines(row.line, row.line),)
    found = () if columns.check is None else _actions(row, columns.check, span)[:1]
    yes = (*found, *_actions(row, columns.remedy, span))
    yield Ask(question(fault, words=14), yes, (), span)


def _actions(row: Row, column: int, span: tuple[Span, ...]) -> tuple[Element, ...]:
    elements = [
        element
        for each in sentences(row.cells[column])
        for element in told(each, span, told_in(each, row.inline_code))
    ]
    return cut(elements, _MOST_ACTIONS)
