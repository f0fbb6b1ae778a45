import json
from pathlib import Path

import pytest

from evaluation.material.pairs import by_group, read_pairs
from services.kit.files import UnusableFileError


def written(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
    return path


REFERENCE = {
    "nodes": [
        {"id": "A", "label": "Fan alarm", "kind": "process"},
        {"id": "B", "label": "Tray seated?", "kind": "decision"},
        {"id": "C", "label": "Seat it", "kind": "terminal"},
    ],
    "edges": [
        {"from": "A", "to": "B", "label": ""},
        {"from": "B", "to": "C", "label": "No"},
        {"from": "B", "to": "Z", "label": "Yes"},
    ],
}


def test_a_line_with_everything_is_read(tmp_path):
    line = {
        "id": 7,
        "set": "switches",
        "tier": "A",
        "query": "x",
        "query_variants": {"titled": "Fan failed", "error_only": "FAN-2-FAIL"},
        "doc": "a.md",
        "docs": ["a.md", "b.md"],
        "reference": REFERENCE,
    }
    (pair,) = read_pairs(written(tmp_path, line))
    assert (pair.id, pair.group, pair.tier) == ("7", "switches/A", "A")
    assert pair.gold_documents == ("a.md", "b.md")
    assert pair.headline_forms == ("error_only",)


def test_a_decision_with_one_exit_stays_and_an_edge_to_nowhere_is_counted(tmp_path):
    (pair,) = read_pairs(written(tmp_path, {"id": "a", "query": "q", "reference": REFERENCE}))
    assert pair.reference is not None
    assert [step.text for step in pair.reference.steps] == ["Fan alarm", "Tray seated?", "Seat it"]
    assert [edge.condition for edge in pair.reference.exits("B")] == ["No"]
    assert pair.dropped_edges == 1


def test_the_first_of_two_nodes_with_one_id_stays(tmp_path):
    nodes = [{"id": "A", "label": "one"}, {"id": "A", "label": "two"}]
    line = {"id": "a", "query": "q", "reference": {"nodes": nodes}}
    (pair,) = read_pairs(written(tmp_path, line))
    assert pair.reference is not None
    assert [step.text for step in pair.reference.steps] == ["one"]


def test_a_line_without_set_and_forms_is_the_one_set_with_the_one_form(tmp_path):
    (pair,) = read_pairs(written(tmp_path, {"id": "a", "query": "down", "gold_doc": "x.md"}))
    assert pair.group == "all/-"
    assert pair.forms == {"query": "down"}
    assert pair.headline_forms == ("query",)
    assert pair.gold_documents == ("x.md",)


def test_a_pair_that_has_only_the_titled_form_counts_it(tmp_path):
    (pair,) = read_pairs(written(tmp_path, {"id": "a", "query_variants": {"titled": "t"}}))
    assert pair.headline_forms == ("titled",)


def test_the_ticket_holds_the_query_and_nothing_else_of_the_pair(tmp_path):
    line = {"id": "a", "query": "\nlink down\non port 3", "title": "secret", "alert": "Secret"}
    (pair,) = read_pairs(written(tmp_path, line))
    ticket = pair.ticket("query")
    assert ticket.title == "link down"
    assert ticket.description == "\nlink down\non port 3"
    assert "ecret" not in ticket.model_dump_json()


def test_groups_keep_the_order_of_the_file(tmp_path):
    lines = [{"id": str(n), "set": s, "tier": "C", "query": "q"} for n, s in enumerate("bab")]
    groups = by_group(read_pairs(written(tmp_path, *lines)))
    assert {name: len(pairs) for name, pairs in groups.items()} == {"b/C": 2, "a/C": 1}
    assert list(groups) == ["b/C", "a/C"]


def test_about_half_of_the_ids_are_for_fitting(tmp_path):
    pairs = read_pairs(written(tmp_path, *({"id": f"p{n}", "query": "q"} for n in range(200))))
    assert 70 < sum(pair.is_fitted for pair in pairs) < 130


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2"),
        ("[]", "line 2"),
        ('{"query": "q"}', "id"),
        ('{"id": "b"}', "query"),
        ('{"id": "b", "query": "q", "reference": {"nodes": [{"label": "x"}]}}', "reference.nodes"),
        ('{"id": "a", "query": "q"}', "before"),
    ],
)
def test_a_line_that_is_no_pair_is_named(tmp_path, line, says):
    with pytest.raises(UnusableFileError, match=says):
        read_pairs(written(tmp_path, {"id": "a", "query": "q"}, line))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UnusableFileError, match=r"gone\.jsonl"):
        read_pairs(tmp_path / "gone.jsonl")
