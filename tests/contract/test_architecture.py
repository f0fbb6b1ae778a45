"""The house: what import-linter cannot say about it."""

import re
import tomllib
from pathlib import Path

import pytest

from services.deployment.rooms import ROOMS, find_room

ROOT = Path(__file__).parents[2]
DEPLOYABLES = [room.name for room in ROOMS]


def layers() -> list[set[str]]:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    (house,) = (each for each in contracts if "services.cli" in each.get("layers", ()))
    return [set(layer.split(" | ")) for layer in house["layers"]]


def test_every_room_has_its_place_in_the_import_rules():
    packages = {f"services.{path.parent.name}" for path in ROOT.glob("services/*/__init__.py")}
    assert packages | {"evaluation", "training"} == set().union(*layers())
    assert [path.name for path in ROOT.glob("services/*.py")] == ["__init__.py"]


def test_the_documentation_tells_the_import_rules_and_names_files_that_are_there():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (chain,) = re.findall(r"Who may import whom is checked: ([^.]*)\.", page)
    named = [set(re.findall(r"`([\w.]+)`", layer)) for layer in chain.split(">")]
    here = {f"services.{room}" for room in DEPLOYABLES}
    assert named == [
        set() if layer == here else {each.removeprefix("services.") for each in layer}
        for layer in layers()
    ]
    files = {str(path) for path in ROOT.glob("services/**/*.py")}
    for name in re.findall(r"`([\w/]+\.py)`", page):
        assert any(path.endswith(f"/{name}") for path in files), name


def test_deployables_stand_side_by_side():
    assert {f"services.{room}" for room in DEPLOYABLES} in layers()


@pytest.mark.parametrize("room", DEPLOYABLES)
def test_a_path_tells_the_layer(room):
    packages = [room, *find_room(room).packages]
    files = {path.name for each in packages for path in (ROOT / "services" / each).iterdir()}
    assert {"app.py", "room.py", "endpoints.py", "settings.py"} <= files


def test_every_error_has_a_name_of_its_own():
    """A refusal travels over HTTP by its name."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "services").rglob("*.py"))
    names = [
        name for text in sources for name in re.findall(r"^class (\w+Error)\b", text, re.MULTILINE)
    ]
    assert sorted(names) == sorted(set(names))
