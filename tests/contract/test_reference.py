"""The pages of `docs/reference/` that tell what the code says are what it says."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_committed_pages_are_what_the_code_says():
    done = subprocess.run(
        [sys.executable, "docs/reference/export.py", "--check"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
