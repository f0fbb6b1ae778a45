"""Commands and shown output among the code of a step."""

import re
from collections.abc import Iterable

from services.knowledge.document.markdown import Block
from services.language.commands import PROMPT, TELLS

_OUTPUT_LANGUAGES = frozenset(
    {"text", "output", "json", "yaml", "log", "txt", "none", "toml", "xml"}
)
_OUTPUT_LEAD = re.compile(
    r"\b(?:outputs?|results?|response|returns?|looks? like|similar to|you (?:should )?see|error"
    r"|message|prints?|shows?|example)\b[^.]*:?$",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"^\s*(?:#|//|--\s|REM\b)")
_COMMAND_LINE = re.compile(r"^[A-Za-z./][\w./-]*(?:\s+\S+)+$")
_HERE_DOCUMENT = re.compile(r"<<-?\s*([\"']?)(\w+)\1")
_LONGEST_COMMAND_BLOCK = 12
_LONGEST_SCRIPT = 4000
"""Characters; a longer one is looked up in its lines."""
_LONGEST_EXPECTED = 600
"""Characters; more does not help to compare."""


def told_in(text: str, codes: Iterable[str]) -> tuple[str, ...]:
    """Those of the marked codes that the text tells to run."""
    return tuple(
        code for code in dict.fromkeys(codes) if _COMMAND_LINE.match(code) and _is_told(text, code)
    )


def _is_told(text: str, code: str) -> bool:
    place = text.find(code)
    return place == 0 or (place > 0 and TELLS.search(text[:place]) is not None)


def is_output(block: Block, before: str) -> bool:
    """Whether a code block shows what comes back; `before` is what is said before it."""
    first = block.text.lstrip().split("\n", 1)[0]
    if PROMPT.match(first):
        return False
    if block.language in _OUTPUT_LANGUAGES:
        return True
    return bool(_OUTPUT_LEAD.search(before)) and "command" not in before.lower()[-40:]


def commands_of(block: Block) -> tuple[str, ...]:
    """One per line; a script stays one piece, and so do continued lines and here-documents."""
    whole = _logical_lines(block.text)
    prompted = [PROMPT.sub("", line) for line in whole if PROMPT.match(line)]
    if prompted:
        return tuple(line for line in prompted if len(line) <= _LONGEST_SCRIPT)
    told = [line for line in whole if not _COMMENT.match(line)]
    is_script = any(
        line.startswith((" ", "\t", "}", "{")) or line.endswith(("{", "|")) for line in told
    )
    if is_script or len(told) > _LONGEST_COMMAND_BLOCK:
        return (block.text,) if told and len(block.text) <= _LONGEST_SCRIPT else ()
    return tuple(line for line in told if len(line) <= _LONGEST_SCRIPT)


def shown_in(block: Block) -> str:
    """What a recorded session shows after its commands, cut when long."""
    lines = block.text.splitlines()
    if any(PROMPT.match(line) for line in lines):
        lines = [line for line in lines if not PROMPT.match(line)]
    return "\n".join(lines)[:_LONGEST_EXPECTED].rstrip()


def is_session(block: Block) -> bool:
    """Whether it shows commands after a prompt."""
    return any(PROMPT.match(line) for line in block.text.splitlines())


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
