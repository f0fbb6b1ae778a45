"""`flowxpert execute`, `search` and `simulate`: runs, searches, and a network to try them on."""

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.platform_access import DEFAULT_URL, AsJson, Url, client_of, print_json
from services.cli.shutdown import handle_signals
from services.contracts.execution import RunMode, RunPhase
from services.contracts.searching import SearchPhase
from services.kit.files import require_new_folder

if TYPE_CHECKING:
    from services.contracts.execution import ExecutionClient, RunDetail
    from services.contracts.searching import SearchDetail, SearchesClient

_LOOKED_EVERY_S = 0.5
_SEARCH_LOOKED_EVERY_S = 1.0

TicketId = Annotated[str, typer.Argument(help="The ticket whose workflow is carried out.")]


def execute(
    ticket_id: TicketId,
    *,
    mode: Annotated[
        RunMode, typer.Option(help="Nothing is sent, nothing is changed, or changes are approved.")
    ] = RunMode.DRY,
    step: Annotated[
        str, typer.Option(help="Of a page as it is: the box that you stand at; a tool looks there.")
    ] = "",
    this_is_the_page: Annotated[
        bool, typer.Option(help="You have seen what speaks against the page, and it is the one.")
    ] = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Run a ticket's workflow; questions and approvals are asked here."""
    from services.contracts.execution import ExecutionClient, StartRun  # noqa: PLC0415

    wanted = StartRun(ticket_id=ticket_id, step=step, mode=mode, confirms_page=this_is_the_page)
    with client_of(url) as client:
        execution = ExecutionClient(client)
        run = execution.start(wanted)
        if not as_json:
            _show_plan(run)
            run = _follow_run(execution, run)
    if as_json:
        print_json(run)
    elif run.report:
        typer.echo(f"\n{run.report}")


def search(
    ticket_id: Annotated[str, typer.Argument(help="The ticket whose cause is searched for.")],
    *,
    wait: Annotated[bool, typer.Option(help="Follow it until it is over.")] = True,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Search for the cause of a ticket: experts look with tools that change nothing.

    It goes on in the platform, whether it is followed here or not.
    """
    from services.contracts.searching import SearchesClient, StartSearch  # noqa: PLC0415

    with client_of(url) as client:
        searching = SearchesClient(client)
        detail = searching.start(StartSearch(ticket_id=ticket_id))
        if wait:
            detail = _follow_search(searching, detail, says=not as_json)
    if as_json:
        print_json(detail)
    else:
        typer.echo(f"\n{detail.report}" if detail.report else f"/searches/{detail.id}")


def simulate(
    folder: Annotated[
        Path, typer.Argument(help="Becomes the executor's catalogue.", callback=require_new_folder)
    ],
    *,
    fault: Annotated[
        list[str] | None, typer.Option(help="What breaks; `--fault list` names all kinds.")
    ] = None,
    variant: Annotated[int, typer.Option(min=0, max=4, help="Where it breaks.")] = 0,
    speed: Annotated[float, typer.Option(min=1, help="How fast its clock runs.")] = 1.0,
    metrics_port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port where the switches' metrics are scraped."),
    ] = None,
    prometheus: Annotated[
        str, typer.Option(help="Address of a Prometheus that scrapes them; tools ask it.")
    ] = "",
) -> None:
    """Run six switches that answer over SSH on loopback, until interrupted.

    Nothing real is changed. FLOWXPERT_EXECUTOR_CATALOGUE names the folder to the executor. It also
    has alerts of what breaks (`alerts.json`), pages about them (`flowxpert ingest FOLDER/pages`),
    and readings of these pages (`flowxpert readings import FOLDER/readings.jsonl`).
    """
    from services.kit.clock import Clock  # noqa: PLC0415
    from services.simulator.faults import kinds, variants  # noqa: PLC0415
    from services.simulator.simulation import Simulation  # noqa: PLC0415

    if fault == ["list"]:
        typer.echo("\n".join(kinds()))
        return
    stopping = handle_signals()
    clock = Clock(begins_at=time.time(), speed=speed)
    simulated = Simulation(folder, clock=clock, metrics_port=metrics_port, prometheus=prometheus)
    with suppress(KeyboardInterrupt), simulated as simulation:
        alerts = []
        for kind in fault or []:
            broken = variants(kind)[variant]
            simulation.inject(broken)
            alerts.append(broken.alert(simulation.world))
            typer.echo(f"{kind} at {broken.place} of {broken.device}")
        body = json.dumps({"version": "4", "alerts": alerts}, indent=2)
        (folder / "alerts.json").write_text(body + "\n")
        typer.echo(f"{len(simulation.devices.listening)} switches listen; what they are sent:"
                   f" {simulation.log.path}")  # fmt: skip
        if simulation.metrics is not None:
            typer.echo(f"their metrics: {simulation.metrics.url}/metrics")
        stopping.wait()


def _show_plan(run: "RunDetail") -> None:
    for step in run.steps:
        what = step.by_person and f"a person: {step.by_person}"
        named = f" ({step.target_from})" if step.target and step.target_from else ""
        sent = f"{step.shown} on {step.target or '?'}{named}" if step.tool else ""
        undo = f"; taken back by {step.undo}" if step.changes else ""
        typer.echo(f"{step.number:>3} {step.text}")
        for line in filter(None, (sent and f"{sent}{undo}", what)):
            typer.echo(f"      {line}")
        for answer, tests in step.answers.items():
            typer.echo(f"      {answer}: {tests}")


def _follow_run(execution: "ExecutionClient", run: "RunDetail") -> "RunDetail":
    """Poll the run until it ends, asking the person at the terminal."""
    from services.contracts.execution import (  # noqa: PLC0415
        ChangedSinceError,
        RunAnswer,
        RunDecision,
    )

    while run.phase is not RunPhase.ENDED:
        if run.approval is not None:
            typer.echo(f"\n{run.approval.shown}\n  changes {run.approval.target}")
            if run.approval.again:
                typer.echo(f"  asked again: {run.approval.again}")
            for each in run.approval.differences:
                typer.echo(
                    f"  {each.what}: was {each.was or 'nothing'}, is {each.now or 'nothing'}"
                )
            decision = RunDecision(digest=run.approval.digest)
            allowed = typer.confirm("Send it?")
            act = execution.approve if allowed else execution.deny
            try:
                run = act(run.id, decision)
            except ChangedSinceError as changed:
                typer.echo(str(changed))
                run = execution.run(run.id)
        elif run.question is not None:
            question = run.question
            typer.echo("\n" + "\n".join((*question.evidence, question.text)))
            options = {str(n): option for n, option in enumerate(question.options, 1)}
            for number, option in options.items():
                typer.echo(f"  {number} {option}")
            option_chosen = options.get(typer.prompt("Which"), "")
            if option_chosen:
                filled = question.fills if option_chosen == "filled in" else ()
                arguments = {name: typer.prompt(name) for name in filled}
                answer = RunAnswer(question=question.seq, option=option_chosen, arguments=arguments)
                run = execution.answer(run.id, answer)
        else:
            time.sleep(_LOOKED_EVERY_S)
            run = execution.run(run.id)
    return run


def _follow_search(
    searching: "SearchesClient", detail: "SearchDetail", *, says: bool
) -> "SearchDetail":
    """Poll the search until it ends, printing each node once it is settled."""
    printed: set[int] = set()
    while True:
        for node in detail.nodes:
            if says and node.id not in printed and node.state.value != "open":
                printed.add(node.id)
                indent = "  " * (node.depth - 1)
                looked = f": {node.shown}" if node.shown else ""
                typer.echo(f"{indent}{node.id} {node.expert}, {node.subtask}{looked}")
                for finding in node.findings:
                    typer.echo(f"{indent}    {'struck: ' if finding.struck else ''}{finding.text}")
                typer.echo(f"{indent}    {node.state.value}")
        if detail.phase is SearchPhase.ENDED:
            return detail
        time.sleep(_SEARCH_LOOKED_EVERY_S)
        detail = searching.search(detail.id)
