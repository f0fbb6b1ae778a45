"""The locks hold what is asked for, by hash, and name no place on a network or a disk."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = {
    "requirements.txt": ["requirements.in", "requirements-build.in"],
    "requirements-dev.txt": ["requirements-dev.in"],
    "requirements-vllm.txt": ["requirements-vllm.in"],
}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def asked(path: Path) -> set[str]:
    lines = path.read_text("utf-8").splitlines()
    names = (re.match(r"[A-Za-z0-9._-]+", line) for line in lines)
    return {normalised(match.group()) for match in names if match}


def pinned(path: Path) -> dict[str, str]:
    entries = re.findall(
        r"^([A-Za-z0-9._-]+)==\S+((?:.*\\\n)*.*)", path.read_text("utf-8"), re.MULTILINE
    )
    return {normalised(name): rest for name, rest in entries}


@pytest.mark.parametrize(("lock", "sources"), LOCKS.items())
def test_everything_asked_for_is_locked_by_hash(lock, sources):
    found = pinned(ROOT / lock)
    wanted = set().union(*(asked(ROOT / source) for source in sources))
    assert wanted <= found.keys(), "run `make lock`"
    assert [name for name, rest in found.items() if "--hash=sha256:" not in rest] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_a_place(lock):
    text = (ROOT / lock).read_text("utf-8")
    assert re.findall(r"\w+://|--index|--find-links|@ file", text) == []


def test_torch_is_not_locked():
    assert "torch" not in pinned(ROOT / "requirements.txt")


def test_the_package_asks_for_what_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    dependencies = project["tool"]["setuptools"]["dynamic"]["dependencies"]
    assert dependencies == {"file": ["requirements.in"]}


def test_the_embedders_file_can_be_made_with_what_runs_alone():
    installed = set(
        re.findall(r"^([\w-]+)==", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    )
    assert {"onnx", "onnxruntime", "sentence-transformers"} <= installed
