"""Commands and shown output among the code blocks of a step."""

import re
from collections.abc import Iterable

from services.knowledge.markdown import Block, BlockKind

_OUTPUT_LANGUAGES = frozenset(
    {"text", "output", "json", "yaml", "log", "txt", "none", "toml", "xml"}
)
_OUTPUT_LEAD = re.compile(
    r"\b(?:output|result|response|returns?|looks? like|similar to|you (?:should )?see|error|message"
    r"|prints?|shows?)\b[^.]*:?$",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"^(?:\S+@\S+[#$%>]\s+|[\w.-]+(?:\([\w./-]+\))?[#>]\s*|<[\w.-]+>\s+|\[[^\]]+\][#$>]?\s+|[$%>]\s+)"
    r"(?=[A-Za-z./])"
)
_COMMENT = re.compile(r"^\s*(?:#|//|--|REM\b)")
_LONGEST_COMMAND_BLOCK = 12
_LONGEST_EXPECTED = 600
"""Characters; more does not help to compare."""


def commands_of(blocks: Iterable[Block]) -> tuple[str, ...]:
    """Commands of the code blocks, verbatim without prompts, in order."""
    found: list[str] = []
    before = ""
    for block in blocks:
        if block.kind is BlockKind.CODE and not _is_output(block, before):
            found.extend(_commands(block))
        before = block.text
    return tuple(dict.fromkeys(found))


def expected_of(blocks: Iterable[Block]) -> str:
    """The first code block that shows output, cut when long."""
    before = ""
    for block in blocks:
        if block.kind is BlockKind.CODE:
            shown = block.text if _is_output(block, before) else _answers(block)
            if shown:
                return shown[:_LONGEST_EXPECTED].rstrip()
        before = block.text
    return ""


def _answers(block: Block) -> str:
    """What a recorded session shows after its commands."""
    lines = block.text.splitlines()
    if not any(_PROMPT.match(line) for line in lines):
        return ""
    return "\n".join(line for line in lines if not _PROMPT.match(line))


def _is_output(block: Block, before: str) -> bool:
    first = block.text.lstrip().split("\n", 1)[0]
    if _PROMPT.match(first):
        return False
    if block.language in _OUTPUT_LANGUAGES:
        return True
    return not block.language and bool(_OUTPUT_LEAD.search(before))


def _commands(block: Block) -> list[str]:
    """One per line; a script stays one piece, and so do continued lines."""
    lines = [line for line in block.text.splitlines() if line.strip()]
    prompted = [_PROMPT.sub("", line) for line in lines if _PROMPT.match(line)]
    if prompted:
        return prompted
    lines = [line for line in lines if not _COMMENT.match(line)]
    is_script = any(
        line.startswith((" ", "\t", "}", "{")) or line.endswith(("\\", "{", "|")) for line in lines
    )
    if is_script or len(lines) > _LONGEST_COMMAND_BLOCK:
        return ["\n".join(lines)] if lines else []
    return lines
