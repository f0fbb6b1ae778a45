from evaluation.material.logic_rows import LogicRow
from evaluation.measures.first_acts import Act, FirstActs, JudgedAct, act_figures, judged_acts
from tests.unit.evaluation.drawings import DOC, drawn

FLOW = drawn(
    "A[Look at the tray] --> B{Is it seated?}",
    "B -- no --> C[Push it in]",
    "B -- yes --> D[Clean the rotor]",
    "C --> E[Look at the speed]",
    "D --> E",
    "E --> X([Resolved])",
    core="CD",
)
"""Each step stands on the line of its letter."""
ROW = LogicRow(id="fan", doc=DOC, reference=FLOW)


def judged(*steps: str, page: str = DOC, changes: str = "CD") -> list[JudgedAct]:
    acts = tuple(Act(page=page, line=ord(step), changes=step in changes) for step in steps)
    return judged_acts(FirstActs(file="f.txt", acts=acts, trust=4), ROW)


def test_a_change_is_in_turn_behind_the_check_whose_outcome_its_question_asks():
    assert [act.is_in_turn for act in judged("A", "C")] == [True, True]
    assert [act.is_in_turn for act in judged("B", "C")] == [True, True]


def test_a_change_is_out_of_turn_before_the_question_that_leads_to_it():
    assert [act.is_in_turn for act in judged("C", "A")] == [False, True]


def test_what_is_done_either_way_waits_for_no_question():
    assert judged("E")[0].is_in_turn


def test_only_a_core_step_counts_as_one():
    assert [act.is_core for act in judged("A", "D")] == [False, True]
    assert all(act.is_step for act in judged("A", "D"))


def test_a_line_that_no_step_has_and_another_page_are_on_no_step():
    nowhere = JudgedAct(is_step=False, is_core=False, is_in_turn=False, changes=False)
    assert judged("Z") == [nowhere]
    assert judged("A", page="set/other.md") == [nowhere]


def test_figures_are_shares_of_acts_and_of_the_changes_among_them():
    figures = act_figures([judged("A", "C"), judged("D", "E")], [4, 3])
    assert (figures["n"], figures["acts"]) == (2, 4)
    assert figures["on a core step"] == 0.5
    assert figures["in turn"] == 0.75
    assert figures["changes"] == 0.5
    assert figures["changes out of turn"] == 0.5
    assert figures["changes out of turn from"] == 0
    assert figures["changes out of turn to"] == 1
    assert figures["trust"] == 3.5


def test_where_nobody_acts_there_are_no_figures():
    assert act_figures([[]], [1]) == {}
