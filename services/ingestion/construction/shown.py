"""What the model sees of a chunk."""

from services.grounding.trusted import trusted
from services.knowledge.model import Chunk, KnowledgeContext, RetrievedChunk

NOTHING = "(nothing)"


def shown(chunk: Chunk | None) -> str:
    """Headings and text without sentences that speak to a model; `NOTHING` where none are left."""
    if chunk is None:
        return NOTHING
    safe = trusted(KnowledgeContext(chunks=(RetrievedChunk(chunk=chunk, score=0.0),)))
    return "\n".join(hit.chunk.embedded_text for hit in safe.context.chunks) or NOTHING
