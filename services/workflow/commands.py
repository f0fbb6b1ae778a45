"""What a command leaves open for whoever runs it, and what it sets itself."""

import re
from collections.abc import Mapping

_PLACEHOLDER = re.compile(
    r"(?<![<\w])<(?P<angle>[A-Za-z][\w .:/-]{0,60}?)>"
    r"|\{\{\s*(?P<double>[A-Za-z][\w.-]*)\s*\}\}"
    r"|\$\{(?P<braced>[A-Za-z_]\w*)(?::-[^}]*)?\}"
    r"|(?<![\\\w$])\$(?P<shell>[A-Za-z_]\w*)"
    r"|(?<![\\${\w'.])\{(?P<curly>[A-Za-z][\w -]{0,60}?)\}(?!\})"
)
_ASSIGNED = re.compile(
    r"(?:^|[;&|]\s*|\b(?:export|local|declare)\s+)([A-Za-z_]\w*)="
    r"|\b(?:read|for)\s+(?:-\w+\s+)*([A-Za-z_]\w*)\b"
    r"|\$([A-Za-z_]\w*)\s*=",
    re.MULTILINE,
)
_NOT_OPEN = frozenset(
    {"home", "path", "user", "pwd", "shell", "hostname", "random", "lang", "term", "print", "next"}
)
"""Variables that a shell sets by itself, and the words awk puts in braces."""


def placeholder_name(written: str) -> str:
    """The name two ways of writing a placeholder share: `<Pod-Name>` and `$POD_NAME` agree."""
    return re.sub(r"[\W_]+", "_", written).strip("_").casefold()


def placeholders(command: str) -> list[str]:
    """Names as written of what the reader has to fill in, in order, none twice.

    Variables that a shell sets by itself are not open.
    """
    names: dict[str, None] = {}
    for found in _PLACEHOLDER.finditer(command):
        name = next(group for group in found.groups() if group)
        if found["angle"] or name.casefold() not in _NOT_OPEN:
            names[name] = None
    return list(names)


def assigned(command: str) -> set[str]:
    """Normalised names of the variables a command sets for the commands after it."""
    names = (name for groups in _ASSIGNED.findall(command) for name in groups if name)
    return {placeholder_name(name) for name in names}


def fill(command: str, values: Mapping[str, str]) -> str:
    """The command with the placeholders that have a value filled; `values` by normalised name.

    What the command sets itself, and what a shell sets, stays.
    """
    own = assigned(command)

    def value(found: re.Match[str]) -> str:
        written = next(group for group in found.groups() if group)
        name = placeholder_name(written)
        is_open = found["angle"] or written.casefold() not in _NOT_OPEN
        return values.get(name, found[0]) if is_open and name not in own else found[0]

    return _PLACEHOLDER.sub(value, command)
