import pytest

from services.runbook.lowering import lower
from services.runbook.model import Purpose
from services.workflow.lint import is_clean, lint
from services.workflow.model import StepKind
from tests.unit.runbook.programs import ask, do, drawn, end, procedure

PERSISTS = {"outcome": "Does the fan still stand?"}


SOLVED = "Is the issue resolved? -> Yes: Resolved, No: Nothing else on this page: escalate"


def test_a_remedy_without_a_check_leads_to_the_question_whether_it_helped():
    assert drawn(do("Look"), do("Mend")) == [
        "Look -> Mend",
        "Mend -> Is the issue resolved?",
        SOLVED,
        "Resolved",
        "Nothing else on this page: escalate",
    ]


def test_a_task_ends_with_its_steps():
    program = procedure(do("Look"), do("Mend")).model_copy(update={"purpose": Purpose.TASK})
    assert [step.text for step in lower(program, "page.md").steps] == ["Look", "Mend", "Done"]


def test_a_page_that_only_looks_says_no_more():
    assert drawn(do("Look"), do("Check the log"))[-1] == "The page says no more"
    assert drawn(do("Mend"), end("stop", ""))[-1] == "The page says no more"


def test_success_that_no_line_says_is_a_question_after_a_remedy():
    lines = drawn(ask("Is it hot?", do("Cool it"), end("resolved", "")), do("Wait"))
    assert "Cool it -> Is the issue resolved?" in lines


def test_who_mended_something_before_is_never_not_covered():
    lines = drawn(do("Mend"), ask("Is it hot?", do("Cool it")))
    assert lines[1] == "Is it hot? -> Yes: Cool it, No: Is the issue resolved?"


def test_a_step_under_a_condition_is_reached_only_through_it():
    assert drawn(ask("Is it hot?", do("Cool it")), do("Wait")) == [
        "Is it hot? -> Yes: Cool it, No: Wait",
        "Cool it -> Wait",
        "Wait -> Is the issue resolved?",
        SOLVED,
        "Resolved",
        "Nothing else on this page: escalate",
    ]


def test_a_silent_answer_with_nothing_left_is_not_covered():
    lines = drawn(ask("Is it hot?", do("Cool it")))
    assert lines[0] == "Is it hot? -> Yes: Cool it, No: Nothing else on this page: escalate"
    assert "Cool it -> Is the issue resolved?" in lines


def test_a_silent_answer_comes_to_the_verification():
    lines = drawn(ask("Is it hot?", do("Cool it")), verification=[do("Measure")])
    assert lines[0] == "Is it hot? -> Yes: Cool it, No: Measure"


def test_who_only_leaves_by_an_end_of_failure_leaves_the_others_well():
    lines = drawn(do("Look"), ask("Is it burnt?", end("escalate", "Call the fire brigade")))
    assert lines[1] == "Is it burnt? -> Yes: Call the fire brigade, No: The page says no more"


def test_causes_are_asked_in_order_each_with_its_remedy():
    choice = {
        "choice": "exclusive",
        "arms": [
            {"when": "Is A wrong?", "steps": [do("Mend A")]},
            {"when": "Is B wrong?", "steps": [do("Mend B")]},
        ],
        "otherwise": [end("escalate", "Call the vendor", 9)],
    }
    assert drawn(choice) == [
        "Is A wrong? -> Yes: Mend A, No: Is B wrong?",
        "Mend A -> Is the issue resolved?",
        "Is B wrong? -> Yes: Mend B, No: Call the vendor",
        "Mend B -> Is the issue resolved?",
        SOLVED,
        "Resolved",
        "Nothing else on this page: escalate",
        "Call the vendor",
    ]


def test_causes_that_hold_together_are_all_checked():
    choice = {
        "choice": "any",
        "arms": [
            {"when": "Is A wrong?", "steps": [do("Mend A")]},
            {"when": "Is B wrong?", "steps": [do("Mend B")]},
        ],
    }
    lines = drawn(choice, do("Look again"))
    assert "Mend A -> Is B wrong?" in lines
    assert "Is B wrong? -> Yes: Mend B, No: Look again" in lines


