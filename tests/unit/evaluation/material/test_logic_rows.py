import json
from pathlib import Path

import pytest

from evaluation.material.logic_rows import chosen_rows, read_rows
from evaluation.material.pairs import PairsError

DRAWN = {
    "id": "a.md",
    "set": "switches",
    "doc": "switches/a.md",
    "query": "Fan dead. It is hot.",
    "ticket": {"title": "Fan dead", "description": "It is hot."},
    "reference": {
        "nodes": [
            {"id": "n1", "label": "Seated?", "kind": "decision", "core": True, "lines": [[3, 4]]},
            {"id": "n2", "label": "Push", "kind": "process", "core": False, "lines": []},
        ],
        "edges": [{"from": "n1", "to": "n2", "label": "No"}],
    },
}


def written(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_a_drawn_page_is_read_with_its_lines_and_its_core(tmp_path):
    (row,) = read_rows(written(tmp_path, DRAWN))
    assert not row.is_straight
    assert row.page == "switches/a.md"
    assert [(node.core, node.lines) for node in row.reference.nodes] == [
        (True, ((3, 4),)),
        (False, ()),
    ]
    assert (row.reference.edges[0].source, row.reference.edges[0].label) == ("n1", "No")


def test_the_ticket_is_the_one_of_the_row_and_nothing_else(tmp_path):
    (row,) = read_rows(written(tmp_path, {**DRAWN, "title": "secret"}))
    assert (row.draft.title, row.draft.description) == ("Fan dead", "It is hot.")
    assert "secret" not in row.draft.model_dump_json()


def test_without_a_ticket_the_query_is_one_and_without_a_query_the_title(tmp_path):
    query = {"id": "q", "query": "link down\non port 3", "title": "Links"}
    title = {"id": "t", "title": "Links"}
    first, second = read_rows(written(tmp_path, query, title))
    assert (first.draft.title, first.draft.description) == ("link down", "link down\non port 3")
    assert second.draft.title == "Links"


def test_a_row_may_hold_its_text_and_tell_no_lines(tmp_path):
    reference = {"nodes": [{"id": "a", "label": "do"}]}
    (row,) = read_rows(written(tmp_path, {"id": 7, "text": "Do it.", "reference": reference}))
    assert (row.page, row.text) == ("7", "Do it.")
    assert row.reference.nodes[0].lines is None


def test_a_row_without_a_drawing_is_a_straight_page(tmp_path):
    (row,) = read_rows(written(tmp_path, {"id": "a", "doc": "a.md", "title": "Log in"}))
    assert row.is_straight


def test_a_repeated_id_is_refused_by_its_line(tmp_path):
    with pytest.raises(PairsError, match=r"line 2.*before"):
        read_rows(written(tmp_path, DRAWN, DRAWN))


def test_rows_are_chosen_by_half_then_by_set_then_by_number(tmp_path):
    rows = read_rows(written(tmp_path, *({"id": f"r{n}", "set": "ab"[n % 2]} for n in range(60))))
    even, odd = chosen_rows(rows, "even"), chosen_rows(rows, "odd")
    assert sorted([*even, *odd], key=rows.index) == rows
    assert 10 < len(even) < 50
    assert [row.id for row in chosen_rows(rows, limit_per_set=2)] == ["r0", "r1", "r2", "r3"]
    assert [row.id for row in chosen_rows(rows, limit_per_set=2, first=3)] == ["r0", "r1", "r2"]
    assert chosen_rows(rows) == rows
