"""The texts of the pages that candidates cite."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from services.contracts.retrieval import PageReading
from services.knowledge.model import KnowledgeContext, Span
from services.workflow.model import Workflow

_MOST_LINES = 1_000_000
"""Of all pages together that passages are put into; what lies deeper is left out."""


def cited_texts(
    workflows: Iterable[Workflow], pages: Sequence[PageReading], context: KnowledgeContext
) -> dict[str, str]:
    """By document, in order of first citation: the page's text, else what passages tell of it.

    A page is missing of which the request has neither, or passages too deep to stand at their line.
    """
    whole = {page.document_id: page.text for page in pages if page.text}
    cited = dict.fromkeys(
        citation.document_id
        for workflow in workflows
        for step in workflow.steps
        for citation in step.citations
    )
    pieces = dict(_pieced(context, cited.keys() - whole.keys()))
    texts = {id_: whole.get(id_) or pieces.get(id_, "") for id_ in cited}
    return {id_: text for id_, text in texts.items() if text}


def _pieced(context: KnowledgeContext, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pages with the lines that passages show; the others are blank."""
    lines: dict[str, dict[int, str]] = {}
    for span, text in _passages(context):
        if span.document_id in wanted:
            shown = lines.setdefault(span.document_id, {})
            for number, line in enumerate(text.split("\n"), start=span.start_line):
                shown.setdefault(number, line)
    left = _MOST_LINES
    for id_, shown in lines.items():
        last = max(shown)
        if last <= left:
            left -= last
            yield id_, "\n".join(shown.get(number, "") for number in range(1, last + 1))


def _passages(context: KnowledgeContext) -> Iterator[tuple[Span, str]]:
    for hit in context.nodes:
        for passage in hit.node.all_passages():
            yield passage.span, passage.text
    for node in context.linked:
        for passage in node.all_passages():
            yield passage.span, passage.text
    for found in context.chunks:
        yield found.chunk.span, found.chunk.text