def test_remedies_in_order_ask_whether_they_helped_and_escalate_last():
    arms = [{"steps": [do("Reseat the tray: pull and push")]}, {"steps": [do("Replace")]}]
    lines = drawn({"choice": "in_order", "arms": arms}, escalation=[do("Open a case", 7)])
    assert lines == [
        "Reseat the tray: pull and push -> Did it help to reseat the tray?",
        "Did it help to reseat the tray? -> Yes: Resolved, No: Replace",
        "Replace -> Is the issue resolved?",
        "Is the issue resolved? -> Yes: Resolved, No: Open a case",
        "Resolved",
        "Open a case",
    ]


def test_the_outcome_that_a_page_asks_stands_in_for_ours():
    choice = {
        "choice": "in_order",
        "arms": [{"steps": [do("Reseat")]}, {"when": PERSISTS, "steps": [do("Replace")]}],
    }
    assert drawn(choice) == [
        "Reseat -> Does the fan still stand?",
        "Does the fan still stand? -> Yes: Replace, No: Resolved",
        "Replace -> Is the issue resolved?",
        SOLVED,
        "Nothing else on this page: escalate",
        "Resolved",
    ]


def test_who_was_helped_never_comes_to_the_next_remedy():
    lines = drawn(do("Reseat"), ask(PERSISTS, do("Replace")), verification=[do("Measure")])
    assert "Does the fan still stand? -> Yes: Replace, No: Measure" in lines


def test_who_fails_a_verification_by_its_outcome_is_not_resolved():
    checked = ask({"outcome": "Does it turn for an hour?"}, end("resolved", "It turns"))
    lines = drawn(do("Mend"), verification=[checked], escalation=[do("Open a case")])
    assert "Does it turn for an hour? -> Yes: It turns, No: Open a case" in lines


def test_who_fails_a_verification_by_its_state_is_not_resolved():
    lines = drawn(do("Mend"), verification=[ask("Does it turn?")], escalation=[do("Open a case")])
    assert "Does it turn? -> Yes: Resolved, No: Open a case" in lines


def test_a_precondition_stands_before_the_step_and_comes_back():
    lines = drawn(ask({"not": "Is every other fan OK?"}, do("Drain")), do("Pull the tray"))
    assert lines[0] == "Is every other fan OK? -> Yes: Pull the tray, No: Drain"
    assert "Drain -> Pull the tray" in lines


@pytest.mark.parametrize(
    ("guard", "first", "second"),
    [
        ({"all": ["A?", "B?"]}, "A? -> Yes: B?, No: Go on", "B? -> Yes: Act, No: Go on"),
        ({"some": ["A?", "B?"]}, "A? -> Yes: Act, No: B?", "B? -> Yes: Act, No: Go on"),
        (
            {"not": {"all": ["A?", "B?"]}},
            "A? -> Yes: B?, No: Act",
            "B? -> Yes: Go on, No: Act",
        ),
    ],
)
def test_guards_that_are_put_together(guard, first, second):
    lines = drawn(ask(guard, do("Act")), do("Go on"))
    assert first in lines
    assert second in lines


def test_one_question_has_an_exit_for_each_answer():
    choice = {
        "choice": "exclusive",
        "question": "What colour is the light?",
        "arms": [
            {"when": "Amber", "steps": [do("Clean")]},
            {"when": "Dark", "steps": [do("Insert")]},
        ],
    }
    assert drawn(choice)[0] == "What colour is the light? -> Amber: Clean, Dark: Insert"


OPTIONS = [{"when": "Memory", "steps": [do("Add memory")]}, {"steps": [do("Move it")]}]
WHICH = "Which of these is to be done? -> Memory: Add memory, Move it: Move it"


