"""Tickets that it takes to change what others are shown, and to take it back."""

import typer

from evaluation.commands.options import AsJson, Out
from evaluation.commands.outcome import finish
from evaluation.commands.progress import progress

app = typer.Typer()


@app.command()
def planting(*, out: Out = None, as_json: AsJson = False) -> None:
    """Count the tickets until one key, three keys and three people change what others see.

    A figure that is missing: not in six tickets. `gone after` is the number of callers whose
    teaching was taken back until nothing was left of it.
    """
    from evaluation.learning.planting import GROUPS, measure  # noqa: PLC0415

    with progress("groups", len(GROUPS)) as advance:
        report = measure(advance)
    finish(report, out, as_json=as_json)
