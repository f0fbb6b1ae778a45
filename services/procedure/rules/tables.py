"""Tables whose rows pair a fault with its remedy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.knowledge.document.markdown import Block, TableRow
from services.language.questions import question
from services.language.sentences import sentences, shorten
from services.procedure.model import Arm, Choice, Mode, Node, State
from services.procedure.rules.places import Places
from services.procedure.rules.prose import sentence_nodes
from services.procedure.rules.source import Said

_FAULT_COLUMN = re.compile(
    r"cause|symptom|alarm|alert|error|message|problem|issue|fault|condition|event|failure|observ"
    r"|finding|result|if you see|scenario|state|status|\bif\b",
    re.IGNORECASE,
)
_REMEDY_COLUMN = re.compile(
    r"remed|fix|action|solution|resol|mitigat|what to do|correct|respon|recommend|then|next step"
    r"|treatment|workaround",
    re.IGNORECASE,
)
_CHECK_COLUMN = re.compile(
    r"check|verif|diagnos|confirm|investigat|how to (?:find|tell|see|test)|command", re.IGNORECASE
)
_VALUE = re.compile(
    r"\b(?:status|state|code|result|value|phase|level|severity|type|version|kind|mode|exit|output"
    r"|colou?r|led)\b",
    re.IGNORECASE,
)
_LONGEST_VALUE = 4
"""Words of a value."""
_USE = re.compile(r"when (?:not )?to\b", re.IGNORECASE)
"""A row of when something is used, which is no fault."""


@dataclass(frozen=True)
class _Columns:
    """What the columns of a table are for, by their places."""

    faults: Sequence[int]
    check: int | None
    """How to see whether it is this fault."""
    remedy: int


def row_cases(block: Block, places: Places) -> list[Node]:
    """A choice with an arm for each row; nothing for any other table.

    Several faults may be there at once; of the values of one thing only one is.
    """
    columns = _columns(block)
    if columns is None:
        return []
    arms = [arm for row in block.rows if (arm := _arm(row, columns, places))]
    if not arms:
        return []
    lines = ((block.start_line, block.end_line),)
    mode = Mode.EXCLUSIVE if _are_values(block, columns) else Mode.ANY
    return [Choice(mode=mode, arms=tuple(arms), lines=lines)]


def _are_values(block: Block, columns: _Columns) -> bool:
    """Whether the first column gives values of one thing: `Status`, or one code each."""
    place = columns.faults[0]
    is_short = all(len(row.cells[place].split()) <= _LONGEST_VALUE for row in block.rows)
    return is_short and _VALUE.search(block.header[place]) is not None


def _columns(block: Block) -> _Columns | None:
    names = list(enumerate(block.header))
    remedy = next((n for n, name in names if _REMEDY_COLUMN.search(name)), None)
    faults = [n for n, name in names if _FAULT_COLUMN.search(name) and n != remedy]
    if remedy is None or not faults:
        return None
    looks = [n for n, name in names if _CHECK_COLUMN.search(name)]
    check = next((n for n in looks if n != remedy and n not in faults), None)
    return _Columns(faults, check, remedy)


def _arm(row: TableRow, columns: _Columns, places: Places) -> Arm | None:
    cells = row.cells
    named = (cells[n] for n in (columns.faults[0], columns.faults[-1]) if cells[n])
    fault = ": ".join(dict.fromkeys(named))
    if not fault or not cells[columns.remedy] or _USE.match(fault):
        return None
    checked = () if columns.check is None else _nodes(row, columns.check, places)[:1]
    body = (*checked, *_nodes(row, columns.remedy, places))
    text = f"{shorten(question(fault).rstrip('?'), words=25)}?"
    return Arm(guard=State(text=text), body=body, lines=((row.line, row.line),))


def _nodes(row: TableRow, column: int, places: Places) -> list[Node]:
    said = [
        Said(text, (row.line, row.line), tuple(code for code in row.inline_code if code in text))
        for text in sentences(row.cells[column])
    ]
    return sentence_nodes(said, places)
