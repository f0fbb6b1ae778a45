"""The settings page and `.env.example` are what the classes print."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("form", "path"), [("markdown", "docs/reference/settings.md"), ("env", ".env.example")]
)
def test_the_committed_file_is_what_the_classes_print(form, path):
    printed = subprocess.run(
        [sys.executable, "-m", "services.cli", "settings", "--format", form],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert (ROOT / path).read_text(encoding="utf-8") == printed, "run `make docs`"
