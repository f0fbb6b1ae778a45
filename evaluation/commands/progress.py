"""How far a benchmark is, for whoever waits for it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

_SECONDS_BETWEEN_LINES = 15


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, lines elsewhere; what it gives is called for each that is done."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines_of_progress(title, total)
        return
    with Progress(console=console) as bars:
        task = bars.add_task(title, total=total)
        yield lambda: bars.advance(task)


def _lines_of_progress(title: str, total: int) -> Callable[[], None]:
    """A line now and then, for logs, where a bar would show at the end only."""
    done, last_line_at = 0, time.monotonic()

    def advance() -> None:
        nonlocal done, last_line_at
        done += 1
        if done == total or time.monotonic() - last_line_at >= _SECONDS_BETWEEN_LINES:
            last_line_at = time.monotonic()
            typer.echo(f"{title}: {done} of {total}", err=True)

    return advance
