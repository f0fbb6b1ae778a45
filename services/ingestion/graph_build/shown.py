"""What the model sees of a chunk."""

from services.knowledge.model import Chunk

NOTHING = "(nothing)"


def shown(chunk: Chunk | None) -> str:
    """Headings and text; `NOTHING` without a chunk.

    The page's title has a line of its own: of a whole path a small model makes a name.
    """
    return _headed(chunk) if chunk else NOTHING


def _headed(chunk: Chunk) -> str:
    title, *sections = chunk.heading_path or ("",)
    headings = [f"Page: {title}", *([f"Section: {', '.join(sections)}"] if sections else ())]
    return "\n".join([*headings, "", chunk.text])
