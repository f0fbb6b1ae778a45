"""The glossary names classes that are there, and each concept once."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| name |")
]
SOURCE = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "services").rglob("*.py"))
)


def test_each_concept_has_one_row_and_says_what_it_is_not():
    names = [row[0] for row in ROWS]
    assert len(names) >= 40
    assert sorted(names) == sorted(set(names))
    assert all(len(row) == 4 and row[1] and row[2] for row in ROWS)


def test_each_class_of_the_glossary_is_there():
    for row in ROWS:
        for name in re.findall(r"`(\w+)`", row[3]):
            assert re.search(rf"^class {name}\b", SOURCE, re.MULTILINE), name
