"""Separation of commands and output in the code blocks of a page, line by line."""

import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import groupby
from textwrap import dedent
from typing import NamedTuple, Protocol

from services.language.cues import COMMAND_LEAD_IN, PROMPT
from services.workflow.effects.output import begins_with_program, is_printed
from services.workflow.effects.queries import is_cmdlet

_OUTPUT_LANGUAGES = frozenset(
    {"text", "output", "json", "yaml", "log", "txt", "none", "toml", "xml"}
)
_OUTPUT_WORD = re.compile(
    r"\b(?:outputs?|results?|response|returns?|looks? like|similar to|you (?:should )?see|error"
    r"|message|prints?|shows?)\b",
    re.IGNORECASE,
)
_SEEN = re.compile(
    r"\b(?:you|we) (?:should|will|would|may|might|can)(?: now| then)? see\b"
    r"|\b(?:looks?|something|be|is|are) (?:like|similar to)\b|\b(?:example|sample) outputs?\b",
    re.IGNORECASE,
)
"""Phrases by which a whole sentence announces output below it."""
_CONDITION = re.compile(r"^(?:if|when|once|where|while|after|until|unless)\b[^,]*,\s*")
_SHELLS = frozenset(
    {"sh", "bash", "shell", "zsh", "console", "shell-session", "powershell", "ps1", "cmd", "bat"}
)
_PROGRAM = re.compile(
    r"(?:sudo|kubectl|oc|helm|docker|podman|crictl|ctr|systemctl|service|journalctl|ceph|rados|rbd"
    r"|etcdctl|virsh|curl|wget|ssh|scp|ls|cat|cd|cp|mv|rm|grep|awk|sed|df|du|ps|top|free|mount|umount"
    r"|ip|ping|dig|nslookup|netstat|ss|lsof|dmesg|chmod|chown|mkdir|tail|head|less|vi|vim|nano"
    r"|yum|dnf|apt|apt-get|rpm|dpkg|zypper|git|python3?|psql|mysql|redis-cli|aws|az|gcloud|cray"
    r"|export|echo|reboot|shutdown|iptables|sysctl|lsblk|fdisk|mdadm|ethtool|ipmitool|\.?/[\w./-]+"
    r"|[a-z]+(?:ctl|adm))(?:\s|$)(?!(?:the|a|an|if|and|to|is|all|your|this)\b)"
)
"""Programs whose names distinguish a command line from a comment."""
_COMMENT = re.compile(r"^\s*(?:<?#|//|--\s|REM\b)")
_NAMES = re.compile(r"\b(?:with|via|by|through)[:,]?\s*$", re.IGNORECASE)
"""Words that precede a command as often as a name or the text of an error."""
_COMMAND_LINE = re.compile(r"^[A-Za-z./][\w./-]*(?:\s+\S+)+$")
_ANNOUNCED = re.compile(r"[A-Z][a-z]+ .*\w:\s*$")
"""Sentence that introduces what follows it, even if its first word is also a program's name."""
_STATE = re.compile(r"\s*[A-Za-z][\w ./-]*:(?:\s|$)")
_HERE_DOCUMENT = re.compile(r"<<-?\s*([\"']?)(\w+)\1")
_REMARK_ENDS = "#>"
"""End of a comment of several lines, which `<#` begins."""
_OPENS = re.compile(
    r"(?:[{(\[]|\b(?:then|do|else))\s*$|^\s*\}?\s*(?:if|elseif|for|foreach|while|try|catch)\b.*\)\s*$",
    re.IGNORECASE,
)
"""Lines of a script that further lines belong to."""
_LANGUAGES = frozenset({"ruby", "rb", "python", "py", "perl", "go", "javascript", "js", "sql"})
_LONGEST_COMMAND_BLOCK = 12
_LONGEST_SCRIPT = 4000
"""Limit in characters; a longer script is left to be looked up on its page."""


class Code(Protocol):
    """A code block: its content and the language that its fence names."""

    @property
    def text(self) -> str:
        """Content, verbatim."""

    @property
    def language(self) -> str:
        """First word of the info string, lower case; empty without one."""


