"""Whether learning on site makes a team's own later tickets go better."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.commands.options import AsJson, DataDir, OldWorkflows, Out, PairsFile, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.progress import progress
from services.kit.files import require_file

if TYPE_CHECKING:
    from services.deployment.embedded import Embedded

app = typer.Typer()


@app.command("learn")
def learn(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    unknown: Annotated[
        Path, typer.Option(help="JSON Lines of alerts that no page treats.", callback=require_file)
    ],
    tickets: Annotated[
        Path, typer.Option(help="JSON Lines of tickets, each with its page.", callback=require_file)
    ],
    old: OldWorkflows = None,
    triage: Annotated[
        Path | None,
        typer.Option(
            help="JSON Lines of tickets: `text` and `team`, oldest first.", callback=require_file
        ),
    ] = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Simulated teams, whose corpus is left out of what is shipped, learn from 5 to 400 outcomes.

    `--pairs` are alerts whose page is known. Of each team six in ten tickets end earlier and are
    drawn from, also with a tenth of the labels turned round; figures are of the others.
    """
    from evaluation.commands.platform import open_platform  # noqa: PLC0415
    from evaluation.learning.material import (  # noqa: PLC0415
        acceptance_rows,
        finding_cases,
    )
    from evaluation.learning.outcomes import figures_of, judged_challengers  # noqa: PLC0415
    from evaluation.learning.teams import (  # noqa: PLC0415
        acceptance_teams,
        finding_teams,
    )
    from evaluation.measures.figures import Report  # noqa: PLC0415

    started = time.perf_counter()
    with open_platform(data_dir) as platform:
        with progress("tickets", 1) as advance:
            cases = finding_cases(platform, tickets, pairs, unknown)
            advance()
        teams = finding_teams(cases)
        with progress("workflows", 1) as advance:
            teams += acceptance_teams(acceptance_rows(platform.embedder, tickets, old))
            advance()
        sent = _sent(triage, platform) if triage else {}
    sections: dict[str, dict[str, dict[str, float]]] = {}
    with progress("outcomes", 2 * len(teams)) as advance:
        for team in teams:
            for noisy in (False, True):
                name = team.subject.numbers.NAME + (" with a tenth turned" if noisy else "")
                sections.setdefault(name, {}).update(figures_of(team, seed, noisy=noisy))
                advance()
    with progress("challengers", 40) as advance:
        judge = partial(judged_challengers, seed=seed, advance=advance)
        challengers = {"challengers": judge(teams)}
    report = Report(
        benchmark="learn",
        overall=challengers["challengers"],
        sets=challengers,
        mean_over="all",
        config={"pairs": pairs.name, "tickets": tickets.name, "seed": seed},
        seconds=time.perf_counter() - started,
        **sections,
        **({"triage": sent} if sent else {}),
    )
    finish(report, out, as_json=as_json)


def _sent(file: Path, platform: "Embedded") -> dict[str, dict[str, float]]:
    """To the right team, by how many tickets were sent before."""
    from evaluation.benches.triage import by_outcomes, read_cases  # noqa: PLC0415
    from evaluation.learning.outcomes import OUTCOMES  # noqa: PLC0415
    from services.tickets.triage.choice import RoutingLimits  # noqa: PLC0415

    settings = platform.gateway.settings
    limits = RoutingLimits(settings.triage_sure_from, settings.triage_abstain_below)
    return by_outcomes(read_cases(file, "team"), platform.embedder, limits, OUTCOMES[1:])
