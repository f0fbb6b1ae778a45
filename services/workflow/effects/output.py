"""Distinction of typed commands from printed output: logs, tables, traces, configuration, prose."""

import re

from services.workflow.effects.inner import is_wrapper
from services.workflow.effects.output_targets import FETCHING
from services.workflow.effects.queries import is_cmdlet, is_statement
from services.workflow.effects.shell import UnbalancedError, simple_commands
from services.workflow.effects.table import PROGRAMS, READERS

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
    """Return True if the first word is a known program."""
    match = _ASSIGNED.match(line)
    written = match[1].rsplit("/", 1)[-1] if match else ""
    name = "" if written.isupper() and len(written) > 1 else written.casefold()
    return name in READERS or name in PROGRAMS or name in FETCHING or is_wrapper(name)


def is_printed(line: str) -> bool:
    """Return True if a line looks like a program's output, not like something typed."""
    if _STATEMENT.match(line) or is_cmdlet(line):
        return False
    if _PRINTED.match(line) or _HEADER.match(line):
        return True
    if begins_with_program(line):
        return False
    return bool(_PROSE.match(line)) or len(_COLUMNS.findall(line.strip())) >= _LEAST_GAPS


def is_command(text: str) -> bool:
    """Return True if the text can be run: its first line is typed and its quotes close."""
    lines = [line for line in text.splitlines() if line.strip()]
    typed = [line for line in lines if not line.lstrip().startswith("#")]
    if lines and lines[0].startswith("#!"):
        return True
    if not typed:
        return False
    if is_printed(typed[0]):
        return False
    bare = "\n".join(typed)
    if is_statement(bare) or is_cmdlet(bare) or _STATEMENT.match(typed[0]):
        return True
    try:
        return bool(simple_commands(text))
    except UnbalancedError:
        return False
