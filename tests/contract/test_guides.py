"""Each guide is followed in a copy of the code: files written, lines added, tests run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.blocks import GUIDES, ROOT, Block, blocks, words

CHANGING = [guide for guide in GUIDES if any(block.file for block in blocks(guide))]


def follow(block: Block, copy: Path) -> None:
    """Write the file of a block, or make its change in the one place where it fits."""
    path = copy / block.file
    if block.language != "diff":
        assert not path.exists(), f"{block} writes a file that is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")
        return
    lines = block.text.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if not line.startswith("+"))
    after = "".join(line[1:] for line in lines if not line.startswith("-"))
    text = path.read_text("utf-8")
    assert text.count(before) == 1, f"{block} does not fit {block.file}"
    path.write_text(text.replace(before, after), "utf-8")


def run_by(guide: Path) -> list[str]:
    """What the guide says to run: arguments of pytest."""
    commands = [words(c) for b in blocks(guide) if b.language == "sh" for c in b.commands()]
    (arguments,) = [command[1:] for command in commands if command[0] == "pytest"]
    return arguments


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The code after all guides were followed."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("services", "evaluation", "tests"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for block in blocks(*CHANGING):
        if block.file:
            follow(block, folder)
    return folder


@pytest.fixture(scope="module")
def printed(copy) -> str:
    """What pytest prints of the tests of all guides, run at once."""
    paths, chosen = [], []
    for guide in CHANGING:
        arguments = run_by(guide)
        paths += [each for each in arguments if each.endswith(".py")]
        chosen += arguments[arguments.index("-k") + 1 :] if "-k" in arguments else ()
        chosen += [] if "-k" in arguments else [Path(arguments[0]).stem]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-vv", "-n", "0", *paths, "-k", " or ".join(chosen)],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def ids(guide: Path) -> str:
    return guide.stem


@pytest.mark.parametrize("guide", CHANGING, ids=ids)
def test_the_tests_of_the_guide_pass(printed, guide):
    paths = [each for each in run_by(guide) if each.endswith(".py")]
    for path in paths:
        outcomes = re.findall(
            rf"^{re.escape(path)}::.* (PASSED|FAILED|ERROR)", printed, re.MULTILINE
        )
        assert outcomes, printed
        assert set(outcomes) == {"PASSED"}, printed


def test_the_code_of_the_guides_is_in_the_style_of_the_rest(copy):
    files = sorted({block.file for block in blocks(*CHANGING) if block.file.endswith(".py")})
    for command in (["check"], ["format", "--check", "--diff"]):
        ruff = Path(sys.executable).with_name("ruff")
        done = subprocess.run(
            [ruff, *command, *files], cwd=copy, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_can_be_added_has_a_guide():
    assert {guide.stem for guide in CHANGING} == {
        f"add-a-{what}" for what in ("source", "reader", "criterion", "prompt", "store")
    }
