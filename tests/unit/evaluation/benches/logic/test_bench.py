import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.benches.logic.bench import (
    LogicResult,
    Make,
    measure,
    page_alone,
    read_workflows,
    recorded,
    walked,
)
from evaluation.benches.logic.setup import NoDataDirError, Way
from evaluation.material.gold_pages import NoPageError, page_of_corpus, page_of_store
from evaluation.material.logic_rows import GoldGraph, LogicRow
from evaluation.report.logic_report import report
from services.contracts.retrieval import RetrievedContext, RetrieveRequest
from services.kit.files import UnusableFileError
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Document
from services.runbook.model import Choice, Do, Procedure, Reader, Reading
from services.scorer.service import ScorerService
from services.tickets.walk.fit import Thresholds
from tests.unit.evaluation.walks import TEXTS, CopyingPlanner, Library, workflow

EMBEDDER = HashingEmbedder()


def row(name: str, **fields: object) -> LogicRow:
    """A page of the library with its own workflow as the drawing."""
    plain = workflow(name)
    nodes = [
        {"id": s.id, "label": s.text, "kind": s.kind.value, "lines": [[3 + n, 3 + n]]}
        for n, s in enumerate(plain.steps)
    ]
    edges = [{"from": e.source, "to": e.target, "label": e.condition} for e in plain.transitions]
    defaults = {
        "id": name,
        "set": "switches",
        "doc": name,
        "title": TEXTS[name].splitlines()[0],
        "reference": GoldGraph.model_validate({"nodes": nodes, "edges": edges}),
    }
    return LogicRow.model_validate(defaults | fields)


FAN, BGP = row("fan.md"), row("bgp.md")


def results(make: Make, *rows: LogicRow) -> list[LogicResult]:
    return measure(rows or (FAN, BGP), make, EMBEDDER, lambda: None)


class LibraryRetrieval:
    """Retrieval over the library; `hidden` is not in it."""

    def __init__(self, *, hidden: str = "", confidence: float = 1.0) -> None:
        self._hidden, self._confidence = hidden, confidence

    def retrieve(self, request: RetrieveRequest) -> RetrievedContext:
        context = Library().retrieve_for(request.title)
        left = tuple(hit for hit in context.nodes if hit.node.id != self._hidden)
        return context.model_copy(update={"nodes": left, "confidence": self._confidence})


def walk(retrieval: LibraryRetrieval, **changes: object) -> Make:
    parts = {
        "retrieval_for": lambda _row: retrieval,
        "planner_for": lambda _row: CopyingPlanner(),
        "scorer": ScorerService(EMBEDDER),
        "thresholds": Thresholds(sure_from=0.8, unsure_from=0.3),
        "alone": recorded({}),
    }
    return walked(**parts | changes)


def test_recorded_workflows_are_measured_and_a_row_without_one_counts_as_none():
    fan, bgp = results(recorded({"fan.md": workflow("fan.md")}))
    assert fan.figures["acceptable"] == fan.figures["guards"] == 1
    assert bgp.figures["found"] == 0
    assert bgp.figures["loose"] == 1


def test_workflows_are_read_from_a_file(tmp_path: Path):
    file = tmp_path / "workflows.jsonl"
    made = {"id": "fan.md", "workflow": workflow("fan.md").model_dump(mode="json")}
    file.write_text(f"{json.dumps(made)}\n{json.dumps({'id': 'bgp.md', 'workflow': None})}\n")
    assert read_workflows(file) == {"fan.md": workflow("fan.md"), "bgp.md": None}
    file.write_text('{"workflow": {}}')
    with pytest.raises(UnusableFileError, match="line 1"):
        read_workflows(file)


def test_the_walk_tells_whether_the_page_was_found_and_shown():
    fan, bgp = results(walk(LibraryRetrieval()))
    for logic_result in (fan, bgp):
        assert logic_result.walk == {"page_first": 1, "page_in_five": 1, "shown": 1, "sure": 1}
        assert logic_result.figures["guards"] == 1


def test_a_hidden_page_is_not_found_and_another_workflow_is_measured():
    (fan,) = results(walk(LibraryRetrieval(hidden="fan.md")), FAN)
    assert fan.walk["page_first"] == fan.walk["page_in_five"] == 0
    assert fan.figures["found"] == 1
    assert fan.figures["core"] == 1
    assert fan.figures["nodes"] < 1


@pytest.mark.parametrize(("confidence", "shown", "sure"), [(0.9, 1, 1), (0.5, 1, 0), (0.1, 0, 0)])
def test_how_sure_the_platform_is_makes_no_other_workflow(confidence, shown, sure):
    (fan,) = results(walk(LibraryRetrieval(confidence=confidence)), FAN)
    assert (fan.walk["shown"], fan.walk["sure"]) == (shown, sure)
    assert fan.figures["guards"] == 1