def test_an_option_that_did_not_help_leads_back_to_the_others():
    lines = drawn({"choice": "free", "arms": OPTIONS})
    assert lines[0] == f"{WHICH}, None of these: Nothing else on this page: escalate"
    assert "Add memory -> Did it help to add memory?" in lines
    assert "Did it help to add memory? -> Yes: Resolved, No: Which of these is to be done?" in lines


def test_one_of_several_ways_goes_on_with_the_next_step():
    assert drawn({"choice": "free", "arms": OPTIONS}, do("Restart"))[:2] == [
        WHICH,
        "Add memory -> Restart",
    ]


def test_options_of_which_several_may_be_taken_lead_back_until_none_is_left():
    lines = drawn({"choice": "several", "arms": OPTIONS}, do("Restart"))
    assert lines[0] == f"{WHICH}, None of these: Restart"
    assert "Add memory -> Which of these is to be done?" in lines


def test_a_loop_goes_back_until_it_is_done():
    lines = drawn({"repeat": [do("Wait")], "until": "Is it up?"})
    assert lines[:2] == ["Wait -> Is it up?", "Is it up? -> Yes: Resolved, No: Wait"]


def test_jumps_share_what_two_branches_do():
    choice = ask("Is it hot?", {"goto": "mend"}, otherwise=[do("Look closer"), {"goto": "mend"}])
    lines = drawn(choice, parts={"mend": [do("Mend")]})
    assert lines[0] == "Is it hot? -> Yes: Mend, No: Look closer"
    assert "Look closer -> Mend" in lines
    assert sum(line.startswith("Mend") for line in lines) == 1


def test_a_jump_to_an_escalation_that_is_not_there_is_not_lost():
    lines = drawn(ask("Is it burnt?", {"goto": "escalation"}), do("Mend"))
    assert lines[0] == "Is it burnt? -> Yes: Nothing else on this page: escalate, No: Mend"


@pytest.mark.parametrize(
    "steps",
    [
        [do("Look", id="a"), {"goto": "a"}],
        [{"goto": "start"}],
        [do("A", id="a"), do("B", id="b"), {"goto": "a"}],
        [{"goto": "b", "id": "a"}, {"goto": "a", "id": "b"}],
        [ask("Up?", {"goto": "x"}, otherwise=[{"goto": "x"}]), do("Wait", id="x"), {"goto": "x"}],
    ],
)
def test_a_circle_without_a_way_out_gets_one(steps):
    workflow = lower(procedure(*steps), "page.md")
    assert is_clean(lint(workflow))


@pytest.mark.parametrize("target", ["look", "mend"])
def test_a_circle_without_a_way_out_keeps_its_steps_and_asks_for_another_round(target):
    lines = drawn(
        do("Check which fan it is"),
        do("Look", id="look"),
        do("Mend", id="mend"),
        {"goto": target, "id": "jump"},
        escalation=[do("Call the vendor")],
    )
    assert lines[:5] == [
        "Check which fan it is -> Look",
        "Look -> Mend",
        "Mend -> Is another round needed?",
        f"Is another round needed? -> Yes: {target.title()}, No: Is the issue resolved?",
        "Is the issue resolved? -> Yes: Resolved, No: Call the vendor",
    ]


def test_a_circle_of_the_verification_ends_there():
    lines = drawn(do("Mend"), verification=[do("Look", id="look"), {"goto": "look"}])
    assert lines[1:] == [
        "Look -> Is another round needed?",
        "Is another round needed? -> Yes: Look, No: Resolved",
        "Resolved",
    ]


def test_a_question_that_decides_nothing_is_something_to_look_at():
    lines = drawn(ask("Is it raining?"), do("Mend"))
    assert lines[0] == "Check: Is it raining? -> Mend"


def test_a_warning_stands_at_the_step_that_follows_it():
    workflow = lower(procedure({"note": "Wear gloves"}, do("Pull")), "page.md")
    assert workflow.steps[0].notes == ("Wear gloves",)


