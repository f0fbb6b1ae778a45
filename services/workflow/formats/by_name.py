"""Formats in which a workflow is exported, by name."""

from collections.abc import Callable, Mapping

from services.workflow.formats.code import CodeError, from_code, to_code
from services.workflow.formats.markdown import to_markdown
from services.workflow.formats.mermaid import MermaidError, from_mermaid, to_mermaid
from services.workflow.formats.text import TextError, from_text, to_text
from services.workflow.model import Workflow

__all__ = [
    "READERS",
    "WRITERS",
    "CodeError",
    "MermaidError",
    "TextError",
    "from_code",
    "from_mermaid",
    "from_text",
    "to_code",
    "to_markdown",
    "to_mermaid",
    "to_text",
]

WRITERS: Mapping[str, Callable[[Workflow], str]] = {
    "mermaid": to_mermaid,
    "text": to_text,
    "code": to_code,
    "markdown": to_markdown,
}

READERS: Mapping[str, Callable[[str], Workflow]] = {
    "mermaid": from_mermaid,
    "text": from_text,
    "code": from_code,
}