def test_nothing_is_shown_where_the_planner_finds_no_procedure():
    (fan,) = results(
        walk(LibraryRetrieval(), planner_for=lambda _row: CopyingPlanner(refuses=True)), FAN
    )
    assert fan.figures["found"] == fan.walk["shown"] == 0
    assert fan.walk["page_first"] == 1


def reading(*steps: object) -> Reading:
    return Reading(reader=Reader.MODEL, procedures=(Procedure(title="Fan", body=steps),))


SEATING = Choice.model_validate(
    {
        "choice": "exclusive",
        "at": [[4, 4]],
        "arms": [{"when": "Is the tray loose?", "steps": [{"do": "Push the tray in."}]}],
    }
)


def test_a_page_that_is_given_is_read_alone_by_its_text():
    read: list[Document] = []

    def reader(document: Document) -> Reading:
        read.append(document)
        return reading(Do(text="Read the fan speeds."), SEATING)

    (fan,) = results(page_alone(page_of_store(Library()), reader), FAN)
    assert [document.text for document in read] == [TEXTS["fan.md"]]
    assert fan.figures["found"] == 1
    assert fan.walk == {}


def test_a_row_that_holds_its_text_needs_no_page():
    logic_row = row("fan.md", doc="", text="Push it in.")
    texts: list[str] = []

    def reader(document: Document) -> None:
        texts.append(document.text)

    alone = page_alone(page_of_store(Library()), reader)
    (fan,) = results(alone, logic_row)
    assert fan.figures["found"] == 0
    results(walk(LibraryRetrieval(), alone=alone), logic_row)
    assert texts == ["Push it in.", "Push it in."]


@pytest.mark.parametrize(("steps", "share"), [((SEATING,), 1.0), ((Do(text="Push."),), 0.0)])
def test_of_a_straight_page_it_is_told_whether_it_was_given_a_decision(
    steps: Sequence[object], share: float
):
    straight = row("fan.md", reference=None)
    make = page_alone(page_of_store(Library()), lambda _document: reading(*steps))
    (fan,) = results(make, straight)
    assert fan.figures == {"found": 1.0, "given_decision": share}


def test_pages_come_from_the_corpus_as_ingestion_reads_them(tmp_path: Path):
    (tmp_path / "fan.md").write_bytes(b"# Fan\r\n\r\nPush.\r\n")
    assert page_of_corpus(tmp_path)(FAN).text == "# Fan\n\nPush.\n"
    for page_of in (page_of_corpus(tmp_path), page_of_store(Library())):
        with pytest.raises(NoPageError, match=r"gone\.md"):
            page_of(row("fan.md", doc="gone.md"))


def test_the_report_counts_every_row_the_same_and_keeps_the_rows():
    logic_results = results(
        recorded({"fan.md": workflow("fan.md")}), FAN, BGP, row("fan.md", id="x")
    )
    summary = report(logic_results, {}, {}, {"pairs": "pages.jsonl"}, 1.0)
    assert summary.overall["found"] == 33.3
    assert summary.sets["switches"]["n"] == 3
    assert summary.mean_name == "mean over rows"
    rows = summary.model_dump()["rows"]
    assert [(one["id"], one["found"]) for one in rows] == [("fan.md", 1), ("bgp.md", 0), ("x", 0)]
    assert [table.title for table in summary.tables()] == ["logic"]


def test_the_report_tells_of_walks_apart():
    summary = report(results(walk(LibraryRetrieval(hidden="fan.md"))), {}, {}, {}, 1.0)
    walk_figures = summary.model_dump()["walk"]
    assert walk_figures["switches"] == walk_figures["all rows"]
    assert (walk_figures["all rows"]["page_first"], walk_figures["all rows"]["shown"]) == (50, 100)
    assert [table.title for table in summary.tables()] == ["logic", "walk"]
    assert summary.model_dump()["rows"][1]["page_first"] == 1


def test_a_walk_without_documents_is_refused(tmp_path: Path):
    with pytest.raises(NoDataDirError, match="--data-dir"):
        Way(None, tmp_path / "logic" / "pages.jsonl").make([FAN])


def test_rows_with_texts_need_no_documents(tmp_path: Path):
    make = Way(None, tmp_path / "pairs.jsonl").make([row("fan.md", doc="", text="Push it.")])
    unread = row("fan.md", doc="", text="# Fan\n\n1. Push the tray in.\n")
    assert make(unread).workflow is None, "no answer of a model is recorded for it"
