"""Whether checks that a page lacks are told by what other pages of its kind check."""

import typer

from evaluation.commands.options import AsJson, DataDir, Out, Sample, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.platform import open_platform
from evaluation.commands.progress import progress

app = typer.Typer()


@app.command()
def complete(
    *,
    data_dir: DataDir,
    sample: Sample = 0,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Drop one to three checks from ingested pages that most pages of their kind have, too."""
    from evaluation.benches.completeness import measure, pages_of  # noqa: PLC0415
    from evaluation.benches.triage import Remembering  # noqa: PLC0415
    from services.kit.access.caller import LOCAL  # noqa: PLC0415

    with open_platform(data_dir) as platform:
        with progress("pages", sample) as advance:
            readings = platform.ingestion.readings(LOCAL.name)
            pages = pages_of(readings, platform.retrieval, sample, seed, advance)
        with progress("completeness", len(pages)) as advance:
            report = measure(pages, Remembering(platform.embedder).embed, seed, advance)
    finish(report, out, as_json=as_json)