class PageCode(NamedTuple):
    """A code block of a page. Implements `Code`."""

    text: str
    language: str = ""


class CodeUse(StrEnum):
    """Use of lines in a code block."""

    COMMAND = "command"
    COMMENT = "comment"
    OUTPUT = "output"


class CodePart(NamedTuple):
    """Lines of a code block that share one use."""

    use: CodeUse
    text: str
    """Text as typed or printed, without the prompt."""
    prompt: str = ""
    """Prompt before a command, which may name the host."""


def inline_commands(text: str, codes: Iterable[str]) -> tuple[str, ...]:
    """Return the marked codes that the text tells the reader to run."""
    return tuple(
        code
        for code in dict.fromkeys(codes)
        if _COMMAND_LINE.match(code) and _is_to_be_run(text, code)
    )


def _is_to_be_run(text: str, code: str) -> bool:
    before, matched, behind = text.partition(code)
    if not matched:
        return False
    behind = behind.strip(" .:")
    is_program = begins_with_program(code)
    if not before or before.endswith("(") or _NAMES.search(before):
        return is_program or not (before or behind)
    is_apart = before.endswith(": ") and (not behind or behind.startswith("("))
    return (is_apart and is_program) or COMMAND_LEAD_IN.search(before) is not None


def is_output(block: Code, before: str) -> bool:
    """Return True if a code block shows output; `before` is the text before the block."""
    lines = [line.strip() for line in block.text.splitlines() if line.strip()]
    code_lines = [line for line in lines if not _COMMENT.match(line)]
    first = code_lines[0] if code_lines else ""
    if any(PROMPT.match(line) for line in (*lines[:1], first)):
        return False
    if block.language in _OUTPUT_LANGUAGES:
        return not code_lines or not all(map(begins_with_program, code_lines))
    is_typed = is_cmdlet(first) or (block.language in _SHELLS and begins_with_program(first))
    if _announces_output(before) and not is_typed:
        return True
    is_shown = bool(code_lines) and (is_printed(first) or _is_state(first))
    return is_shown and not is_session(block) and not _is_program(block)


def _announces_output(before: str) -> bool:
    """Return True if the last clause announces output, with no command mentioned near it."""
    text = before.rstrip().lower()
    last = re.split(r"\.\s+", text.rstrip("."))[-1]
    clause = _CONDITION.sub("", last)
    matches = list((_SEEN if text.endswith(".") else _OUTPUT_WORD).finditer(clause))
    return bool(matches) and "command" not in clause[-40:] + clause[matches[-1].end() :]


def commands_of(block: Code) -> tuple[str, ...]:
    """Return the commands of a block, one per line; a script stays one piece.

    Continued lines and here-documents stay together. Printed text is left out: logs, tables,
    configuration.
    """
    text = dedent(block.text)
    whole, rooted = _logical_lines(text), _root_commands(text)
    prompted = [bool(PROMPT.match(line.lstrip())) or line[2:].strip() in rooted for line in whole]
    if any(prompted):
        before = [line for line in whole[: prompted.index(True)] if not _COMMENT.match(line)]
        is_typed = all(
            begins_with_program(line) and not (is_printed(line) or line[0].isupper())
            for line in before
        )
        shown = (
            _without_prompt(line, rooted)
            for line, is_it in zip(whole, prompted, strict=True)
            if is_it
        )
        session = (*(before if is_typed else ()), *shown)
        return tuple(line for line in session if len(line) <= _LONGEST_SCRIPT)
    code_lines = [line for line in whole if not _COMMENT.match(line)]
    if not code_lines or (
        (is_printed(code_lines[0]) or _is_state(code_lines[0])) and not _is_program(block)
    ):
        return ()
    typed = code_lines if _is_program(block) else _typed_lines(code_lines)
    is_script = any(
        line.startswith((" ", "\t", "}", "{")) or line.endswith(("{", "|")) for line in typed
    )
    if is_script or len(typed) > _LONGEST_COMMAND_BLOCK:
        script = block.text if len(typed) == len(code_lines) else "\n".join(typed)
        return (script,) if len(script) <= _LONGEST_SCRIPT else ()
    return tuple(line for line in typed if len(line) <= _LONGEST_SCRIPT)


