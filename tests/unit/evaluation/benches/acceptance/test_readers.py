import json
from pathlib import Path

import pytest

from evaluation.benches.acceptance.readers import KEY, ShownRecord, counted, write_folders
from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import PairsError
from tests.unit.evaluation.drawings import DOC, drawn

ROWS = [
    LogicRow(id=f"case {n}", doc=DOC, reference=drawn("A[Look] --> B[Mend]", core="B"))
    for n in range(4)
]


def shown(arm: str) -> list[ShownRecord]:
    ticket = {"title": "Fan", "description": "It stands still."}
    return [
        ShownRecord.model_validate(
            {
                "id": row.id,
                "arm": arm,
                "ticket": ticket,
                "page": "secret",
                "shown": f"{row.id}, seen",
            }
        )
        for row in ROWS
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert write_folders([*shown("one"), *shown("other")], tmp_path, each=4, seed=1) == 2
    return tmp_path


def key(folder: Path) -> dict[str, dict[str, str]]:
    content: dict[str, dict[str, str]] = json.loads((folder / KEY).read_text())
    return content


def test_no_reader_sees_a_case_twice_and_each_sees_both_ways(folder):
    for number in range(2):
        files = [key(folder)[path.name] for path in (folder / f"{number:03}").iterdir()]
        assert sorted(file["id"] for file in files) == [row.id for row in ROWS]
        assert {file["arm"] for file in files} == {"one", "other"}


def test_a_file_holds_ticket_and_screen_and_neither_the_page_nor_the_way(folder):
    for path in folder.glob("0*/*.txt"):
        text = path.read_text()
        assert "It stands still." in text
        assert "seen" in text
        assert "secret" not in text
        assert key(folder)[path.name]["arm"] not in text


def test_a_brief_names_the_readers_own_folder_and_its_verdicts(folder):
    brief = (folder / "brief_001.txt").read_text()
    assert str(folder / "001") in brief
    assert str(folder / "verdict_001.jsonl") in brief
    assert '{"file": "NAME.txt", "acts": [{"page"' in brief


def test_verdicts_and_first_acts_are_counted_by_way_of_showing(folder):
    for name, file in key(folder).items():
        act = {"page": DOC, "line": ord("B" if file["arm"] == "one" else "Z"), "changes": True}
        first = {"file": name.removesuffix(".txt"), "acts": [act], "trust": 4}
        judged = {"verdict": "accept", "harm": False, "recall": 100, "clear": 4}
        lines = [first, {"file": name, **judged}]
        with (folder / "verdict_000.jsonl").open("a") as out:
            out.writelines(f"{json.dumps(line)}\n" for line in lines)
    report = counted([folder], ROWS).report({}, 1.0).model_dump()
    assert report["sets"]["one"]["accept"] == 1
    assert report["first_acts"]["one"]["on a core step"] == 1
    assert report["first_acts"]["other"]["on a step"] == 0


def test_a_verdict_on_a_file_of_nobody_is_refused(folder):
    (folder / "verdict_000.jsonl").write_text('{"file": "other.txt", "acts": [], "trust": 3}\n')
    with pytest.raises(PairsError, match=r"no reader was given a file 'other\.txt'"):
        counted([folder], ROWS)


def test_a_verdict_without_its_parts_is_refused_with_its_place(folder):
    name = next(iter(key(folder)))
    (folder / "verdict_000.jsonl").write_text(json.dumps({"file": name, "verdict": "fine"}))
    with pytest.raises(PairsError, match=r"verdict_000\.jsonl, line 1"):
        counted([folder], ROWS)


def test_a_folder_without_its_key_is_refused(tmp_path):
    with pytest.raises(PairsError, match="expected the key"):
        counted([tmp_path], ROWS)
