import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.benches.acceptance.setup import MissingOptionError, ShowName, show_named
from evaluation.commands import app
from evaluation.material.gold_pages import own_page
from evaluation.material.logic_rows import LogicRow
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.page.block import Page
from services.knowledge.page.boxes import Box, candidates

TEXT = """\
# Fan tray failed

The tray stands still.

> [!WARNING]
> The fans stop for a moment.

1. Read the [speeds](speeds.md):

   ```console
   $ show environment fan
   ```

2. Push the tray in.
"""
ROW = LogicRow.model_validate(
    {"id": "fan", "text": TEXT, "ticket": {"title": "Fan", "description": "It stands still."}}
)


def shown(name: ShowName, answers: Path | None = None) -> str | None:
    return show_named(name, own_page, HashingEmbedder(), answers=answers)(ROW)


def test_the_bare_page_is_its_text():
    assert shown("bare") == TEXT


@pytest.mark.parametrize("name", ["page", "today"])
def test_the_page_keeps_its_words_numbers_links_and_commands_and_has_boxes(name):
    text = shown(name) or ""
    for words in ("The tray stands still.", "$ show environment fan", "! WARNING:"):
        assert words in text
    assert "[ ] 1. Read the speeds (speeds.md):" in text
    assert "[ ] 2. Push the tray in." in text


def test_todays_boxes_stand_at_items_and_before_a_colon_alone():
    assert (shown("today") or "").count("[ ]") == 2


def test_boxes_that_are_asked_for_stand_for_the_products():
    def last_item(_row: LogicRow, page: Page) -> list[Box]:
        return [Box(list(candidates(page))[-1])]

    show = show_named("page", own_page, HashingEmbedder(), boxes=last_item)
    assert [line for line in (show(ROW) or "").splitlines() if "[ ]" in line] == [
        "[ ] 2. Push the tray in."
    ]


def test_a_page_without_a_recorded_reading_has_no_workflow_to_show(tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text("")
    assert shown("workflow", answers) is None


def test_what_another_commit_showed_is_shown_by_the_id_of_its_row(tmp_path):
    answers = tmp_path / "shown.jsonl"
    answers.write_text(json.dumps({"id": "fan", "arm": "rules", "shown": "1. DO: Look"}))
    assert shown("recorded", answers) == "1. DO: Look"
    answers.write_text(json.dumps({"id": "other", "shown": "1. DO: Look"}))
    assert shown("recorded", answers) is None


@pytest.mark.parametrize(("name", "option"), [("recorded", "--answers"), ("found", "--data-dir")])
def test_a_way_without_what_it_needs_says_which_option_is_missing(name, option):
    with pytest.raises(MissingOptionError, match=option):
        shown(name)


def test_the_command_writes_rows_for_readers(tmp_path):
    pairs, rows = tmp_path / "pages.jsonl", tmp_path / "rows.jsonl"
    other = ROW.model_copy(update={"id": "other", "doc": "fan.md", "text": ""})
    pairs.write_text("\n".join(row.model_dump_json() for row in (ROW, other)))
    (tmp_path / "fan.md").write_text(TEXT)
    words = ["acceptance", "--pairs", pairs, "--corpus", tmp_path, "--rows", rows]
    words += ["--show", "bare", "--arm", "as it is", "--skip", "1"]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    (record,) = map(json.loads, rows.read_text().splitlines())
    assert record == {
        "id": "other",
        "arm": "as it is",
        "ticket": {"title": "Fan", "description": "It stands still."},
        "page": TEXT,
        "shown": TEXT,
    }