def test_notes_stand_in_the_step_that_they_belong_to():
    behind = {"note": "Green is healthy", "at": [[5, 5]]}
    inside = {**do("Pull", 9), "notes": [{"note": "Wear gloves", "at": [[10, 10]]}]}
    workflow = lower(procedure(do("Look", 4), behind, inside), "page.md")
    assert [step.notes for step in workflow.steps[:2]] == [("Green is healthy",), ("Wear gloves",)]


def test_notes_of_a_choice_stand_at_its_question():
    choice = {**ask("Is it hot?", do("Cool it")), "notes": [{"note": "Above 80 °C"}]}
    workflow = lower(procedure({"note": "Twice"}, choice), "page.md")
    assert workflow.steps[0].notes == ("Twice", "Above 80 °C")


def test_a_warning_in_an_empty_branch_is_a_step():
    lines = drawn(ask("Is it dark?", {"note": "It is the lamp"}, {"goto": "verification"}),
                  verification=[do("Look")])  # fmt: skip
    assert lines[0].startswith("Is it dark? -> Yes: It is the lamp")


def test_steps_cite_the_lines_of_their_document_and_say_who_doubts():
    program = procedure(do("Look", 4, id="a"), do("Mend", 5, confidence=0.4))
    first, second, _, last, _ = lower(program, "page.md", {"a": "Is that meant?"}).steps
    assert (first.citations[0].document_id, first.citations[0].start_line) == ("page.md", 4)
    assert (first.doubt, first.node) == ("Is that meant?", "a")
    assert second.doubt
    assert last.implied
    assert last.is_sourced


def test_ends_say_what_the_page_says():
    workflow = lower(procedure(end("other_page", "Go on with Temperature alarms", 3)), "page.md")
    (step,) = workflow.steps
    assert (step.kind, step.text) == (StepKind.TERMINAL, "Go on with Temperature alarms")


def test_a_thousand_alternatives_are_lowered():
    arms = [{"when": f"Is it {n}?", "steps": [do(f"Mend {n}")]} for n in range(1000)]
    workflow = lower(procedure({"choice": "exclusive", "arms": arms}), "page.md")
    assert len(workflow.steps) > 2000


def test_options_of_two_choices_lead_back_to_their_own_question():
    def several(question, *words):
        arms = [{"when": word, "steps": [do(word)]} for word in words]
        return {"choice": "several", "question": question, "arms": arms}

    lines = drawn(
        several("First?", "Restart A", "Restart B"), several("Then?", "Delete C", "Delete D")
    )
    assert {"Restart A -> First?", "Did it help to delete C? -> Yes: Resolved, No: Then?"} <= set(
        lines
    )


def test_success_without_words_leads_to_the_check_of_the_page_and_out_of_it():
    ended = [do("Send a mail"), end("resolved")]
    lines = drawn(do("Restart"), verification=ended)
    assert lines[:3] == ["Restart -> Send a mail", "Send a mail -> Is the issue resolved?", SOLVED]
    arms = [{"steps": [do("Seat it"), end("resolved")]}, {"steps": [do("Swap it")]}]
    lines = drawn({"choice": "in_order", "arms": arms})
    assert "Did it help to seat it? -> Yes: Resolved, No: Swap it" in lines


def test_options_with_one_label_are_two_options():
    arms = [{"when": "Go", "steps": [do("Stop")]}, {"when": "go", "steps": [do("Delete")]}]
    lines = drawn({"choice": "free", "arms": arms}, do("Look"))
    assert lines[0] == "Which of these is to be done? -> Go: Stop, go (2): Delete"


def test_the_end_of_an_escalation_keeps_its_notes():
    last = {**do("Page the team"), "notes": [{"note": "Never before nine"}]}
    workflow = lower(procedure(do("Mend"), escalation=[last]), "page.md")
    assert workflow.steps[-1].notes == ("Never before nine",)


def test_a_jump_to_a_note_goes_on_behind_it():
    noted = {"note": "Green is healthy", "id": "x"}
    lines = drawn(do("Restart"), {"goto": "x"}, do("Never"), noted, do("Measure", id="m"))
    assert "Restart -> Measure" in lines
