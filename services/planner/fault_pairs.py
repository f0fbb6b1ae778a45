"""Tables whose rows pair a fault with its remedy."""

import re
from collections.abc import Sequence

from services.knowledge.markdown import Block, BlockKind, Row
from services.knowledge.model import SectionRole, Span
from services.planner.article import Part
from services.planner.draft import Ask, Do
from services.planner.sentences import lead, question, sentences

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


def row_chain(part: Part, block: Block) -> tuple[Ask, ...]:
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
    return _chain(part, [row for row in block.rows if row.cells[remedy]], faults, remedy)


def _chain(part: Part, rows: Sequence[Row], faults: Sequence[int], remedy: int) -> tuple[Ask, ...]:
    if not rows:
        return ()
    row = rows[0]
    told = ": ".join(dict.fromkeys(row.cells[n] for n in (faults[0], faults[-1]) if row.cells[n]))
    rest = _chain(part, rows[1:], faults, remedy)
    if not told:
        return rest
    span = (part.lines(row.line, row.line),)
    return (Ask(question(told, words=14), _actions(row.cells[remedy], span), rest, span),)


def _actions(text: str, span: tuple[Span, ...]) -> tuple[Do, ...]:
    return tuple(Do(lead(each), span) for each in sentences(text)[:_MOST_ACTIONS])
