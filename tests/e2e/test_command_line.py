"""The command line as people and programs call it."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from services.cli import commands as cli
from services.cli.terminal import SHOWN_FAILURES
from services.kit.data_dir import describe_owner, own_data_dir
from tests.blocks import ROOT, blocks
from tests.command import Done, flowxpert, started

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


def ingest(folder: Path, data_dir: Path, call: Callable[..., Done] = flowxpert) -> Any:
    done = call("ingest", str(folder), "--data-dir", str(data_dir), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_ingesting_twice_changes_nothing(data_dir: Path) -> None:
    first = ingest(EXAMPLES / "documents", data_dir, started)
    again = ingest(EXAMPLES / "documents", data_dir)
    assert first["added"] == first["total"] > 10
    assert again["unchanged"] == first["total"]
    assert again["chunks_embedded"] == again["added"] == again["changed"] == 0


@pytest.fixture(scope="module")
def partly_broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Examples with one document, and one more than are told one by one that are none."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(EXAMPLES / "alerts", folder / "alerts")
    (folder / "documents").mkdir()
    shutil.copy(EXAMPLES / "documents" / "wiki" / "fan-failure.md", folder / "documents")
    for number in range(SHOWN_FAILURES + 1):
        (folder / "documents" / f"broken-{number:02}.pdf").write_bytes(b"%PDF-1.7 of nothing")
    return folder


def test_an_ingest_takes_in_the_rest_names_what_failed_and_ends_with_1(
    partly_broken: Path, tmp_path: Path
) -> None:
    arguments = ["ingest", str(partly_broken / "documents"), "--data-dir", str(tmp_path)]
    done = flowxpert(*arguments, COLUMNS="300")
    assert done.returncode == 1
    first, *failures = done.stdout.splitlines()
    assert first.strip() == f"done: 1 added, {SHOWN_FAILURES + 1} failed"
    assert failures[0].startswith("  broken-00.pdf: ")
    assert failures[-1] == "  … and 1 more"
    assert len(failures) == SHOWN_FAILURES + 1
    again = flowxpert(*arguments, "--json")
    assert again.returncode == 1
    report = json.loads(again.stdout)
    assert report["unchanged"] == 1
    assert len(report["failed"]) == SHOWN_FAILURES + 1


def test_a_run_starts_whatever_documents_fail_and_names_them(
    partly_broken: Path, tmp_path: Path
) -> None:
    folders = ["--examples", str(partly_broken), "--data-dir", str(tmp_path)]
    done = flowxpert("run", "--once", "--json", *folders, "--port", "0")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["workflow"]["steps"]
    assert "broken-00.pdf: " in done.stderr


def test_the_run_prints_a_cited_workflow_and_ends(data_dir: Path) -> None:
    done = started("run", "--once", "--data-dir", str(data_dir), "--port", "0", COLUMNS="100")
    assert done.returncode == 0, done.stderr
    assert "wiki/fan-failure.md:" in done.stdout
    assert "overall" in done.stdout
    printed = {" ".join(line.split()) for line in (done.stderr + done.stdout).splitlines()}
    assert [line for line in shown_by_readme() if line not in printed] == []


def shown_by_readme() -> list[str]:
    """What README shows of the first run, but for lines that are cut."""
    (shown,) = [block for block in blocks(ROOT / "README.md") if block.language == "text"]
    lines = [" ".join(line.split()) for line in shown.text.splitlines()]
    return [line for line in lines if line and "…" not in line and not line.startswith("Open ")]


def test_a_start_tells_of_documents_that_were_read_by_older_rules(tmp_path: Path) -> None:
    page, data_dir = tmp_path / "docs" / "fan.md", tmp_path / "data"
    page.parent.mkdir()
    page.write_text("# Fan stands still\n\n1. Seat the fan.\n")
    ingest(page.parent, data_dir)
    with closing(sqlite3.connect(data_dir / "flowxpert.db")) as database:
        database.execute("UPDATE ingestion_document SET pipeline = 'older'")
        database.commit()
    done = flowxpert("run", "--once", "--data-dir", str(data_dir), "--port", "0")
    assert done.returncode == 0, done.stderr
    (warning,) = [line for line in done.stderr.splitlines() if "documents_outdated" in line]
    assert str(page.parent) in warning
    assert "flowxpert ingest" in warning


def test_what_came_from_a_moved_folder_is_listed_and_forgotten_after_a_question(
    tmp_path: Path,
) -> None:
    docs, data_dir = tmp_path / "docs", str(tmp_path / "data")
    docs.mkdir()
    (docs / "fan.md").write_text("# Fan stands still\n\n1. Seat the fan.\n")
    ingest(docs, Path(data_dir))
    docs.rename(tmp_path / "moved")
    listed = flowxpert("roots", "--data-dir", data_dir, COLUMNS="300").stdout
    assert f"1  {docs}  not found here" in listed
    unconfirmed = flowxpert("forget", str(docs), "--data-dir", data_dir)
    assert unconfirmed.returncode == 1
    assert f"Remove 1 documents of {docs} from all stores?" in unconfirmed.stderr
    silent = flowxpert("forget", str(docs), "--data-dir", data_dir, "--json")
    assert silent.returncode == 1
    assert json.loads(silent.stdout)["error"] == "InvalidInputError"
    unknown = flowxpert("forget", str(tmp_path / "moved"), "--data-dir", data_dir, "--yes")
    assert (unknown.returncode, len(unknown.stderr.splitlines())) == (1, 1)
    done = flowxpert("forget", f"{docs}/", "--data-dir", data_dir, "--yes", "--json")
    assert json.loads(done.stdout)["deleted"] == 1
    assert json.loads(flowxpert("roots", "--data-dir", data_dir, "--json").stdout) == []


def test_a_server_in_the_background_of_a_script_stops_on_ctrl_c(tmp_path: Path) -> None:
    up = [sys.executable, "-m", "services.cli", "up", "--data-dir", str(tmp_path), "--port", "0"]
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *up]
    with subprocess.Popen(ignoring, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        log = [next(line for line in server.stderr if "answers at" in line)]
        server.send_signal(signal.SIGINT)
        try:
            server.wait(180)
        finally:
            server.kill()
        log += server.stderr
    assert server.returncode == 0
    assert "stopping\n" in log


def test_a_folder_in_use_is_refused_in_one_line(tmp_path: Path) -> None:
    with own_data_dir(tmp_path):
        describe_owner(tmp_path, "http://127.0.0.1:8080")
        done = flowxpert("ingest", str(EXAMPLES), "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert "in use" in done.stderr
    assert "http://127.0.0.1:8080" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    done = flowxpert("ingest", str(tmp_path / "none"), "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    done = started("up", "--data-dir", str(tmp_path), FLOWXPERT_PORT="many")
    assert done.returncode == 2
    assert "FLOWXPERT_PORT:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "variables", "expected"),
    [
        (["tickets", "--url", "http://127.0.0.1:1"], {}, ("ServiceUnavailableError", "refused", 1)),
        (["tickets", "--limit", "few"], {}, ("InvalidInputError", "--limit", 2)),
        (["ticket"], {}, ("InvalidInputError", "ticket_id", 2)),
        (["tickets"], {"FLOWXPERT_PORT": "many"}, ("InvalidInputError", "FLOWXPERT_PORT:", 2)),
        (["ingest", "none"], {}, ("UnusableFileError", "none", 2)),
        (["run", "--alert", "none.json"], {}, ("UnusableFileError", "none.json", 2)),
        (["nothing"], {}, ("InvalidInputError", "nothing", 2)),
    ],
)
def test_a_failure_is_one_json_object_for_programs(
    tmp_path: Path,
    arguments: list[str],
    variables: dict[str, str],
    expected: tuple[str, str, int],
) -> None:
    error, detail, status = expected
    variables = {"FLOWXPERT_DATA_DIR": str(tmp_path), **variables}
    done = flowxpert(*arguments, "--json", **variables)
    assert done.returncode == status
    problem = json.loads(done.stdout)
    assert set(problem) == {"error", "detail"}
    assert problem["error"] == error
    assert detail in problem["detail"]
    assert "Traceback" not in done.stderr


def test_a_defect_is_json_for_programs_and_a_traceback_for_people(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def break_down(**_options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "app", break_down)
    monkeypatch.setattr(sys, "argv", ["flowxpert", "tickets", "--json"])
    with pytest.raises(SystemExit, match="1"):
        cli.main()
    output = capsys.readouterr()
    assert json.loads(output.out)["error"] == "InternalError"
    assert "ZeroDivisionError" in output.err


def test_an_open_address_without_a_key_is_refused(tmp_path: Path) -> None:
    done = flowxpert("up", "--data-dir", str(tmp_path), "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 1
    assert "FLOWXPERT_API_KEY" in done.stderr


def test_a_misspelt_variable_is_reported(data_dir: Path) -> None:
    done = started(
        "ingest", str(EXAMPLES / "documents"), "--data-dir", str(data_dir), FLOWXPERT_PROT="1"
    )
    assert "FLOWXPERT_PROT" in done.stderr
