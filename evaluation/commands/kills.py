"""Processes killed while work goes on."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.commands.options import Out, Seed
from evaluation.commands.outcome import end_on_a_signal
from services.kit.errors import InvalidInputError
from services.kit.files import write_text

if TYPE_CHECKING:
    from evaluation.benches.kills.bench import KillReport

app = typer.Typer()


class PlatformName(StrEnum):
    """How a platform is laid out: all rooms in one process, or each in its own on servers."""

    EMBEDDED = "embedded"
    APART = "apart"


@app.command()
def kills(
    *,
    platform: Annotated[
        list[PlatformName] | None, typer.Option(help="How the rooms are laid out; both ways.")
    ] = None,
    kind: Annotated[list[str] | None, typer.Option(help="What is killed or away; all.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Kills of each kind.")] = 200,
    away: Annotated[
        float, typer.Option(min=0.1, help="Seconds for which a store answers nothing.")
    ] = 2.0,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Kill processes and stores again and again while work goes on, and print what became of it.

    Tickets, uploads and runs that change a simulated device go on meanwhile. Starts what it needs
    and stops it. The exit status is 1 when something was lost, done or sent twice, left, or asked
    again without need.
    """
    from evaluation.benches.kills.bench import KINDS, KillReport, run_kills  # noqa: PLC0415

    all_kinds = {each for kinds in KINDS.values() for each in kinds}
    if unknown := set(kind or ()) - all_kinds:
        raise InvalidInputError(
            f"no kind {min(unknown)!r}; there are: {', '.join(sorted(all_kinds))}"
        )
    end_on_a_signal()
    rows: list[KillReport] = []
    for name in platform or PlatformName:
        for each in [each for each in KINDS[name] if each in (kind or all_kinds)]:
            say = lambda line: typer.echo(line, err=True)  # noqa: E731
            rows.append(run_kills(name, each, count, away_s=away, seed=seed, say=say))
            typer.echo(_line(rows[-1]))
            if out is not None:
                dumped = [row.model_dump() for row in rows]
                write_text(out, json.dumps(dumped, indent=2) + "\n")
    raise typer.Exit(0 if rows and all(row.ok for row in rows) else 1)


def _line(row: "KillReport") -> str:
    figures = row.model_dump()
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in figures.items())
