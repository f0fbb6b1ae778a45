"""`search_knowledge`: passages of the documents that fit a query."""

from starlette.concurrency import run_in_threadpool

from services.contracts.mcp import FoundKnowledge, Passage, SearchKnowledge
from services.contracts.retrieval import RetrieveRequest
from services.gateway.formats import lines_url
from services.gateway.mcp.tool import Platform, Tool
from services.kit.access.scopes import Scope
from services.knowledge.model import RetrievedChunk
from services.llm.prompts import quoted


async def _search(platform: Platform, wanted: SearchKnowledge) -> FoundKnowledge:
    request = RetrieveRequest(description=wanted.query, top_chunks=wanted.limit)
    found = await run_in_threadpool(platform.retrieval.retrieve, request)
    return FoundKnowledge(
        passages=tuple(map(_passage, found.chunks)),
        confidence=found.confidence,
        degraded=found.degraded,
    )


def _passage(found: RetrievedChunk) -> Passage:
    span = found.chunk.span
    return Passage(
        document_id=span.document_id,
        heading=found.chunk.heading_path,
        start_line=span.start_line,
        end_line=span.end_line,
        score=found.score,
        text=found.chunk.text,
        url=lines_url(span.document_id, span.start_line, span.end_line),
    )


def _write(found: FoundKnowledge) -> str:
    if not found.passages:
        return "No passage was found."
    return "\n\n".join([found.notice, *map(_written, found.passages)])


def _written(passage: Passage) -> str:
    lines = f"lines {passage.start_line}-{passage.end_line}"
    return quoted(f"passage {passage.document_id} {lines}", passage.text)


SEARCH = Tool(
    name="search_knowledge",
    title="Search the operation documents",
    description="Passages of the team's runbooks and other operation documents that fit a fault or "
    "a question, best first, each with its document and lines.",
    scope=Scope.READ,
    arguments=SearchKnowledge,
    answer=FoundKnowledge,
    run=_search,
    write=_write,
)
