"""What a command is, judged by how it is written: whether it only looks, what it leaves open."""

import re
from collections.abc import Mapping

from services.workflow.dangers import danger_of

_LOOKS = re.compile(
    r"^\s*(?:\S*[#$>%]\s+)?(?:sudo\s+)?(?:"
    r"(?:show|display|get|describe|list|cat|less|tail|head|grep|zgrep|awk|ls|df|du|ps|top|free|uptime"
    r"|ping\d?|traceroute|tracert|mtr|dig|nslookup|host|dmesg|journalctl|lsblk|lspci|lsof|ss|netstat"
    r"|ethtool|sensors|smartctl|mount|stat|md5sum|sha256sum|tcpdump|vmstat|iostat|sar|date|who|w|id"
    r"|hostname|uname|printenv|echo|wc|diff|promtool|amtool)\b"
    r"|ip\s+(?:-\S+\s+)*(?:a|addr|address|link|route|neigh)(?:\s+(?:show|list|get)\b|\s*$)"
    r"|systemctl\s+(?:status|is-\w+|list-\w+|show)\b"
    r"|(?:kubectl|oc)\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*(?:get|describe|logs|top|explain|version|events|cluster-info|auth)\b"
    r"|oc\s+adm\s+(?:top|inspect|must-gather|node-logs)\b"
    r"|(?:docker|podman|crictl)\s+(?:ps|logs|inspect|stats|images|info)\b"
    r"|ceph\s+(?:-s|status|health|df|osd\s+(?:tree|df|stat))\b"
    r"|git\s+(?:status|log|diff|show)\b|curl\s+(?!.*-X\s*(?:POST|PUT|DELETE|PATCH))"
    r"|select\b|explain\b|(?:Get|Test|Measure|Find|Resolve)-\w+)",
    re.IGNORECASE,
)

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


def only_looks(command: str) -> bool:
    """Whether a command reads and changes nothing, as far as its first words tell."""
    return bool(_LOOKS.match(command)) and danger_of(command) is None


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
