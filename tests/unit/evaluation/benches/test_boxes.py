import json
from collections.abc import Mapping

from typer.testing import CliRunner

from evaluation.benches.boxes import box_rows, left_out_boxes, plain_boxes, report
from evaluation.commands import app
from evaluation.material.logic_rows import GoldGraph, LogicRow
from services.knowledge.model import Document
from services.knowledge.page.block import Page
from services.knowledge.page.box_fit import shipped_fit
from services.knowledge.page.boxes import Box, candidates
from services.knowledge.page.parsing import parse_page

TEXT = """\
# Fan tray failed

The tray stands still.

Do the following:

1. Read the fan speeds.

   ```
   show environment fan
   ```

2. Push the tray in.
"""
ROW = LogicRow(id="fan.md", set="switches", doc="fan.md")


def page_of(row: LogicRow) -> Document:
    return Document(id=row.page, title=row.page, text=TEXT, content_hash="")


def drawing(*lines: int) -> GoldGraph:
    nodes = [
        {"id": f"n{line}", "label": "", "kind": "process", "lines": [[line, line]]}
        for line in lines
    ]
    end = {"id": "end", "label": "", "kind": "terminal", "lines": [[3, 3]]}
    return GoldGraph.model_validate({"nodes": [*nodes, end]})


def figures(drawn: Mapping[str, GoldGraph], again: Mapping[str, GoldGraph]) -> dict[str, object]:
    rows = list(box_rows([ROW], page_of, plain_boxes))
    return report(rows, drawn, again, {}, 1.0).model_dump()


def test_every_item_and_paragraph_is_there_once_with_its_own_lines():
    (row,) = box_rows([ROW], page_of, plain_boxes)
    assert [(block["lines"], block["box"]) for block in row["blocks"]] == [
        ((3, 3), False),
        ((5, 5), True),
        ((7, 7), True),
        ((13, 13), True),
    ]


def test_a_box_without_a_step_costs_precision_and_a_step_without_a_box_recall():
    scores = figures({"fan.md": drawing(3, 7, 13)}, {})["pooled"]["boxes"]
    assert (scores["precision"], scores["recall"]) == (0.667, 0.667)
    assert scores["wrong, median"] == 2


def test_ends_are_no_steps():
    scores = figures({"fan.md": drawing(5, 7, 13)}, {})["pooled"]["boxes"]
    assert scores["F1"] == 1
    assert scores["wrong, median"] == 0


def test_a_second_drawing_is_measured_as_if_it_were_boxes():
    scores = figures({"fan.md": drawing(5, 7, 13)}, {"fan.md": drawing(7, 13)})["pooled"]
    assert scores["second drawing"]["recall"] == 0.667
    assert scores["second drawing"]["precision"] == 1


def test_a_set_has_figures_of_its_own_with_intervals():
    scores = figures({"fan.md": drawing(7, 13)}, {})
    assert scores["sets"]["switches"]["n"] == 1
    assert scores["intervals"]["switches"]["precision from"] == 0.667


def test_options_of_an_either_or_have_a_box_each():
    def one_box(_row: LogicRow, page: Page) -> list[Box]:
        _, lead, *options = candidates(page)
        return [Box(lead, tuple(option.block for option in options))]

    (row,) = box_rows([ROW], page_of, one_box)
    assert [block["box"] for block in row["blocks"]] == [False, True, True, True]


def test_each_row_has_the_fit_that_left_its_set_out():
    none, every = (
        shipped_fit().model_copy(update={"threshold": threshold}) for threshold in (0.999, 0.001)
    )
    boxes_of = left_out_boxes({"switches": none, "hosts": every})
    page = parse_page(TEXT)
    other = ROW.model_copy(update={"set": "hosts"})
    assert len(boxes_of(ROW, page)) < len(boxes_of(other, page)) == 4


def test_the_command_writes_rows_for_other_tools(tmp_path):
    row = {"id": "fan.md", "set": "switches", "doc": "fan.md"}
    row["reference"] = drawing(7, 13).model_dump(mode="json", by_alias=True)
    pairs, corpus, rows = tmp_path / "pages.jsonl", tmp_path / "corpus", tmp_path / "rows.jsonl"
    pairs.write_text(json.dumps(row))
    corpus.mkdir()
    (corpus / "fan.md").write_text(TEXT)
    words = ["boxes", "--pairs", pairs, "--corpus", corpus, "--rows", rows, "--second", pairs]
    done = CliRunner().invoke(app, [*map(str, words), "--predicate", "plain", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["pooled"]["second drawing"]["F1"] == 1
    (written,) = map(json.loads, rows.read_text().splitlines())
    assert written["blocks"][1] == {"lines": [5, 5], "box": True}
