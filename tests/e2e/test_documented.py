"""What README and guides tell to send is sent, and their programs are run, on the platform."""

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
def test_a_program_prints_what_its_guide_shows(running: Running, block: Block, then: Block) -> None:
    program = block.text.replace(LOCAL, running.url)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout == then.text, done.stderr


def test_the_requests_and_programs_are_discovered() -> None:
    assert {block.page.name for block, _ in REQUESTS} >= {"README.md", "mcp.md"}
    assert PROGRAMS
