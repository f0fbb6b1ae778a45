"""What must not leave the platform in a log or a prompt: secrets, and what points to a person.

Lines stay lines, and what names a secret stays beside its mark. Addresses of machines, host names,
versions, error codes and the targets of remote shells stay too: a procedure needs them. Every
pattern is linear in the length of the text.
"""

import re
from bisect import bisect
from collections.abc import Mapping

SECRET = "[redacted]"  # noqa: S105 - what stands in its place
E_MAIL = "[e-mail]"
PHONE = "[phone]"

_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_ENDS = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_LINES = re.compile(r"(?:\s{0,8}(?:\d{1,7} \| )?[A-Za-z0-9+/=\\]{16,}(?=\s|\Z))*")
"""What follows the beginning of a key whose end is cut off; it may stand in numbered lines."""

_NAMES = (
    r"(?:password|passwd|passphrase|secret|token|api[_-]?key|(?:access|account|shared)[_-]?key"
    r"|credentials?)"
)
_VALUE = r"[^\s\"'<>${}|,;\\]{6,}"

_SECRETS = (
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\b(?:gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|sk-|npm_|AIza)[\w-]{16,}"),
    re.compile(r"\bfx_[0-9a-f]{12}_[\w-]{43}"),
    re.compile(r"(?<=hooks\.slack\.com/services/)[\w/]{16,}"),
    re.compile(r"(?<=:)//[^/\s:@\"']{0,200}:(?P<secret>[^/\s@\"']+)(?=@)"),
    re.compile(r"(?i)\b(?:bearer|basic)\s{1,4}(?P<secret>[\w+/=.~-]{16,})"),
    re.compile(rf"(?i){_NAMES}\b\\?[\"']?\s{{0,20}}[:=]\s{{0,20}}\\?[\"']?(?P<secret>{_VALUE})"),
    re.compile(rf"(?i)--{_NAMES}[ =](?P<secret>(?!-){_VALUE})"),
    re.compile(rf"(?i)\b(?:pwd|pass)=(?P<secret>{_VALUE})"),
    # As the configurations of network devices tell them.
    re.compile(r"(?i)\bsnmp-server community (?P<secret>[^\s\"']{1,200})"),
    re.compile(
        r"(?i)\b(?:password|secret|key|key-string|md5|authentication-key|auth-key)"
        r" (?:[05-9]|encrypted|hidden) (?P<secret>[^\s\"']{1,200})"
    ),
    re.compile(
        r"(?i)\b(?:pre-shared-key|key-string|tacacs key|radius key) (?P<secret>[^\s\"']{4,200})"
    ),
)

_ADDRESS = re.compile(
    r"(?<![\w.+/@%-])[A-Za-z0-9][\w.+%-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}(?P<last>[A-Za-z]{2,24})"
    r"(?![\w-]|\.\w|:[\w/~.])"
)
_UNITS = frozenset(
    {"service", "socket", "target", "timer", "mount", "automount"}
    | {"slice", "device", "scope", "path", "swap"}
)
"""What `name@instance.unit` ends in: a unit of systemd, no address."""
_REMOTE_SHELL = re.compile(
    r"\b(?:ssh|sftp|scp|rsync|mosh|ssh-copy-id)(?:\s+-\w+(?:\s+[^\s-]\S{0,80})?){0,6}\s+\Z"
)

_PERSONS = (
    r"(?:tele)?phone(?:[ _-]?(?:number|no))?|tel|mobile|cell|fax|whatsapp|sms|contact|caller"
    r"|requester|requested[ _]by|reported[ _]by|reporter|opened[ _]by|assignee|on[ _-]?call"
)
_NUMBER = re.compile(
    rf"(?i)(?<![A-Za-z])(?:{_PERSONS})\b\.?\\?[\"']?\s{{0,4}}[:=][^\n\d+]{{0,60}}"
    r"(?P<number>\+?\(?\d[\d ()./-]{5,18}\d)(?![\w.:])"
)
_MACHINE_OR_TIME = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\d{4}-\d\d-\d\d\b.*")

_SECRET_FIELD = re.compile(rf"(?i)(?:{_NAMES}|authorization|cookie|private[_-]?key)\Z")
_DEEPEST = 6


def redacted(text: str) -> str:
    """The text without secrets, e-mail addresses and persons' phone numbers."""
    text = _without_private_keys(text)
    for pattern in _SECRETS:
        text = pattern.sub(_hidden, text)
    text = _ADDRESS.sub(_without_address, text)
    return _NUMBER.sub(_without_number, text)


def redacted_field(name: str, value: object, depth: int = 0) -> object:
    """The value of a named field, redacted as deep as it goes."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if _SECRET_FIELD.search(name) or depth > _DEEPEST:
        return SECRET
    match value:
        case Mapping():
            return {key: redacted_field(str(key), each, depth + 1) for key, each in value.items()}
        case list() | tuple() | set():
            return [redacted_field(name, each, depth + 1) for each in value]
        case _:
            told = f"{name}: "
            return redacted(f"{told}{value}").removeprefix(told)


def _hidden(found: re.Match[str]) -> str:
    """What names the secret stays, the secret itself goes."""
    if "secret" not in found.re.groupindex:
        return SECRET
    start, end = (found.start("secret") - found.start(), found.end("secret") - found.start())
    return found[0][:start] + SECRET + found[0][end:]


def _without_private_keys(text: str) -> str:
    ends = [found.end() for found in _KEY_ENDS.finditer(text)]
    parts, at = [], 0
    for begin in _KEY_BEGINS.finditer(text):
        if begin.start() < at:
            continue
        own = bisect(ends, begin.end())
        cut = _KEY_LINES.match(text, begin.end())
        stop = ends[own] if own < len(ends) else cut.end() if cut else begin.end()
        parts += [text[at : begin.start()], SECRET, "\n" * text.count("\n", begin.start(), stop)]
        at = stop
    return "".join([*parts, text[at:]])


def _without_address(found: re.Match[str]) -> str:
    is_unit = found["last"].lower() in _UNITS
    line = found.string.rfind("\n", 0, found.start()) + 1
    before = found.string[max(line, found.start() - 400) : found.start()]
    return found[0] if is_unit or _REMOTE_SHELL.search(before) else E_MAIL


def _without_number(found: re.Match[str]) -> str:
    number = found["number"]
    digits = sum(map(str.isdigit, number))
    if not 7 <= digits <= 15 or _MACHINE_OR_TIME.fullmatch(number):
        return found[0]
    return found[0].removesuffix(number) + PHONE
