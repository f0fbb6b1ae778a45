"""Commands and shown output among the code blocks of a step."""

import re
from collections.abc import Iterable

from services.grounding.commands import PROMPT, TELLS
from services.knowledge.document.markdown import Block, BlockKind

_OUTPUT_LANGUAGES = frozenset(
    {"text", "output", "json", "yaml", "log", "txt", "none", "toml", "xml"}
)
_OUTPUT_LEAD = re.compile(
    r"\b(?:output|result|response|returns?|looks? like|similar to|you (?:should )?see|error|message"
    r"|prints?|shows?)\b[^.]*:?$",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"^\s*(?:#|//|--\s|REM\b)")
_COMMAND_LINE = re.compile(r"^[a-z./][\w./-]*(?:\s+\S+)+$")
_HERE_DOCUMENT = re.compile(r"<<-?\s*([\"']?)(\w+)\1")
_LONGEST_COMMAND_BLOCK = 12
_LONGEST_EXPECTED = 600
"""Characters; more does not help to compare."""


def commands_of(blocks: Iterable[Block]) -> tuple[str, ...]:
    """Commands of the code blocks and in the sentences, verbatim without prompts, in order."""
    found: list[str] = []
    before = ""
    for block in blocks:
        if block.kind is BlockKind.CODE and not _is_output(block, before):
            found.extend(_commands(block))
        found.extend(inline_commands(block))
        before = block.text
    return tuple(dict.fromkeys(found))


def inline_commands(block: Block) -> tuple[str, ...]:
    """Commands told within a sentence: `run show version`, `with clear counters`."""
    return told_in(block.text, block.inline_code)


def told_in(text: str, codes: Iterable[str]) -> tuple[str, ...]:
    """Those of the marked codes that the text tells to run."""
    return tuple(
        code for code in dict.fromkeys(codes) if _COMMAND_LINE.match(code) and _is_told(text, code)
    )


def _is_told(text: str, code: str) -> bool:
    place = text.find(code)
    return place == 0 or (place > 0 and TELLS.search(text[:place]) is not None)


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
    if not any(PROMPT.match(line) for line in lines):
        return ""
    return "\n".join(line for line in lines if not PROMPT.match(line))


def _is_output(block: Block, before: str) -> bool:
    first = block.text.lstrip().split("\n", 1)[0]
    if PROMPT.match(first):
        return False
    if block.language in _OUTPUT_LANGUAGES:
        return True
    return not block.language and bool(_OUTPUT_LEAD.search(before))


def _commands(block: Block) -> list[str]:
    """One per line; a script stays one piece, and so do continued lines and here-documents."""
    whole = _logical_lines(block.text)
    prompted = [PROMPT.sub("", line) for line in whole if PROMPT.match(line)]
    if prompted:
        return prompted
    whole = [line for line in whole if not _COMMENT.match(line)]
    is_script = any(
        line.startswith((" ", "\t", "}", "{")) or line.endswith(("{", "|")) for line in whole
    )
    if is_script or len(whole) > _LONGEST_COMMAND_BLOCK:
        return ["\n".join(whole)] if whole else []
    return whole


def _logical_lines(text: str) -> list[str]:
    """Lines that hold something, each with the lines that continue it."""
    found: list[str] = []
    until = ""
    for line in text.splitlines():
        continues = bool(found) and found[-1].endswith("\\")
        if until or continues:
            found[-1] += f"\n{line}"
            until = "" if line.strip() == until else until
        elif line.strip():
            found.append(line)
        opened = None if until else _HERE_DOCUMENT.search(line)
        until = opened[2] if opened and line.strip() != opened[2] else until
    return found
