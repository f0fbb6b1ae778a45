"""`flowxpert learn`: what the tickets of this platform teach, and what of it serves."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.opening import open_database, read_settings
from services.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from services.kit.fits.in_use import StoredFit
    from services.learning.service import Learning, Progress

app = typer.Typer(invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="`finding`, `acceptance` or `boxes`.")]

_ABOUT = {
    "finding": "in which order pages stand for a ticket, and how likely the first is the right one",
    "acceptance": "how likely engineers take a workflow whose page is the right one",
    "boxes": "which form makes a block a step, beside what is shipped",
}


@app.callback()
def learn(context: typer.Context, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Learn from how tickets ended, and from owners' words on boxes of pages.

    Nothing serves before later tickets, or later words, say that it is better.

    Numbers only, in this database only. It works beside a running platform, which has the news
    within a minute. What was learned from a ticket that is gone is made anew without it.
    """
    if context.invoked_subcommand is None:
        with _learning(data_dir) as learning:
            _show(learning.run(), as_json=as_json)


@app.command()
def status(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """What serves and what is tried, without learning anything."""
    with _learning(data_dir) as learning:
        _show(learning.standing(), as_json=as_json)


@app.command()
def take(name: Name, *, data_dir: DataDir = None) -> None:
    """Let what is tried serve now, on your word."""
    with _learning(data_dir) as learning:
        learning.take(name)
    typer.echo(f"{name}: what was tried serves")


@app.command()
def back(name: Name, *, data_dir: DataDir = None) -> None:
    """Let what served before serve again: an earlier fit, or what is shipped."""
    with _learning(data_dir) as learning:
        state = learning.back(name)
    typer.echo(f"{name}: {'an earlier fit' if state else 'what is shipped'} serves")


@contextmanager
def _learning(data_dir: Path | None) -> Iterator["Learning"]:
    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415
    from services.learning.service import Learning  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database, acting_as(LOCAL):
        yield Learning.of(database)


def _show(found: Sequence["Progress"], *, as_json: bool) -> None:
    from services.terminal import show_line  # noqa: PLC0415

    if as_json:
        typer.echo(json.dumps([each.told() for each in found], indent=2))
        return
    for each in found:
        show_line(f"{each.name}: {_ABOUT[each.name]}")
        left_out = f"; {each.left_out} left out: of people who say the same of all"
        show_line(f"  teach it: {each.lessons}{left_out if each.left_out else ''}")
        show_line(f"  serves:   {_of(each.serving) or 'as shipped'}")
        if each.shadow is not None:
            show_line(f"  is tried: {_of(each.shadow)}")
        if each.happened:
            show_line(f"  now:      {each.happened}")


def _of(fit: "StoredFit | None") -> str:
    if fit is None:
        return ""
    told = f"learned from {fit.basis['learned']} on {fit.made_at:%Y-%m-%d %H:%M} UTC"
    if "better_by" not in fit.basis:
        return told
    low, high = fit.basis["low"], fit.basis["high"]
    return (
        f"{told}; better by {fit.basis['better_by']:+.3f} ({low:+.3f} to {high:+.3f})"
        f" on {fit.basis['cases']} later ones"
    )
