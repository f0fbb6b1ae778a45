"""Every command with every kind of bad file ends in a sentence that names it, not in a traceback.

Commands and their paths are those of the parser, so a new command is tried without a line here. The
tries are made in one process that the operating system refuses what it refuses a user.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TRY_ALL = Path(__file__).parents[1] / "bad_files.py"


@pytest.mark.parametrize(
    ("what", "least"), [("paths", 1_000), pytest.param("contents", 300, marks=pytest.mark.slow)]
)
def test_every_command_ends_in_a_sentence(
    ingested: Path, tmp_path: Path, what: str, least: int
) -> None:
    home = shutil.copytree(ingested, tmp_path / "home")
    done = subprocess.run(
        [sys.executable, str(TRY_ALL), what, str(tmp_path), str(home)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["tries"] > least
    assert outcome["faults"] == []
