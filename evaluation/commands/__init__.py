"""`flowxpert bench …`. What a benchmark needs is imported when it runs."""

import typer

from evaluation.commands import (
    acceptance,
    boxes,
    capacity,
    chaos,
    clarify,
    completeness,
    compose,
    execution,
    following,
    graph,
    judge,
    learning,
    logic,
    plans,
    reading,
    recorded_judge,
    results,
    retrieval,
    scorer,
    searching,
    speed,
    staleness,
    storm,
    summarising,
    triage,
    workflows,
)

app = typer.Typer(no_args_is_help=True)
_GROUPS = (
    acceptance,
    boxes,
    workflows,
    logic,
    plans,
    reading,
    retrieval,
    graph,
    scorer,
    judge,
    recorded_judge,
    clarify,
    speed,
    storm,
    capacity,
    chaos,
    execution,
    compose,
    following,
    searching,
    summarising,
    staleness,
    triage,
    learning,
    completeness,
    results,
)
for group in _GROUPS:
    app.add_typer(group.app)
