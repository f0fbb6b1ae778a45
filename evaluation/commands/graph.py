"""The knowledge graph that a model built."""

import time

import typer

from evaluation.commands.options import AsJson, DataDir, Out
from evaluation.commands.outcome import finish
from evaluation.commands.platform import open_platform

app = typer.Typer()


@app.command()
def graph(*, data_dir: DataDir, out: Out = None, as_json: AsJson = False) -> None:
    """What `flowxpert build-graph` made, against the structural nodes and against the pages."""
    from evaluation.benches.graph import built_documents, report  # noqa: PLC0415

    started = time.perf_counter()
    with open_platform(data_dir) as platform:
        documents = built_documents(platform)
    finish(report(documents, round(time.perf_counter() - started, 1)), out, as_json=as_json)
