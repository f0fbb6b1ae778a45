"""Faults that a page pairs with their remedies itself: rows of a table, or sections."""

import re
from collections.abc import Iterator

from services.knowledge.markdown import Block, BlockKind
from services.knowledge.model import Span
from services.planner.article import Article, Part
from services.planner.draft import Ask, Do, Draft, Element, End
from services.planner.ends import closing, opening
from services.planner.sentences import lead, question, sentences

_FAULT_COLUMN = re.compile(
    r"cause|symptom|alarm|alert|error|message|problem|issue|fault|condition|event|failure|observ"
    r"|finding|result|if you see",
    re.IGNORECASE,
)
_REMEDY_COLUMN = re.compile(
    r"remed|fix|action|solution|resol|mitigat|what to do|correct|respon|recommend|then|next step",
    re.IGNORECASE,
)


def table_rows(article: Article) -> Draft | None:
    """A question per row of the page's tables of faults and remedies; None below one row."""
    asked = [ask for part in article.parts for block in part.blocks for ask in _rows(part, block)]
    if not asked:
        return None
    return Draft(
        strategy="table",
        title=article.name,
        elements=(opening(article), *asked, closing(article)),
        fitness=0.75 if len(asked) > 1 else 0.4,
        document_ids=(article.document_id,),
        node_ids=(article.node.id,),
    )


def _rows(part: Part, block: Block) -> Iterator[Ask]:
    if block.kind is not BlockKind.TABLE:
        return
    remedy = next((n for n, name in enumerate(block.header) if _REMEDY_COLUMN.search(name)), None)
    faults = [
        n for n, name in enumerate(block.header) if _FAULT_COLUMN.search(name) and n != remedy
    ]
    if remedy is None or not faults:
        return
    for row in block.rows:
        fault, action = row.cells[faults[-1]], row.cells[remedy]
        symptom = row.cells[faults[0]]
        if not fault or not action:
            continue
        told = fault if fault == symptom or not symptom else f"{symptom}: {fault}"
        span = (part.lines(row.line, row.line),)
        yield Ask(question(told, words=14), yes=tuple(_actions(action, span)), cites=span)


def _actions(text: str, span: tuple[Span, ...]) -> list[Element]:
    parts = [lead(each) for each in sentences(text)][:4]
    return [*(Do(each, span) for each in parts[:-1]), End(parts[-1], span)]
