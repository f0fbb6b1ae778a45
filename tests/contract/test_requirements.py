"""The locks hold what is asked for, by hash, and name no place on a network or a disk."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from services.deployment.rooms import ROOMS
from services.kit.settings import EmbedderChoice, PlatformSettings
from services.knowledge.embedding.onnx_model import ensure_model_file

ROOT = Path(__file__).parents[2]
ROOMS_ASK = sorted(
    path.relative_to(ROOT).as_posix() for path in ROOT.glob("services/*/requirements.in")
)
OF_EVERY_ROOM = "services/room/requirements.in"
SERVICES = [room.name for room in ROOMS]
LOCKS = {
    "requirements.txt": ["requirements.in", *ROOMS_ASK, "requirements-build.in"],
    "requirements-torch.txt": ["requirements-torch.in"],
    "requirements-training.txt": ["requirements-training.in"],
    "requirements-dev.txt": ["requirements-dev.in"],
    "requirements-vllm.txt": ["requirements-vllm.in"],
    **{
        f"deploy/requirements/{name}.txt": [OF_EVERY_ROOM, f"services/{name}/requirements.in"]
        for name in SERVICES
    },
}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(path: Path) -> set[str]:
    lines = path.read_text("utf-8").splitlines()
    names = (re.match(r"[A-Za-z0-9._-]+", line) for line in lines)
    return {normalised(match.group()) for match in names if match}


def pinned(path: Path) -> dict[str, str]:
    entries = re.findall(
        r"^([A-Za-z0-9._-]+)==\S+((?:.*\\\n)*.*)", path.read_text("utf-8"), re.MULTILINE
    )
    return {normalised(name): rest for name, rest in entries}


def versions(lock: str) -> set[str]:
    pins = re.findall(r"^([\w.-]+==[\w.+!-]+)", (ROOT / lock).read_text("utf-8"), re.MULTILINE)
    return set(pins)


@pytest.mark.parametrize(("lock", "sources"), LOCKS.items())
def test_everything_asked_for_is_locked_by_hash(lock, sources):
    locked = pinned(ROOT / lock)
    wanted = set().union(*(required(ROOT / source) for source in sources))
    assert wanted <= locked.keys(), "run `make lock`"
    assert [name for name, rest in locked.items() if "--hash=sha256:" not in rest] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_a_place(lock):
    text = (ROOT / lock).read_text("utf-8")
    assert re.findall(r"\w+://|--index|--find-links|@ file", text) == []


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_holds_what_the_platform_was_tested_with(service):
    """The same versions, of fewer packages."""
    platform, image = versions("requirements.txt"), versions(f"deploy/requirements/{service}.txt")
    assert image < platform


def test_torch_and_what_needs_it_are_locked_for_nobody_who_does_not_ask():
    apart = {"sentence-transformers", "transformers"}
    for lock in set(LOCKS) - {"requirements-vllm.txt"}:
        locked = pinned(ROOT / lock).keys()
        assert "torch" not in locked, lock
        asks = {"requirements-torch.txt", "requirements-training.txt"}
        assert apart.isdisjoint(locked) or lock in asks, lock
    assert apart <= pinned(ROOT / "requirements-torch.txt").keys()


def test_the_package_asks_for_what_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    dynamic = project["tool"]["setuptools"]["dynamic"]
    assert dynamic["dependencies"] == {"file": ["requirements.in", *ROOMS_ASK]}
    assert dynamic["optional-dependencies"] == {
        "torch": {"file": ["requirements-torch.in"]},
        "training": {"file": ["requirements-training.in"]},
    }


def test_what_trains_and_what_embeds_stand_beside_each_other():
    """Both locks go into one environment: no package may have two versions there."""
    torch, training = (_by_name(f"requirements-{name}.txt") for name in ("torch", "training"))
    other = {name for name in torch.keys() & training.keys() if torch[name] != training[name]}
    assert other == set()


def _by_name(lock):
    by_name = {}
    for each in versions(lock):
        by_name.setdefault(each.partition("==")[0], set()).add(each)
    return by_name


def test_the_embedders_file_can_be_made_with_what_runs_alone():
    assert {"onnx", "onnxruntime", "safetensors"} <= pinned(ROOT / "requirements.txt").keys()


@pytest.fixture(scope="module")
def built():
    """Each room built with its own lock, and last of all one with the lock of another.

    The embedder's file is made beforehand: an image brings it along.
    """
    settings = PlatformSettings()
    for choice in (EmbedderChoice.ONNX, EmbedderChoice.ONNX_INT8):
        ensure_model_file(
            settings.embedder_path(choice), is_int8=choice is EmbedderChoice.ONNX_INT8
        )
    pairs = [*((name, name) for name in SERVICES), ("retrieval", "planner")]
    rooms = [part for room, lock in pairs for part in (room, f"deploy/requirements/{lock}.txt")]
    command = [sys.executable, "-m", "tests.contract.room_alone", *rooms]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(pairs, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("service", SERVICES)
def test_a_room_is_built_with_what_its_image_holds(built, service):
    error, imported = built[service, service]
    assert error == "", error
    assert imported
    assert {"torch", "sentence-transformers", "onnx"}.isdisjoint(imported)


def test_a_room_is_not_built_with_what_the_image_of_another_holds(built):
    error, _ = built["retrieval", "planner"]
    assert "this image does not hold neo4j" in error
