"""Walls inside the rooms: no circle of imports between neighbours of a folder, and no crowd."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("services", "evaluation", "training")
MOST_MODULES = 15

CROWDS = {
    "evaluation/material": "a file for each kind of row that benchmarks read",
    "evaluation/measures": "a file for each measure",
    "evaluation/report": "a file for each section of the results",
    "evaluation/perturbations": "a list: one kind of flaw each",
    "evaluation/commands": "a list: one command each",
    "services/cli": "a list: one command or group of commands each",
    "services/contracts": "a list: the messages of one subject each",
}
"""Folders with more modules than `MOST_MODULES`, and why."""


@cache
def modules() -> dict[str, Path]:
    """Files by the name they are imported by; migrations are a list and import nothing here."""
    by_name = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if "migrations" not in parts:
                by_name[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return by_name


def imported(module: str) -> Iterator[str]:
    """Names of modules, as they stand at the top, in functions and under TYPE_CHECKING."""
    path = modules()[module]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative imports are not followed"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules() else str(node.module)


@cache
def neighbours() -> dict[str, dict[str, set[str]]]:
    """By folder: each of its units (a file or a folder in it) with the units it imports."""
    by_folder: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module in modules():
        for other in imported(module):
            one, another = module.split("."), other.split(".")
            pairs = zip(one, another, strict=False)
            depth = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
            if 0 < depth < min(len(one), len(another)):
                by_folder["/".join(one[:depth])][one[depth]].add(another[depth])
    return by_folder


def knotted(folder: str) -> set[str]:
    """Units of a folder that lie on a circle: those that reach themselves."""
    direct = neighbours().get(folder, {})

    def reaches_itself(unit: str) -> bool:
        reached: set[str] = set()
        ahead = [unit]
        while ahead:
            new = direct.get(ahead.pop(), set()) - reached
            reached |= new
            ahead += new
        return unit in reached

    return {unit for unit in direct if reaches_itself(unit)}


def folders() -> list[str]:
    return sorted({path.parent.relative_to(ROOT).as_posix() for path in modules().values()})


def test_no_units_of_a_folder_import_each_other_in_a_circle():
    circles = {folder: knotted(folder) for folder in folders()}
    assert {folder: units for folder, units in circles.items() if units} == {}


def test_folders_of_many_modules_are_those_that_say_why():
    paths = [path for path in modules().values() if path.name != "__init__.py"]
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in paths)
    assert {folder for folder, count in counts.items() if count > MOST_MODULES} == CROWDS.keys()
