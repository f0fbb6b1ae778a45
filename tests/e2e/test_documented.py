"""What README and guides tell to send is sent to the running platform, and what they print comes back."""

import asyncio
import json
import shlex
import subprocess
import sys

import pytest

from tests.blocks import EXECUTED, GUIDES, ROOT, Block, blocks
from tests.e2e.conftest import Running

LOCAL = "http://127.0.0.1:8080"
REQUESTS = [
    (block, command)
    for block in blocks(*EXECUTED)
    for command in block.commands()
    if command.startswith("curl ")
]
PROGRAMS = [
    (block, then)
    for guide in GUIDES
    for block, then in zip(blocks(guide), blocks(guide)[1:], strict=False)
    if block.language == "python" and not block.file and then.language == "text"
]


@pytest.mark.parametrize(("block", "command"), REQUESTS, ids=[str(b) for b, _ in REQUESTS])
def test_a_request_is_answered(running: Running, block: Block, command: str) -> None:
    words = [word.replace(LOCAL, running.url) for word in shlex.split(command)]
    done = subprocess.run(
        [*words, "--fail-with-body", "--silent", "--show-error"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error" not in json.loads(done.stdout)


@pytest.mark.parametrize(("block", "then"), PROGRAMS, ids=[str(b) for b, _ in PROGRAMS])
def test_a_program_prints_what_its_guide_shows(
    running: Running, capsys: pytest.CaptureFixture[str], block: Block, then: Block
) -> None:
    names: dict[str, object] = {"__name__": "guide"}
    exec(compile(block.text, str(block), "exec"), names)
    asyncio.run(names["main"](running.url))  # type: ignore[operator]
    assert capsys.readouterr().out == then.text


def test_the_requests_and_programs_are_found() -> None:
    assert {block.page.name for block, _ in REQUESTS} >= {"README.md", "mcp.md"}
    assert PROGRAMS


def test_the_workflow_of_the_readme_is_the_one_that_is_printed(tmp_path) -> None:
    """Each line that README shows of the first run, but for what is cut."""
    (shown,) = [b for b in blocks(ROOT / "README.md") if b.language == "text"]
    command = [sys.executable, "-m", "services.cli", "run", "--once", "--port", "0"]
    done = subprocess.run(
        [*command, "--data-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    printed = {" ".join(line.split()) for line in done.stdout.splitlines()}
    lines = [" ".join(line.split()) for line in shown.text.splitlines()]
    kept = [line for line in lines if line and "…" not in line and not line.startswith("Open ")]
    assert [line for line in kept if line not in printed] == []
