"""`flowxpert readings` as people and programs call it, on a folder and on a platform."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from services.kit.data_dir import LOCK_FILE, own_data_dir
from tests import command

PAGE = "# Fan stands still\n\n1. Look at the [bold]tray.\n2. Seat the fan.\n"
SEAT = {
    "procedures": [
        {"title": "Seat it", "at": [[1, 4]], "steps": [{"do": "Seat the fan", "at": [[4, 4]]}]}
    ]
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readings")
    (folder / "docs").mkdir()
    (folder / "docs" / "fan.md").write_text(PAGE)
    done = flowxpert(folder / "data", "ingest", str(folder / "docs"), "--json")
    assert done.returncode == 0, done.stderr
    return folder / "data"


def flowxpert(data_dir: Path, *arguments: str) -> command.Done:
    return command.flowxpert(*arguments, "--data-dir", str(data_dir), COLUMNS="160")


def run_json(data_dir: Path, *arguments: str) -> Any:
    done = flowxpert(data_dir, "readings", *arguments, "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def go_through(data_dir: Path, folder: Path) -> None:
    """Everything that can be done about one page, ending as it began."""
    (unread,) = run_json(data_dir, "list", "--document", "fan.md")
    assert (unread["page_state"], unread["reader"]) == ("unread", None)
    row = run_json(data_dir, "show", "fan.md")
    assert (row["reader"], row["state"], row["approved"]) == (None, "read", 0)
    shown = flowxpert(data_dir, "readings", "show", "fan.md")
    assert "Seat the fan" in shown.stdout
    assert "   3 1. Look at the [bold]tray." in shown.stdout, shown.stderr
    own = folder / "own.json"
    own.write_text(json.dumps(SEAT))
    replaced = run_json(data_dir, "replace", "fan.md", str(own))
    assert (replaced["reader"], replaced["reading"]["procedures"][0]["title"]) == (
        "person",
        "Seat it",
    )
    approved = run_json(data_dir, "approve", "fan.md")
    assert [(each["state"], each["by"]) for each in approved["states"]] == [("approved", "local")]
    exported = folder / "readings.jsonl"
    assert run_json(data_dir, "export", str(exported), "--state", "approved") == {"readings": 1}
    imported = run_json(data_dir, "import", str(exported), "--approve")
    assert (imported["taken"], imported["refused"]) == (1, [])
    assert [event["what"] for event in run_json(data_dir, "history", row["text_hash"])][:2] == [
        "imported",
        "approved",
    ]
    for arguments in (
        ("fan.md", "--by", "2000-01-01"),
        ("fan.md",),
        ("gone.md", "--by", "2099-01-01"),
    ):
        assert flowxpert(data_dir, "readings", "ask", *arguments).returncode
    assert run_json(data_dir, "reviews") == run_json(data_dir, "ask", "fan.md", "--withdraw") == []
    edit_it(data_dir, folder)
    for _ in range(4):
        undone = run_json(data_dir, "undo", "fan.md")
    assert (undone["reader"], undone["state"]) == (None, "read")
    begun = run_json(data_dir, "begin", "fan.md")
    assert begun["reading"]["procedures"][0]["begun_from_boxes"]
    assert run_json(data_dir, "undo", "fan.md")["reader"] is None
    assert "--reader: " in flowxpert(data_dir, "readings", "list", "--reader", "nobody").stderr
    missing = flowxpert(data_dir, "readings", "show", "missing.md", "--json")
    assert (missing.returncode, json.loads(missing.stdout)["error"]) == (1, "ReadingNotFoundError")


def edit_it(data_dir: Path, folder: Path) -> None:
    """The step of the replaced reading goes under a condition, first on trial."""
    (node,) = run_json(data_dir, "show", "fan.md")["reading"]["procedures"][0]["steps"]
    file = folder / "operations.json"
    operation = {"op": "guard", "node": node["id"], "when": "Is the fan [bold]loose?"}
    file.write_text(json.dumps([operation]))
    edit = ("edit", "fan.md", "--operations", str(file))
    tried = flowxpert(data_dir, "readings", *edit, "--dry-run")
    assert "done only if “Is the fan [bold]loose?”" in tried.stdout
    assert "would no longer be" in tried.stdout
    assert run_json(data_dir, "show", "fan.md")["approved"] == 1
    stored = run_json(data_dir, *edit)
    (step,) = stored["difference"]["steps"]
    assert (step["node"], step["kind"]) == (node["id"], "changed")
    assert run_json(data_dir, "show", "fan.md")["approved"] == 0
    file.write_text(json.dumps([operation, {"op": "delete", "node": "gone"}]))
    refused = flowxpert(data_dir, "readings", *edit)
    assert (refused.returncode, "operation 1 (delete)" in refused.stderr) == (2, True)
    file.write_text("[{]")
    assert "expected JSON" in flowxpert(data_dir, "readings", *edit).stderr


def test_a_folder_that_nobody_uses_is_opened(data_dir: Path, tmp_path: Path) -> None:
    go_through(data_dir, tmp_path)


def test_a_platform_that_runs_on_the_folder_is_queried(data_dir: Path, tmp_path: Path) -> None:
    up = subprocess.Popen(
        [sys.executable, "-m", "services.cli", "up", "--data-dir", str(data_dir), "--port", "0"],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while " at http" not in (data_dir / LOCK_FILE).read_text():
            assert time.monotonic() < deadline
            assert up.poll() is None
            time.sleep(0.2)
        go_through(data_dir, tmp_path)
        url = (data_dir / LOCK_FILE).read_text().split()[-1]
        row = run_json(tmp_path / "unused", "show", "fan.md", "--url", url)
        assert row["documents"] == ["fan.md"]
        assert not (tmp_path / "unused").exists()
    finally:
        up.send_signal(signal.SIGINT)
        up.wait(60)


def test_a_folder_in_use_without_an_address_says_what_to_pass(tmp_path: Path) -> None:
    with own_data_dir(tmp_path):
        done = flowxpert(tmp_path, "readings", "list")
    assert done.returncode == 1
    assert "--url" in done.stderr


def test_a_refused_import_ends_with_1_and_names_the_line(data_dir: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("no json\n")
    done = flowxpert(data_dir, "readings", "import", str(bad))
    assert done.returncode == 1
    assert "1 refused" in done.stdout
    assert "no JSON" in done.stdout
    gone = flowxpert(data_dir, "readings", "import", str(tmp_path / "gone.jsonl"))
    assert (gone.returncode, len(gone.stderr.splitlines())) == (2, 1)


def test_reading_without_a_model_says_what_to_set(data_dir: Path) -> None:
    done = flowxpert(data_dir, "read", "--dry")
    assert done.returncode == 2
    assert "FLOWXPERT_MODEL_URL" in done.stderr


def test_a_run_takes_in_the_drawn_readings_of_its_examples_as_approved(
    data_dir: Path, tmp_path: Path
) -> None:
    examples = tmp_path / "examples"
    (examples / "documents").mkdir(parents=True)
    (examples / "documents" / "fan.md").write_text(PAGE)
    (examples / "alert.json").write_text('{"title": "Fan stands still"}')
    text_hash = run_json(data_dir, "show", "fan.md")["text_hash"]
    row = {"text_hash": text_hash, "document": "fan.md", "reading": {"reader": "person", **SEAT}}
    lines = [json.dumps(row), json.dumps({**row, "text_hash": "0" * 64})]
    (examples / "readings.jsonl").write_text("\n".join(lines))
    options = ["--examples", str(examples), "--alert", "alert.json", "--port", "0"]
    done = flowxpert(tmp_path / "data", "run", "--once", "--json", *options)
    assert "readings.jsonl, line 2: no ingested document has this text" in done.stderr
    (approved,) = run_json(tmp_path / "data", "list", "--state", "approved")
    assert (approved["documents"], approved["approved"], approved["reader"]) == (
        ["fan.md"],
        1,
        "imported",
    )
