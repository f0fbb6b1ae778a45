"""What the model sees of a chunk."""

from services.grounding.trusted import trusted
from services.knowledge.model import Chunk, KnowledgeContext, RetrievedChunk

NOTHING = "(nothing)"


def shown(chunk: Chunk | None) -> str:
    """Headings and text without sentences that speak to a model; `NOTHING` where none are left.

    The page's title has a line of its own: of a whole path a small model makes a name.
    """
    if chunk is None:
        return NOTHING
    safe = trusted(KnowledgeContext(chunks=(RetrievedChunk(chunk=chunk, score=0.0),)))
    return "\n".join(_headed(hit.chunk) for hit in safe.context.chunks) or NOTHING


def _headed(chunk: Chunk) -> str:
    title, *sections = chunk.heading_path or ("",)
    headings = [f"Page: {title}", *([f"Section: {', '.join(sections)}"] if sections else ())]
    return "\n".join([*headings, "", chunk.text])
