"""`flowxpert coverage` on a laptop: rule files against a folder of pages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
RULES = """
groups:
- name: net
  rules:
  - alert: InterfaceFlapping
    expr: flaps > 3
    annotations: {runbook_url: "https://wiki.example.net/runbooks/InterfaceFlapping.md"}
  - alert: CoffeeMachineEmpty
    expr: coffee == 0
    annotations: {summary: "No coffee in {{ $labels.room }}"}
"""


@pytest.fixture
def coverage(tmp_path):
    rules = tmp_path / "rules.yml"
    rules.write_text(RULES, encoding="utf-8")

    def coverage(*arguments, folder="runbooks"):
        pages = ROOT / "examples" / "documents" / folder
        command = ["-m", "services.cli", "coverage", "--documents", str(pages)]
        return subprocess.run(
            [sys.executable, *command, "--rules", str(rules), *arguments],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )

    return coverage


def test_an_alert_without_a_page_is_named_and_fails_a_pipeline_that_asks_for_it(coverage):
    done = coverage("--fail")
    assert done.returncode == 1
    assert "1 of 2 alerts are covered" in done.stdout
    assert "CoffeeMachineEmpty: no page treats it" in done.stdout
    assert "BgpSessionDown.md" in done.stdout  # which none of these alerts leads to


def test_an_alert_that_a_page_treats_is_covered_and_still_fails_for_its_dead_link(
    coverage, tmp_path
):
    (tmp_path / "rules.yml").write_text(
        """
groups:
- name: net
  rules:
  - alert: FanTrayFailed
    expr: fans < 2
    annotations: {runbook_url: "https://wiki.example.net/hardware/fan-tray-gone.md"}
""",
        encoding="utf-8",
    )
    done = coverage("--fail", folder="wiki")
    assert done.returncode == 1
    assert "1 of 1 alerts are covered" in done.stdout
    assert "FanTrayFailed: fan-failure.md treats it; its link" in done.stdout


def test_programs_are_told_as_json_and_nothing_fails_unasked(coverage):
    done = coverage("--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [each["state"] for each in report["rules"]] == ["linked", "none"]


def test_a_file_that_holds_no_rules_is_refused_in_one_line(coverage, tmp_path):
    (tmp_path / "rules.yml").write_text("groups: 7", encoding="utf-8")
    done = coverage()
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "expected `groups`" in done.stderr


def test_pages_that_cannot_be_read_are_named_and_fail_a_pipeline(tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "fan.md").write_text("# FanTrayFailed\n\nReplace the fan.\n")
    (pages / "broken.md").write_bytes(b"# Broken\x00\n")
    command = [sys.executable, "-m", "services.cli", "coverage", "--documents", str(pages)]
    done = subprocess.run(
        [*command, "--fail"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 1
    assert "broken.md" in done.stderr


def test_a_pipeline_that_is_cancelled_leaves_no_folder(tmp_path):
    folder = tmp_path / "tmp"
    folder.mkdir()
    pages = ROOT / "examples" / "documents"
    command = [sys.executable, "-m", "services.cli", "coverage", "--documents", str(pages)]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | {"TMPDIR": str(folder)}) as cancelled:
        eventually(lambda: any(folder.iterdir()))
        cancelled.terminate()
        cancelled.wait(60)
    assert cancelled.returncode != 0
    assert not list(folder.iterdir())