def code_parts(code: Code, before: str = "") -> list[CodePart]:
    """Split a block into parts in order: each command by itself, other lines grouped by use.

    A command keeps the lines that continue it, a script its comments. `before` is the sentence
    above the block.
    """
    commands = () if is_output(code, before) else commands_of(code)
    if not commands:
        return [CodePart(CodeUse.OUTPUT, code.text)]
    if commands == (code.text,):
        return [CodePart(CodeUse.COMMAND, code.text)]
    text = dedent(code.text)
    rooted = _root_commands(text)
    lines = [line for command in commands for line in (command, *command.split("\n"))]
    line_parts: list[CodePart] = []
    for line in _logical_lines(text):
        typed = _without_prompt(line, rooted)
        if typed in lines or line in lines:
            command = typed if typed in lines else line
            line_parts.append(
                CodePart(CodeUse.COMMAND, command, line[: line.rfind(command)].strip())
            )
        else:
            is_comment = bool(_COMMENT.match(line))
            line_parts.append(CodePart(CodeUse.COMMENT if is_comment else CodeUse.OUTPUT, line))
    is_script = len(commands) == 1 and "\n" in commands[0]
    parts: list[CodePart] = []
    for use, group in groupby(line_parts, key=lambda part: part.use):
        if use is CodeUse.COMMAND and not is_script:
            parts += group
        else:
            parts.append(CodePart(use, "\n".join(part.text for part in group)))
    return parts


def _typed_lines(lines: list[str]) -> list[str]:
    """Return the typed lines; after a printed line only those that begin with a program."""
    if any(_OPENS.search(line) and not is_printed(line) for line in lines):
        return lines
    typed: list[str] = []
    is_shown = False
    for line in lines:
        is_table = not line.startswith((" ", "\t")) and "\n" not in line and is_printed(line)
        is_shown = is_table or _is_state(line) or (is_shown and not begins_with_program(line))
        typed += [] if is_shown else [line]
    return typed


def _is_program(block: Code) -> bool:
    """Return True if the block is code in a language other than shell."""
    return block.language in _LANGUAGES or block.text.startswith("#!")


def _is_state(line: str) -> bool:
    """Return True if a program prints such a state: `health: HEALTH_ERR`, `Type 'A' raised:`."""
    is_key = _STATE.match(line) is not None and not begins_with_program(line)
    return is_key or _ANNOUNCED.match(line) is not None


def _root_commands(text: str) -> tuple[str, ...]:
    """Return the commands of a block in which `# ` is the prompt of root; none otherwise."""
    lines = [line for line in text.splitlines() if line.strip()]
    marked = tuple(line[2:].strip() for line in lines if line.startswith("# "))
    is_prompt = any(line.startswith("$ ") for line in lines) or len(marked) == len(lines)
    if not is_prompt or not all(_PROGRAM.match(line) for line in marked):
        return ()
    return marked


def _without_prompt(line: str, rooted: tuple[str, ...]) -> str:
    return line[2:].strip() if line[2:].strip() in rooted else PROMPT.sub("", line.lstrip())


def is_session(block: Code) -> bool:
    """Return True if the block shows commands after a prompt."""
    return any(PROMPT.match(line.lstrip()) for line in block.text.splitlines())


def _logical_lines(text: str) -> list[str]:
    """Return non-empty lines, each joined with the lines that continue it."""
    lines: list[str] = []
    until = ""
    for line in text.splitlines():
        continues = bool(lines) and lines[-1].endswith(("\\", " `"))
        if until or continues:
            lines[-1] += f"\n{line}"
            is_over = line.strip() == until or (until == _REMARK_ENDS and until in line)
            until = "" if is_over else until
        elif line.strip():
            lines.append(line)
        if until:
            continue
        opened = _HERE_DOCUMENT.search(line)
        if opened and line.strip() != opened[2]:
            until = opened[2]
        elif line.lstrip().startswith("<#") and _REMARK_ENDS not in line:
            until = _REMARK_ENDS
    return lines
