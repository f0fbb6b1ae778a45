"""Runs as the executor writes them down: a step's command, and what came of it."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from evaluation.benches.staleness.world import workflow_with
from services.contracts.execution import RunMode
from services.deployment.embedded import Embedded
from services.execution.runs.events import NewEvent, RunEventKind
from services.execution.runs.run import Run, RunTicket
from services.execution.runs.store import RunStore
from services.kit.files import read_text
from services.kit.ids import time_ordered_id


def failed_run(platform: Embedded, root: Path, page: str) -> None:
    """The target does not know the command."""
    _run(
        platform,
        root,
        page,
        RunEventKind.OBSERVED,
        lambda word: {"lines": [f"sh: 1: {word}: not found"]},
    )


def answered_run(platform: Embedded, root: Path, page: str) -> None:
    """The target answers as it should."""
    lines = {"lines": ["NAME   STATUS", "one    Ready"]}
    _run(platform, root, page, RunEventKind.OBSERVED, lambda _word: lines)


def unreachable_run(platform: Embedded, root: Path, page: str) -> None:
    """The target is down: that is the fault's doing, and none of the page's."""
    came = {"why": "host-1 cannot be reached: timed out", "is_final": False}
    _run(platform, root, page, RunEventKind.NOT_OBSERVED, lambda _word: came)


def _run(
    platform: Embedded,
    root: Path,
    page: str,
    kind: RunEventKind,
    came: Callable[[str], Mapping[str, object]],
) -> None:
    example = workflow_with(read_text(root / page, errors="replace"), page)
    if example is None:
        return
    workflow, step = example
    command = step.commands[0]
    now = time.time()
    run = Run(
        id=time_ordered_id(),
        ticket=RunTicket(id="bench", title=workflow.title),
        workflow_id="bench",
        workflow=workflow,
        bindings=(),
        tools=(),
        mode=RunMode.READ_ONLY,
        requested_by="bench",
        requested_at=datetime.fromtimestamp(now, UTC),
    )
    request: dict[str, object] = {
        "purpose": "look",
        "tool": "shell",
        "target": "host-1",
        "shown": command,
    }
    request |= {"arguments": {}, "fields": {}, "is_cut": False}
    facts = {**request, **came(command.split()[0])}
    store = RunStore(platform.database, platform.outbox)
    store.start(run, now)
    store.record(store.load(run.id), NewEvent(kind, (step.id, 1), facts), now)
