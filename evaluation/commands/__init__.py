"""`flowxpert bench …`. What a benchmark needs is imported when it runs."""

import typer

from evaluation.commands import (
    graph,
    logic,
    plans,
    reading,
    results,
    retrieval,
    scorer,
    speed,
    workflows,
)

app = typer.Typer(no_args_is_help=True)
for group in (workflows, logic, plans, reading, retrieval, graph, scorer, speed, results):
    app.add_typer(group.app)
