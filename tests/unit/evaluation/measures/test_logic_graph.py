import pytest

from evaluation.material.logic_rows import GoldGraph
from evaluation.measures.logic_graph import LogicGraph, gold_graph, workflow_graph
from services.workflow.model import Citation, Workflow
from tests.unit.evaluation.drawings import DOC, chart, cited, drawn


def graph(*lines: str) -> LogicGraph:
    return gold_graph(drawn(*lines))


BRANCHED = graph(
    "A[look] --> B{broken?}",
    "B -->|Yes| C[mend] --> D[look again]",
    "B -->|No| D",
    "D --> E{still broken?} -->|yes| F([escalate])",
    "E -->|no| G([done])",
)
LOOP = graph("A[try] --> B[wait] --> C{fine?}", "C -->|no| A", "C -->|yes| D[leave]")


def test_a_step_is_guarded_by_the_answers_that_every_way_to_it_passes():
    assert BRANCHED.guards["C"] == {("B", "yes")}
    assert BRANCHED.guards["D"] == frozenset()
    assert BRANCHED.guards["F"] == {("E", "yes")}


def test_guards_of_guards_add_up():
    nested = graph(
        "A{one?} -->|yes| B{two?}", "A -->|no| X[out]", "B -->|no| C[both]", "B -->|yes| X"
    )
    assert nested.guards["C"] == {("A", "yes"), ("B", "no")}


def test_two_answers_that_lead_to_one_step_do_not_guard_it():
    assert graph("A{which?} -->|red| B[go]", "A -->|blue| B").guards["B"] == frozenset()


def test_two_edges_with_one_answer_are_one_guard():
    both = graph("A{which?} -->|red| B[one] --> C[two]", "A -->|red| C", "A -->|blue| D[three]")
    assert both.guards["C"] == {("A", "red")}


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("A", "D", (">", True, True)),
        ("C", "A", ("<", True, False)),
        ("A", "C", (">", False, True)),
        ("F", "G", ("+", False, False)),
        ("C", "D", (">", True, False)),
    ],
)
def test_two_actions_stand_in_order_or_exclude_each_other(one, other, relation):
    assert BRANCHED.relation(one, other) == relation


def test_two_actions_of_a_loop_come_before_and_after_each_other():
    assert LOOP.relation("A", "B") == ("||", True, True)
    assert LOOP.relation("B", "D") == (">", True, True)


def test_ends_that_no_line_says_do_not_count():
    drawing = graph("A[look] --> V([resolved by itself])", "A --> Z([resolved])")
    assert drawing.actions == ["A", "V"]


def test_where_a_set_tells_no_lines_every_end_counts_and_nothing_else():
    drawing = GoldGraph.model_validate(
        {
            "nodes": [
                {"id": "a", "label": "do"},
                {"id": "b", "label": "fork", "kind": "parallel"},
                {"id": "c", "label": "end", "kind": "terminal"},
            ]
        }
    )
    assert gold_graph(drawing).actions == ["a", "c"]


def test_a_workflow_has_lines_where_it_cites_the_page():
    steps = cited(chart("A[look] --> B[mend] --> C[leave]")).steps
    whole_page = Citation(document_id=DOC, start_line=1, end_line=40)
    other_page = Citation(document_id="other.md", start_line=66, end_line=66)
    steps = (
        steps[0],
        steps[1].model_copy(update={"citations": (other_page,)}),
        steps[2].model_copy(update={"citations": (whole_page,)}),
    )
    made = workflow_graph(Workflow(title="", steps=steps), DOC)
    assert [node.lines for node in made.nodes.values()] == [{65}, frozenset(), frozenset()]


def test_the_page_may_be_told_from_another_folder():
    made = workflow_graph(cited(chart("A[look]")), f"corpus/{DOC}")
    assert made.nodes["A"].lines == {65}


def test_an_edge_to_nowhere_is_left_out():
    node = {"id": "a", "label": "do"}
    drawing = GoldGraph.model_validate({"nodes": [node], "edges": [{"from": "a", "to": "b"}]})
    assert gold_graph(drawing).edges == []


def test_an_empty_drawing_has_no_logic():
    empty = gold_graph(GoldGraph(nodes=()))
    assert empty.actions == empty.decisions == []
    assert empty.guards == {}
