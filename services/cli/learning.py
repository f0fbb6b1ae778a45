"""`flowxpert learn`: fit numbers to this platform's tickets, and choose what serves."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.platform_access import AsJson, DataDir, open_database, read_settings

if TYPE_CHECKING:
    from services.contracts.teaching import TeacherSummary
    from services.kit.fits.in_use import StoredFit
    from services.learning.service import LearningProgress, SiteLearning
    from services.tickets.teaching import TeachingService

app = typer.Typer(invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="`finding`, `acceptance` or `boxes`.")]

Caller = Annotated[
    str,
    typer.Argument(help="As the list has it, such as `key bot`; or the person of several keys."),
]

_ABOUT = {
    "finding": "in which order pages stand for a ticket, and how likely the first is the right one",
    "acceptance": "how likely engineers take a workflow whose page is the right one",
    "boxes": "which form makes a block a step, beside what is shipped",
}


@app.callback()
def learn(context: typer.Context, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Learn from how tickets ended, and from owners' corrections of boxes of pages.

    Nothing serves before later tickets, or later corrections, say that it is better.

    Numbers only, in this database only. It works beside a running platform, which has the news
    within a minute. What was learned from a ticket that is gone is made anew without it.
    """
    if context.invoked_subcommand is None:
        with _learning(data_dir) as learning:
            _show(learning.run(), as_json=as_json)


@app.command()
def status(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show what serves and what is tried, without learning anything."""
    with _learning(data_dir) as learning:
        _show(learning.progress(), as_json=as_json)


@app.command()
def take(name: Name, *, data_dir: DataDir = None) -> None:
    """Promote what is tried, on your word."""
    with _learning(data_dir) as learning:
        learning.promote(name)
    typer.echo(f"{name}: what was tried serves")


@app.command()
def back(name: Name, *, data_dir: DataDir = None) -> None:
    """Roll back to what served before: an earlier fit, or what is shipped."""
    with _learning(data_dir) as learning:
        state = learning.rollback(name)
    typer.echo(f"{name}: {'an earlier fit' if state else 'what is shipped'} serves")


@app.command()
def teachers(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List whose work is learned from, as whom they count, and what is taken back of it."""
    with _teaching(data_dir) as teaching:
        _show_teachers(teaching.teachers(), as_json=as_json)


@app.command()
def withdraw(caller: Caller, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Take back all that a caller taught so far; numbers that rest on it are learned anew."""
    from services.contracts.teaching import TeachingWithdrawal  # noqa: PLC0415

    with _teaching(data_dir) as teaching:
        _show_teachers(teaching.withdraw(TeachingWithdrawal(caller=caller)), as_json=as_json)
    with _learning(data_dir) as learning:
        learning.run()


@app.command()
def restore(caller: Caller, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Let count again what was taken back of a caller."""
    with _teaching(data_dir) as teaching:
        _show_teachers(teaching.restore(caller), as_json=as_json)


@contextmanager
def _teaching(data_dir: Path | None) -> Iterator["TeachingService"]:
    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415
    from services.kit.queue.outbox import Outbox  # noqa: PLC0415
    from services.tickets.teaching import TeachingService  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database, acting_as(LOCAL):
        yield TeachingService(database, Outbox(database))


def _show_teachers(summaries: Sequence["TeacherSummary"], *, as_json: bool) -> None:
    from services.cli.terminal import show_line  # noqa: PLC0415

    if as_json:
        typer.echo(json.dumps([each.model_dump(mode="json") for each in summaries], indent=2))
        return
    for each in summaries:
        beyond = f", {each.beyond} beyond the bound of a day" if each.beyond else ""
        back = f", taken back {each.withdrawn_at:%Y-%m-%d %H:%M} UTC" if each.withdrawn_at else ""
        show_line(f"{each.caller} ({each.teacher}): taught by {each.subjects}{beyond}{back}")
    if not summaries:
        show_line("nobody has taught anything yet")


@contextmanager
def _learning(data_dir: Path | None) -> Iterator["SiteLearning"]:
    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415
    from services.learning.service import SiteLearning  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database, acting_as(LOCAL):
        yield SiteLearning.of(database)


def _show(subjects: Sequence["LearningProgress"], *, as_json: bool) -> None:
    from services.cli.terminal import show_line  # noqa: PLC0415

    if as_json:
        typer.echo(json.dumps([each.as_json() for each in subjects], indent=2))
        return
    for each in subjects:
        show_line(f"{each.name}: {_ABOUT[each.name]}")
        left_out = f"; {each.left_out} left out: their people say the same of all, or do not count"
        show_line(f"  teach it: {each.lessons}{left_out if each.left_out else ''}")
        show_line(f"  serves:   {_describe_fit(each.serving) or 'as shipped'}")
        if each.shadow is not None:
            show_line(f"  is tried: {_describe_fit(each.shadow)}")
        if each.happened:
            show_line(f"  now:      {each.happened}")


def _describe_fit(fit: "StoredFit | None") -> str:
    if fit is None:
        return ""
    origin = f"learned from {fit.basis['learned']} on {fit.made_at:%Y-%m-%d %H:%M} UTC"
    if "better_by" not in fit.basis:
        return origin
    low, high = fit.basis["low"], fit.basis["high"]
    return (
        f"{origin}; better by {fit.basis['better_by']:+.3f} ({low:+.3f} to {high:+.3f})"
        f" on {fit.basis['cases']} later ones"
    )
