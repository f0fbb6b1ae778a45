"""`flowxpert bench …`. What a benchmark needs is imported when it runs."""

import typer

from evaluation.commands import (
    graph,
    judge,
    logic,
    reading,
    results,
    retrieval,
    scorer,
    speed,
    workflows,
)

app = typer.Typer(no_args_is_help=True)
for group in (workflows, logic, reading, retrieval, graph, scorer, judge, speed, results):
    app.add_typer(group.app)
