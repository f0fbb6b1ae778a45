"""The settings page and `.env.example` are what the classes print."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("settings --format markdown", "docs/reference/settings.md"),
        ("settings --format env", ".env.example"),
        ("metrics", "docs/operate/metrics.md"),
    ],
)
def test_the_committed_file_is_what_the_classes_print(command, path):
    printed = subprocess.run(
        [sys.executable, "-m", "services.cli", *command.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert (ROOT / path).read_text(encoding="utf-8") == printed, "run `make docs`"
