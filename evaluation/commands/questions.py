"""What an owner is asked of a page, and what an approval costs."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.commands.options import AsJson, CorpusDir, IdsHalf, Out, PairsFile
from evaluation.commands.outcome import finish
from evaluation.commands.platform import embedder_of
from services.kit.files import require_file

if TYPE_CHECKING:
    from evaluation.material.logic_rows import Ids
    from evaluation.measures.figures import Figures, Report
    from services.knowledge.page.box_fit import BoxFit

app = typer.Typer()

_Second = Annotated[
    Path | None,
    typer.Option(help="Pages drawn once more: the nearer one counts.", callback=require_file),
]
_Answers = Annotated[
    Path | None,
    typer.Option(
        help="Recorded answers; those of a strong model that are kept here.", callback=require_file
    ),
]


@app.command()
def approval(
    *,
    pairs: PairsFile,
    corpus: CorpusDir = None,
    second: _Second = None,
    answers: _Answers = None,
    ids: IdsHalf = "all",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Count what an owner does until a page is right: as a checklist, and as a workflow.

    Boxes are of fits that left the page's set out, workflows of recorded readings.
    """
    from evaluation.benches.approval import checklist_figures, workflow_figures  # noqa: PLC0415
    from evaluation.benches.logic.bench import page_alone  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415

    started = time.perf_counter()
    material = _Material(pairs, corpus, answers, ids)
    again = {row.id: row.reference for row in (read_rows(second) if second else [])}
    drawings = {
        row.id: [each for each in (row.reference, again.get(row.id)) if each]
        for row in material.rows
    }
    figures = checklist_figures(material.rows, drawings, material.page_of, material.fits())
    make = page_alone(material.page_of, material.read)
    figures |= workflow_figures(material.rows, drawings, make, embedder_of(None))
    config: dict[str, object] = {"second": second.name} if second else {}
    finish(material.report("approval", figures, config, started), out, as_json=as_json)


@app.command()
def questions(
    *,
    pairs: PairsFile,
    corpus: CorpusDir = None,
    answers: _Answers = None,
    ids: IdsHalf = "all",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the questions to an owner are worth: of boxes, and of recorded readings."""
    from evaluation.benches.questions import (  # noqa: PLC0415
        box_pages,
        condition_pages,
        question_figures,
    )

    started = time.perf_counter()
    material = _Material(pairs, corpus, answers, ids)
    read = condition_pages(material.rows, material.page_of, material.read, embedder_of(None))
    figures = {
        "boxes": question_figures(box_pages(material.rows, material.page_of, material.fits())),
        "readings": question_figures(read),
    }
    finish(material.report("questions", figures, {}, started), out, as_json=as_json)


class _Material:
    """Drawn pages, with what a model was recorded to read on them."""

    def __init__(self, pairs: Path, corpus: Path | None, answers: Path | None, ids: "Ids") -> None:
        from evaluation.material.gold_pages import page_of_pairs  # noqa: PLC0415
        from evaluation.material.logic_rows import chosen_rows, read_rows  # noqa: PLC0415
        from evaluation.material.recorded_answers import (  # noqa: PLC0415
            RECORDED,
            by_record,
            read_answers,
        )

        self._drawn = [row for row in read_rows(pairs) if row.reference]
        self._config: dict[str, object] = {"pairs": pairs.name, "ids": ids}
        self.rows = chosen_rows(self._drawn, ids)
        self.page_of = page_of_pairs(pairs, corpus, None)
        self.read = by_record(read_answers(answers or RECORDED))

    def fits(self) -> "dict[str, BoxFit]":
        """Fit boxes by set, without its pages."""
        from evaluation.fitting.boxes import left_out_fits, page_rows  # noqa: PLC0415

        return left_out_fits(page_rows(self._drawn, self.page_of))

    def report(
        self,
        name: str,
        figures: "dict[str, Figures]",
        config: dict[str, object],
        started: float,
    ) -> "Report":
        """Build the report of these figures."""
        from evaluation.measures.figures import Report  # noqa: PLC0415

        return Report(
            benchmark=name,
            overall={},
            sets=figures,
            config=self._config | config,
            seconds=round(time.perf_counter() - started, 1),
        )
