"""What is typed, told from what is printed: logs, tables, traces, configuration, prose."""

import re

from services.workflow.effects.inner import runs_others
from services.workflow.effects.programs import PROGRAMS, READERS
from services.workflow.effects.queries import is_cmdlet, is_statement
from services.workflow.effects.shell import UnbalancedError, simple_commands
from services.workflow.effects.writing import FETCHING

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_PRINTED = re.compile(
    r"^\s*(?:"
    r"[EWIFD]\d{4}\s+\d\d:\d\d|[\w.-]+\.\w+:\d+\]"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d(?:[T _]|\b)|\[?\d\d:\d\d:\d\d"
    rf"|{_MONTH}\s+\d+\s+\d\d:\d\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\s+(?:{_MONTH}|\d)"
    r"|(?:level|ts|time|msg|caller|err|error)=\S"
    r"|\[\s*\d+\.\d+\]|\[(?:\w+ *)?(?:INFO|WARN\w*|ERROR|DEBUG|FATAL|NOTICE)\b"
    r"|(?:ERROR|WARN|WARNING|FATAL|INFO|DEBUG|Error|Warning|Exception|Traceback|Failed|Unable"
    r"|FAILED|PASS|FAIL|OK)[\s:\[(]"
    r"|\[[\w/-]+\] [A-Z][a-z]+|diff --git |index [0-9a-f]+\.\.|at [\w.$<>]+\("
    r"|File \".*\", line|goroutine \d|Caused by|\.\.\. \d+ more"
    r"|[-+=|*_ ]{3,}$|\|.*\|\s*$|\+[-=+]+|\(\d+ rows?\)|[├└│┌┐┘╭╰•✓✔✗]"
    r"|[{}\[\]]+[,;]?\s*$|\{\s*\"|\"[^\"]*\"\s*[:,]|\"[^\"]*\"\s*$|-\s+\w+:"
    r"|[\w.@/\"'\[\]-]*[\w\])]:(?:\s|$)|[A-Za-z][\w() .-]{0,40}?\s+:(?:\s|$)|<\?xml"
    r"|</?[A-Za-z][\w:.-]*(?:\s+[\w:-]+=[^>]*)?/?>(?:.*</\w+>)?\s*$"
    r"|\[[\w. -]+\]\s*$|[\w.-]+ = |(?!\d+ (?:permit|deny|remark)\b)\d[\d.:%/,]*(?:\s|$)"
    r"|\.\.\.|<snip|---|\w+\([^)]|\w+\{[^}]*[=~]"
    r"|(?:sum|avg|min|max|count|rate|increase|topk|absent)\s+(?:by|without)\b"
    r")"
)
_STATEMENT = re.compile(r"^\s*[A-Z]+\b.*;\s*$|^\s*(?:SELECT|SHOW|EXPLAIN|UPDATE|DELETE|INSERT)\b")
_HEADER = re.compile(r"^\s*[A-Z][A-Z0-9_()%/.#-]+(?:\s+[A-Z][A-Z0-9_()%/.:#-]*)+\s*$")
_COLUMNS = re.compile(r"\S(?: {2,}|\t+)(?=\S)")
_PROSE = re.compile(
    r"^[A-Z][a-z]+(?:,? [a-z'\u2019]+){3,}(?:[^|$=-]|(?<=\w)-(?=\w))*$"
    r"|^(?:The|This|If|You|It|There|When)\s[a-z]"
)
_LEAST_GAPS = 3
_ASSIGNED = re.compile(r"^\s*(?:sudo\s+|[A-Za-z_]\w*=\S*\s+)*(\S+)")


def begins_with_program(line: str) -> bool:
    """Whether the first word is a program that is known here."""
    found = _ASSIGNED.match(line)
    written = found[1].rsplit("/", 1)[-1] if found else ""
    name = "" if written.isupper() and len(written) > 1 else written.casefold()
    return name in READERS or name in PROGRAMS or name in FETCHING or runs_others(name)


def is_printed(line: str) -> bool:
    """Whether a line is written as what a program prints, not as what is typed."""
    if _STATEMENT.match(line) or is_cmdlet(line):
        return False
    if _PRINTED.match(line) or _HEADER.match(line):
        return True
    if begins_with_program(line):
        return False
    return bool(_PROSE.match(line)) or len(_COLUMNS.findall(line.strip())) >= _LEAST_GAPS


def is_command(text: str) -> bool:
    """Whether the text can be run as it stands: its first line is typed and its quotes close."""
    lines = [line for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.lstrip().startswith("#")]
    if lines and lines[0].startswith("#!"):
        return True
    if not told:
        return False
    if is_printed(told[0]):
        return False
    bare = "\n".join(told)
    if is_statement(bare) or is_cmdlet(bare) or _STATEMENT.match(told[0]):
        return True
    try:
        return bool(simple_commands(text))
    except UnbalancedError:
        return False
