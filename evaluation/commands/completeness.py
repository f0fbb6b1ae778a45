"""Whether checks that a page lacks are found by what other pages of its kind check."""

import typer

from evaluation.commands.options import AsJson, CorpusDir, Out, PairsFile, Sample, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.progress import progress

app = typer.Typer()


@app.command()
def complete(
    *,
    pairs: PairsFile,
    corpus: CorpusDir = None,
    sample: Sample = 1000,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Drop one to three checks from pages that most pages of their kind have.

    Pages are those of `--pairs` as they were drawn; with `--corpus` the pages of that folder as the
    rules read them, `--sample` of them.
    """
    from evaluation.benches.completeness import drawn_pages, measure, read_pages  # noqa: PLC0415
    from evaluation.benches.triage import Remembering  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415
    from services.stores import open_embedder  # noqa: PLC0415

    if corpus is None:
        pages = drawn_pages([row for row in read_rows(pairs) if row.reference])
    else:
        with progress("pages", sample) as advance:
            pages = read_pages(corpus, sample, advance)
    embedder = Remembering(open_embedder(PlatformSettings()))
    with progress("completeness", len(pages)) as advance:
        report = measure(pages, embedder, seed, advance)
    finish(report, out, as_json=as_json)
