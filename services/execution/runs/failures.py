"""Commands of pages that targets did not understand when runs sent them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import select

from services.contracts.execution import FailedCommand
from services.execution.runs.events import RunEventKind
from services.execution.tables import RunEventRow, RunRow
from services.kit.sql.database import Database

MOST_LINES = 6
"""Most lines of an error; a longer answer may quote any error from a log."""
MOST_COMMANDS = 1_000
SHOWN_RUNS = 10
_ANSWER_CHARACTERS = 200
_MIN_SHARED = 0.5
"""Least share of a command's fixed words in what was sent.

Below it the tool says something else than the page, and its failure is not the page's.
"""

_BY_WORD = re.compile(
    r"^\s*-?(?:(?:\S*/)?(?:ba|da|k|z|a)?sh: (?:line )?(?:\d+: ?)?)?(?P<word>[^\s:]+): "
    r"(?:command not found|not found|inaccessible or not found)\s*$"
)
"""Error of a shell, which names the word that it does not know."""
_NOT_UNDERSTOOD = re.compile(
    r"^\s*(?:"
    r"%\s*(?:invalid|incomplete|unrecogni[sz]ed|ambiguous|unknown|bad)\b"
    r"|(?:error: )?unknown (?:command|(?:shorthand )?flag|option|operation)\b"
    r"|error: (?:unrecogni[sz]ed|incomplete|ambiguous|wrong) (?:command|parameter)"
    r"|error: the server doesn't have a resource type"
    r"|syntax error, expecting\b"
    r"|\S+: (?:unrecogni[sz]ed|invalid|illegal|unknown) (?:option|command|subcommand)\b"
    r"|\S+: '[^']*' is not an? \S+ command\b"
    r"|the term '[^']*' is not recogni[sz]ed\b"
    r"|'[^']*' is not recogni[sz]ed as an internal or external command"
    r")",
    re.IGNORECASE,
)
"""Errors of shells, Kubernetes' tools, PowerShell and the command lines of network devices."""
_PLACEHOLDER = re.compile(r"[<>{}\[\]$|*]|^[A-Z][A-Z0-9_-]+$")


@dataclass
class _CommandFailure:
    """Failures of one command since it was last understood."""

    runs: dict[str, str] = field(default_factory=dict)
    """Ids of tickets by run, in the order of their failures."""
    first_at: float = 0.0
    last_at: float = 0.0
    target: str = ""
    answer: str = ""


class _CommandSource(NamedTuple):
    document_id: str
    start_line: int
    end_line: int
    command: str


def failed_commands(database: Database, since: float) -> list[FailedCommand]:
    """Return failed commands by document and line; a later success clears a failure.

    A target that could not be reached, and an unexpected answer, say nothing of the page.
    """
    failing: dict[_CommandSource, _CommandFailure] = {}
    for run_id, ticket_id, at, place, target, answer in _sent_commands(database, since):
        if not answer:
            failing.pop(place, None)
            continue
        seen = failing.setdefault(place, _CommandFailure(first_at=at))
        seen.runs.pop(run_id, None)
        seen.runs[run_id] = ticket_id
        seen.last_at, seen.target, seen.answer = at, target, answer
    return [_to_failed_command(place, failing[place]) for place in sorted(failing)][:MOST_COMMANDS]


def find_error_line(command: str, lines: Sequence[str]) -> str:
    """Return the line by which a target rejects the command as unknown; empty if there is none."""
    non_empty = [line for line in lines if line.strip()]
    if len(non_empty) > MOST_LINES:
        return ""
    words = set(re.split(r"[\s;|&()]+", command))
    for line in non_empty:
        by_word = _BY_WORD.match(line)
        if _NOT_UNDERSTOOD.match(line) or (by_word and by_word["word"] in words):
            return line.strip()[:_ANSWER_CHARACTERS]
    return ""


def page_command(commands: Sequence[str], sent: str) -> str:
    """Return the command of a page that was sent, its blanks filled in; empty if there is none."""
    lines = (line.removeprefix("$ ").strip() for text in commands for line in text.split("\n"))
    shares = [(_share(line.split(), sent.split()), line) for line in lines if line[:1] != "#"]
    share, line = max(shares, default=(0.0, ""), key=lambda each: each[0])
    return line if share >= _MIN_SHARED else ""


def _share(own: Sequence[str], sent: Sequence[str]) -> float:
    """Return the share of a command's fixed words that were sent; 0 for another program."""
    if not own or not sent or own[0] != sent[0]:
        return 0.0
    fixed = [word for word in own if not _PLACEHOLDER.search(word)] or [own[0]]
    return sum(word in sent for word in fixed) / len(fixed)


def _sent_commands(
    database: Database, since: float
) -> Iterator[tuple[str, str, float, _CommandSource, str, str]]:
    """Yield run, ticket, time, source, target and rejecting line of each command, oldest first."""
    answered = RunEventRow.kind.in_((RunEventKind.OBSERVED.value, RunEventKind.CHANGED.value))
    events = (
        select(RunEventRow, RunRow.ticket_id)
        .join(RunRow, RunRow.id == RunEventRow.owner_id)
        .where(answered, RunEventRow.at >= since)
        .order_by(RunEventRow.at, RunEventRow.id)
    )
    steps: dict[str, Mapping[str, Any]] = {}
    with database.session() as session:
        for event, ticket_id in session.execute(events.execution_options(yield_per=500)):
            if event.owner_id not in steps:
                run = session.scalar(select(RunRow.run).where(RunRow.id == event.owner_id)) or {}
                steps[event.owner_id] = {each["id"]: each for each in run["workflow"]["steps"]}
            sent = str(event.facts.get("shown", ""))
            step = steps[event.owner_id].get(event.step, {})
            command = page_command(step.get("commands", ()), sent)
            if command and step.get("citations"):
                cited = step["citations"][0]
                lines = cited["start_line"], cited["end_line"]
                place = _CommandSource(cited["document_id"], *lines, command)
                answer = find_error_line(sent, event.facts.get("lines", ()))
                target = str(event.facts.get("target", ""))
                yield event.owner_id, ticket_id, event.at, place, target, answer


def _to_failed_command(place: _CommandSource, seen: _CommandFailure) -> FailedCommand:
    latest = list(seen.runs)[::-1][:SHOWN_RUNS]
    return FailedCommand(
        document_id=place.document_id,
        start_line=place.start_line,
        end_line=place.end_line,
        command=place.command,
        target=seen.target,
        answer=seen.answer,
        times=len(seen.runs),
        first_at=datetime.fromtimestamp(seen.first_at, UTC),
        last_at=datetime.fromtimestamp(seen.last_at, UTC),
        runs=tuple(latest),
        tickets=tuple(dict.fromkeys(seen.runs[run] for run in latest)),
    )
