"""The command line, called in this process or started in one of its own."""

import io
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

from services.cli import commands, terminal

Done = subprocess.CompletedProcess[str]


def flowxpert(*arguments: str, **variables: str) -> Done:
    """Called here, which takes no start: what it prints and its status."""
    printed, complained = io.StringIO(), io.StringIO()
    columns = int(variables.get("COLUMNS", 80))  # a console looks once, when it is made
    with (
        patch.object(sys, "argv", ["flowxpert", *arguments]),
        patch.object(sys, "stdin", io.StringIO()),
        patch.dict(os.environ, variables),
        patch.object(terminal.console, "_width", columns),
        patch.object(terminal.errors, "_width", columns),
        redirect_stdout(printed),
        redirect_stderr(complained),
    ):
        status = _status()
    return Done(arguments, status, printed.getvalue(), complained.getvalue())


def _status() -> int:
    stops = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        commands.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        for number, handler in stops.items():
            signal.signal(number, handler)
    return 0


def started(*arguments: str, **variables: str) -> Done:
    """As a person or a program calls it, waited for until its end."""
    return subprocess.run(
        [sys.executable, "-m", "services.cli", *arguments],
        env=os.environ | {"OMP_NUM_THREADS": "1"} | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
