"""Placeholders that a command leaves open for its reader, and variables that it sets itself."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

_PLACEHOLDER = re.compile(
    r"(?<![<\w])<(?P<angle>[A-Za-z][\w .:/-]{0,60}?)>"
    r"|\{\{\s*(?P<double>[A-Za-z][\w.-]*)\s*\}\}"
    r"|\$\{(?P<braced>[A-Za-z_]\w*)(?::-[^}]*)?\}"
    r"|(?<![\\\w$])\$(?P<shell>[A-Za-z_]\w*)"
    r"|(?<![\\${\w'.])\{(?P<curly>[A-Za-z][\w -]{0,60}?)\}(?!\})"
    r"|\[(?P<square>(?:your[ _-])?[a-z][a-z _-]{0,40}(?:name|id|ip|address))\]"
    r"|(?<![\w$./-])(?P<capital>(?:YOUR|MY)[_-][A-Z0-9_-]+"
    r"|[A-Z][A-Z0-9]*_(?:NAME|ID|IP|ADDRESS|HOST|HOSTNAME|NODE|POD|NAMESPACE))(?![\w=(])"
    r"|(?<![\w])(?P<blank>[xX]{3,8}|\?{3})(?!\w)"
)
_ASSIGNMENT = re.compile(
    r"(?:^|[;&|]\s*|\b(?:export|local|declare)\s+)([A-Za-z_]\w*)="
    r"|\b(?:read|for)\s+(?:-\w+\s+)*([A-Za-z_]\w*)\b"
    r"|\$([A-Za-z_]\w*)\s*="
    r"|\bforeach\s*\(\s*\$([A-Za-z_]\w*)\s+in\b"
    r"|\$([A-Za-z_]\w*)\s*(?:,\s*\$([A-Za-z_]\w*)\s*)?:=",  # a template of Go
    re.MULTILINE,
)
_SAFE = re.compile(r"(?!-)[\w.:/@%+=-]{1,128}")
"""A label's value is data from outside: nothing that a shell reads as more than one word, or as an
option."""
_VALUE = re.compile(
    r"(?<![\w./:-])(?!\d{4}-\d\d-\d\d)(?=[\w.:/-]*\d)(?=\w*[.:/-])"
    r"(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|(?=[\d.:/-]*[A-Za-z])/?\w[\w.:/-]{1,126}\w)(?![\w/-])"
)
_MOST_OFFERED = 12
_SHOWN_CHARACTERS = 60
_NO_PLACEHOLDERS = frozenset(
    {"home", "path", "user", "pwd", "shell", "hostname", "random", "lang", "term", "print", "next"}
    | {"nf", "nr", "end", "else"}
    | {"_", "true", "false", "null", "args", "matches", "psitem", "psscriptroot", "lastexitcode"}
)
"""Variables that a shell, PowerShell or awk sets by itself, and the words that awk, and templates
of Go, have in braces."""


def placeholder_name(written: str) -> str:
    """Normalise a placeholder's name, so that `<Pod-Name>` and `$POD_NAME` agree."""
    return re.sub(r"[\W_]+", "_", written).strip("_").casefold()


@dataclass(frozen=True)
class Gap:
    """A placeholder that the reader of a command has to fill in."""

    written: str
    """The placeholder as written, brackets included."""
    name: str
    """Name from `placeholder_name`: the same gap in every command of a workflow."""


def split_at_gaps(command: str, set_elsewhere: Collection[str] = ()) -> list[str | Gap]:
    """Split the command into text and gaps, in order; variables it or a shell sets are text.

    `set_elsewhere` are normalised names of variables that other commands of its page set.
    """
    own, segments, end = {*assigned_variables(command), *set_elsewhere}, list[str | Gap](), 0
    for match in _PLACEHOLDER.finditer(command):
        gap = Gap(match[0], placeholder_name(_name(match)))
        if (_is_variable(match) and gap.name in own) or not _is_open(match):
            continue
        segments += [command[end : match.start()], gap]
        end = match.end()
    return [piece for piece in (*segments, command[end:]) if piece]


def placeholders(command: str) -> list[str]:
    """Return the names, as written, that the reader has to fill in: in order, none twice.

    Variables that a shell sets by itself are not open.
    """
    matches = _PLACEHOLDER.finditer(command)
    return list(dict.fromkeys(_name(match) for match in matches if _is_open(match)))


def _name(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)


def _is_variable(match: re.Match[str]) -> bool:
    """Return True if it is written as a variable, which commands can set, unlike `<node>`."""
    return bool(match["shell"] or match["braced"])


def _is_open(match: re.Match[str]) -> bool:
    return bool(match["angle"]) or _name(match).casefold() not in _NO_PLACEHOLDERS


def assigned_variables(command: str) -> set[str]:
    """Return the normalised names of the variables a command sets for later commands."""
    names = (name for groups in _ASSIGNMENT.findall(command) for name in groups if name)
    return {placeholder_name(name) for name in names}


def fill(command: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders that have a value; `values` are by normalised name.

    What the command sets itself, and what a shell sets, stays.
    """
    own = assigned_variables(command)

    def value(match: re.Match[str]) -> str:
        name = placeholder_name(_name(match))
        is_set = _is_variable(match) and name in own
        return values.get(name, match[0]) if _is_open(match) and not is_set else match[0]

    return _PLACEHOLDER.sub(value, command)


def values_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the values of labels by the names of the placeholders that they fill.

    `<Pod-Name>` and `$POD_NAME` are the label `pod_name`. Values that are more than one plain word
    are left to the engineer.
    """
    return {placeholder_name(n): v for n, v in labels.items() if _SAFE.fullmatch(v)}


def unfit_values(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the values that `values_of` leaves out, each cut to one short line."""
    return {
        placeholder_name(name): " ".join(value.split())[:_SHOWN_CHARACTERS]
        for name, value in labels.items()
        if value.strip() and not _SAFE.fullmatch(value)
    }


def values_in(text: str) -> list[str]:
    """Return values in a text that may fill a placeholder: addresses, hosts, devices, versions.

    These are words with a digit and a sign within them, numbers and times aside, in order, none
    twice, at most twelve.
    """
    return list(dict.fromkeys(_VALUE.findall(text)))[:_MOST_OFFERED]
