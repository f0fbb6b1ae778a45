"""Redaction of secrets and personal data in logs and prompts.

Lines stay lines, and the name of a secret stays beside its mark. Addresses of machines, host names,
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
"""Lines after the beginning of a key whose end is cut off; they may be numbered."""

_NAMES = (
    r"(?:password|passwd|passphrase|secret(?:[_-]?key)?|token|api[_-]?key"
    r"|(?:access|account|shared)[_-]?key|credentials?)"
)
_VALUE = r"[^\s\"'<>${}|,;\\]{6,}"
_SHORT = (
    r"(?!(?:(?-i:[A-Z][A-Z_]+)|(?i:password|passwd|true|false|yes|none|null))(?![^\s\"'|,;&`).@])"
    r"|[~.]{0,2}/)[^\s\"'<>${}|,;\\]{3,}"
)
"""Value of an option that is a secret: no path, no switch, and no stand-in such as `PASSWORD`."""
_OPTIONS = r"(?:[ \t]+[^\s|;&]{1,100}){0,12}?[ \t]+"
"""Words of a command before the option that has its password."""
_NO_WORD = r"(?![a-z_-]{1,64}(?:[\s|;&]|\Z))"
"""Lower-case words are names of databases and files, behind `-p` of tools that ask for it."""

_SECRETS = (
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(
        r"\b(?:gh[opsur]_|github_pat_|gl(?:pat|rt|ptt|dt)-|xox[abeprs]-|sk-|npm_|AIza|hvs\."
        r"|pypi-|dop_v1_|dckr_pat_|sntrys_|glsa_|shpat_|[rs]k_live_|ya29\.|SG\.)[\w.-]{16,}"
    ),
    re.compile(r"\bfx_[0-9a-f]{12}_[\w-]{43}"),
    re.compile(r"(?<=hooks\.slack\.com/services/)[\w/]{16,}"),
    re.compile(r"(?<=:)//[^/\s:@\"']{0,200}:(?P<secret>[^/\s@\"']+)(?=@)"),
    re.compile(r"(?i)\b(?:bearer|basic)\s{1,4}(?P<secret>[\w+/=.~-]{16,})"),
    re.compile(rf"(?i){_NAMES}\b\\?[\"']?\s{{0,20}}[:=]\s{{0,20}}\\?[\"']?(?P<secret>{_VALUE})"),
    re.compile(
        rf"(?i)--(?:[a-z]{{1,20}}-){{0,3}}(?:{_NAMES}|pass|pwd)[ =][\"']?(?P<secret>(?!-){_SHORT})"
    ),
    re.compile(rf"(?i)(?:\b|_)(?:pwd|pass)=[\"']?(?P<secret>(?!/){_VALUE})"),
    re.compile(rf"(?i)\bpassword (?:is|was) [\"']?(?P<secret>(?=[^\s\d]{{0,60}}\d){_VALUE})"),
    re.compile(r"\bPIN(?:[ -]code)?(?: is)?[ :=]{1,3}(?P<secret>\d{4,8})\b"),
    # Options and headers of commands.
    re.compile(
        r"(?i)(?:-H|--header)[ =]?[\"']?(?:(?:proxy-)?authorization|cookie"
        r"|(?:[a-z]{1,20}-){0,3}(?:token|key|secret|auth))"
        r"\s?:\s?(?:[a-z]{1,20} )?(?P<secret>(?!(?:bearer|basic|token|key) )"
        r"[^\s\"'<>${}]{3,})"
    ),
    re.compile(
        rf"(?i)\b(?:curl|wget|https?|ab|influx|svn)\b{_OPTIONS}(?:-u|-U|--user|--proxy-user)[ =]?"
        rf"[\"']?[^\s:\"'<>$]{{1,100}}:(?P<secret>{_SHORT})"
    ),
    re.compile(
        rf"\b(?:mysql|mariadb|mycli|mongo)[\w-]{{0,20}}{_OPTIONS}"
        rf"-p(?:[ \t]+{_NO_WORD})?[\"']?(?P<secret>(?!-){_SHORT})"
    ),
    re.compile(
        r"\b(?:(?:docker|podman|nerdctl|buildah|skopeo|helm registry|oc|az|crane|argocd)[ \t]+"
        rf"login|sshpass){_OPTIONS}-p[ \t]{{0,4}}[\"']?(?P<secret>(?!-){_SHORT})"
    ),
    re.compile(
        rf"\b(?:ldap[a-z]{{2,10}}{_OPTIONS}-w|redis-cli{_OPTIONS}-a|(?:sqlcmd|bcp|ipmitool){_OPTIONS}-P"
        rf"|snmp[a-z]{{2,10}}{_OPTIONS}-[cAX])[ \t]{{1,4}}[\"']?(?P<secret>(?!-){_SHORT})"
    ),
    re.compile(rf"\bsmbclient{_OPTIONS}-U[ \t]{{0,4}}[^\s%]{{1,60}}%(?P<secret>{_SHORT})"),
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
"""Suffixes of `name@instance.unit`: a systemd unit, not an e-mail address."""
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


def redact(text: str) -> str:
    """Replace secrets, e-mail addresses and persons' phone numbers in a text."""
    text = _mask_private_keys(text)
    for pattern in _SECRETS:
        text = pattern.sub(_mask_secret, text)
    text = _ADDRESS.sub(_mask_address, text)
    return _NUMBER.sub(_mask_number, text)


def redact_field(name: str, value: object, depth: int = 0) -> object:
    """Redact the value of a named field at every depth."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if _SECRET_FIELD.search(name) or depth > _DEEPEST:
        return SECRET
    match value:
        case Mapping():
            return {key: redact_field(str(key), each, depth + 1) for key, each in value.items()}
        case list() | tuple() | set():
            return [redact_field(name, each, depth + 1) for each in value]
        case _:
            label = f"{name}: "
            return redact(f"{label}{value}").removeprefix(label)


def _mask_secret(matched: re.Match[str]) -> str:
    """Mask the secret of a match; its name stays."""
    if "secret" not in matched.re.groupindex:
        return SECRET
    start, end = (
        matched.start("secret") - matched.start(),
        matched.end("secret") - matched.start(),
    )
    return matched[0][:start] + SECRET + matched[0][end:]


def _mask_private_keys(text: str) -> str:
    ends = [closing.end() for closing in _KEY_ENDS.finditer(text)]
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


def _mask_address(matched: re.Match[str]) -> str:
    is_unit = matched["last"].lower() in _UNITS
    line = matched.string.rfind("\n", 0, matched.start()) + 1
    before = matched.string[max(line, matched.start() - 400) : matched.start()]
    return matched[0] if is_unit or _REMOTE_SHELL.search(before) else E_MAIL


def _mask_number(matched: re.Match[str]) -> str:
    number = matched["number"]
    digits = sum(map(str.isdigit, number))
    if not 7 <= digits <= 15 or _MACHINE_OR_TIME.fullmatch(number):
        return matched[0]
    return matched[0].removesuffix(number) + PHONE
