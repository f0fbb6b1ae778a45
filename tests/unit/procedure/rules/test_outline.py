"""Sections as parts of a procedure."""

from services.procedure.model import Choice, DoubtKind, End, Mode
from tests.unit.procedure.rules.reading import outline, read, reading


def test_sections_of_no_steps_are_left_out():
    told = read("## Meaning", "", "Swap the fan.", "", "## Mitigation", "", "Oil the fan.").body
    assert outline(told) == ["Oil the fan"]


def test_verification_and_escalation_have_their_own_bodies():
    procedure = read(
        "## Fix",
        "",
        "Oil the fan.",
        "",
        "## Verification",
        "",
        "Look at the fan.",
        "",
        "## Escalation",
        "",
        "Call the vendor.",
    )
    assert outline(procedure.body) == ["Oil the fan"]
    assert outline(procedure.verification) == ["Look at the fan"]
    assert outline(procedure.escalation) == ["Call the vendor"]


def test_a_verification_before_the_remedy_stays_in_its_place():
    procedure = read("## Verify the fan", "", "Look at it.", "", "## Fix", "", "Oil the fan.")
    assert outline(procedure.body) == ["Look at it", "Oil the fan"]


def test_headings_that_state_a_fault_are_cases():
    first = ("## Cause 1: The fan is dead", "", "Swap it.", "")
    (choice,) = read(*first, "## Cause 2: The oil is low", "", "Add oil.").body
    assert outline((choice,)) == [{"Is the fan dead?": ["Swap it"], "Is the oil low?": ["Add oil"]}]


def test_headings_that_tell_to_do_something_are_none():
    told = read("## Oil the fan", "", "Open the lid.", "", "## Fix", "", "Close the lid.").body
    assert outline(told) == ["Open the lid", "Close the lid"]


def test_a_section_that_confirms_the_fault_is_a_gate():
    told = read("## Issue validation", "", "Look at the fan.", "", "## Fix", "", "Oil it.").body
    asked = "Is the issue confirmed: Look at the fan?"
    assert outline(told) == ["Look at the fan", {asked: ["end"]}, "Oil it"]


def test_options_are_chosen_freely():
    (choice,) = read(
        "## Option A: oil", "", "Oil it.", "", "## Option B: swap", "", "Swap it."
    ).body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.FREE
    assert outline((choice,)) == [{"Oil": ["Oil it"], "Swap": ["Swap it"]}]


def test_a_page_that_is_only_for_some_asks_for_them():
    told = read("This page only applies to old pumps.", "", "Oil the fan.").body
    assert outline(told) == [{"Does this concern old pumps? No": ["end"]}, "Oil the fan"]


def _fault(name: str) -> list[str]:
    shown = f"The {name} is loose."
    return [f"## {name}", "", "### Symptoms", "", shown, "", "### Fix", "", f"Swap the {name}.", ""]


def test_faults_with_signs_and_cures_of_their_own_are_procedures():
    found = reading(*_fault("fan"), *_fault("lid"), *_fault("belt")).procedures
    assert [(each.title, each.treats) for each in found] == [
        ("fan", "The fan is loose"),
        ("lid", "The lid is loose"),
        ("belt", "The belt is loose"),
    ]


def test_two_such_faults_are_one_procedure():
    assert len(reading(*_fault("fan"), *_fault("lid")).procedures) == 1


def test_what_is_not_sure_is_a_doubt_about_its_node():
    found = reading("Verify that the fan turns.", "", "Oil the lid.")
    (doubt,) = found.doubts
    assert doubt.kind is DoubtKind.EXIT
    assert doubt.node in {node.id for node in found.procedures[0].walk()}
    assert "Does the fan turn?" in doubt.question


def test_a_generic_step_is_named_by_its_heading():
    told = read("## Oil the fan", "", "Run this script on each node:", "", "```", "oil fan", "```")
    assert outline(told.body) == ["Oil the fan"]


def test_a_heading_with_a_condition_is_a_case_however_it_ends():
    first = ("## If the pump returns errors", "", "Oil it.", "")
    (choice,) = read(*first, "## When the fan has issues", "", "Swap it.").body
    assert outline((choice,)) == [
        {"Does the pump return errors?": ["Oil it"], "Does the fan have issues?": ["Swap it"]}
    ]


def test_a_heading_of_when_to_use_something_is_no_case():
    told = read("## When to use oil", "", "Look at the fan.", "", "## Fix", "", "Oil it.").body
    assert outline(told) == ["Look at the fan", "Oil it"]


def test_remedies_without_an_order_are_tried_one_after_the_other():
    (choice,) = read(
        "## Mitigation",
        "",
        "### New fan",
        "",
        "Swap the fan.",
        "",
        "### New pump",
        "",
        "Rent a pump.",
    ).body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.IN_ORDER
    assert [outline(arm.body) for arm in choice.arms] == [["Swap the fan"], ["Rent a pump"]]


def test_whether_one_remedy_is_enough_is_a_doubt():
    read_so = reading(
        "## Mitigation",
        "",
        "### New fan",
        "",
        "Swap the fan.",
        "",
        "### New pump",
        "",
        "Rent a pump.",
    )
    (doubt,) = read_so.doubts
    assert doubt.kind is DoubtKind.CONDITION
    assert [outline(answer.replace or ()) for answer in doubt.answers] == [
        [],
        ["Swap the fan", "Rent a pump"],
    ]


def test_numbered_parts_of_a_remedy_are_a_sequence():
    told = read(
        "## Fix",
        "",
        "### 1. New fan",
        "",
        "Swap the fan.",
        "",
        "### 2. New pump",
        "",
        "Rent a pump.",
    ).body
    assert outline(told) == ["Swap the fan", "Rent a pump"]


def test_a_verification_before_more_is_done_stays_in_its_place():
    procedure = read(
        "## Look", "", "Open the lid.", "", "## Verify the fan", "", "Look at it.", "",
        "## Pump room", "", "Oil the pump.",
    )  # fmt: skip
    assert outline(procedure.body) == ["Open the lid", "Look at it", "Oil the pump"]


def test_causes_with_their_own_check_are_cases():
    part = ("", "## Issue validation", "", "Look at it.", "", "## Resolution", "", "Swap it.", "")
    (choice,) = read("# The fan is dead", *part, "# The pump is dry", *part).body
    assert outline((choice,)) == [
        {
            "Is the fan dead?": ["Look at it", "Swap it"],
            "Is the pump dry?": ["Look at it", "Swap it"],
        }
    ]


def test_a_check_is_asked_for_its_result_and_the_remedy_is_done_then():
    told = read(
        "## Description",
        "",
        "This step checks whether the pump has oil. It takes a minute.",
        "",
        "## Failure reason",
        "",
        "The pump has no oil.",
        "",
        "## Failure remediation",
        "",
        "Fill the tank.",
        "",
        "## Success reason",
        "",
        "The pump has oil.",
        "",
        "## Uncertain reason",
        "",
        "The gauge is broken.",
        "",
        "## Uncertain remediation",
        "",
        "Swap the gauge.",
    ).body
    results = {"Does the pump have no oil?": ["Fill the tank"]}
    results["Is the gauge broken?"] = ["Swap the gauge"]
    assert outline(told) == ["Check whether the pump has oil", results]


def test_a_section_that_sets_the_alert_itself_is_no_part_of_the_procedure():
    told = read(
        "## Meaning",
        "",
        "The pump is slow.",
        "",
        "### Disable this alert",
        "",
        "Open the settings.",
        "",
        "## Mitigation",
        "",
        "Oil the pump.",
    ).body
    assert outline(told) == ["Oil the pump"]


def test_remedies_told_as_things_are_steps_where_remedies_are_told():
    told = read(
        "## Mitigation", "", "- Increasing the oil quota.", "- Replacement of the pump."
    ).body
    assert outline(told) == ["Increase the oil quota"]
    led = read("## Diagnosis", "", "The fix can be:", "", "- Raising the oil quota.").body
    assert outline(led) == ["Raise the oil quota"]
    told = read("## Check", "", "Look at it.", "", "- Raising the oil quota.").body
    assert outline(told) == ["Look at it"]


def test_remedies_of_which_one_is_taken_are_options():
    lead = "Depending on its cause, the mitigation can be:"
    (choice,) = read("## Mitigation", "", lead, "", "- Adding oil.", "- Swapping the pump.").body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.FREE
    assert outline((choice,)) == [{"Add oil": ["Add oil"], "Swap the pump": ["Swap the pump"]}]


def test_what_a_page_says_it_is_for_is_no_step_of_it():
    told = read("Restore the flow of oil.", "", "## Procedure", "", "1. Oil the pump.").body
    assert outline(told) == ["Oil the pump"]
    assert outline(read("Oil the pump.", "", "## Links", "", "A link.").body) == ["Oil the pump"]


def test_remedies_without_a_name_are_options_all_the_same():
    told = read("## Mitigation", "", "###", "", "Swap the fan.", "", "###", "", "Rent a pump.").body
    assert outline(told[0].arms[0].body) == ["Swap the fan"]


def test_a_verification_that_looks_for_a_fault_is_passed_without_it():
    told = read(
        "## Mitigation",
        "",
        "Oil the fan.",
        "",
        "## Verification",
        "",
        "If the fan stays down, follow PumpDown.",
    )
    (check,) = told.verification or told.body[1:]
    assert check.otherwise == ()
    assert isinstance(check.arms[0].body[-1], End)


def test_an_option_keeps_all_that_it_tells_and_none_is_lost():
    lines = ("- Buy oil: it may be needed. Read the label.", "- Drain the tank: no oil is left.")
    (choice,) = read("## Mitigation", "", "Two options:", "", *lines).body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.FREE
    assert outline((choice,)) == [
        {
            "Buy oil": ["Buy oil: it may be needed", "Read the label"],
            "Drain the tank": ["Drain the tank: no oil is left"],
        }
    ]


def test_what_to_read_on_is_no_step_and_its_command_is_one():
    lines = (
        "- [Swap a fan](https://a.example/fan)",
        "- List the fans:",
        "",
        "  ```sh",
        "  $ fans",
        "  ```",
    )
    told = read("## Fix", "", "Oil it.", "", "## Further information", "", *lines).body
    assert [(each.text, each.commands) for each in told] == [
        ("Oil it", ()),
        ("List the fans", ("fans",)),
    ]


def test_a_warning_is_not_all_that_a_section_tells():
    lines = ("## Steps", "", "### Stop the pump", "", "Never pull the belt.")
    assert outline(read(*lines).body) == ["remark", "Stop the pump"]


def test_one_of_the_fixes_of_a_page_is_taken():
    told = read("## Common Fixes", "", "1. Oil the pump.", "2. Replacing the fan.", "3. Wait.").body
    (choice,) = told
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.FREE
    assert [arm.guard.text for arm in choice.arms] == ["Oil the pump", "Replace the fan", "Wait"]


def test_the_reference_of_a_command_tells_no_procedure():
    page = ("## SYNTAX", "", "```", "Reset-Pump [-Force]", "```", "", "## PARAMETERS", "")
    option = ("### -Force", "", "If specified, it goes on without asking. Stop the pump before.")
    assert not reading(*page, *option).procedures
    assert reading("## PARAMETERS", "", *option).procedures


def test_the_remedy_behind_the_one_case_of_a_page_is_of_that_case():
    case = ("## Help", "", "### Shaft broken", "", "Stop the pump.")
    fix = ("", "### Current fix", "", "Replace the shaft.")
    assert outline(read(*case, *fix).body) == [
        {"Is the problem: Shaft broken?": ["Stop the pump", "Replace the shaft"]}
    ]
    bare = ("## Help", "", "### Shaft broken", "", "It is old.")
    assert outline(read(*bare, *fix).body) == ["Replace the shaft"]


def test_the_one_deed_that_a_page_tells_is_no_case():
    told = read("## Adding rules that deny a broken pump", "", "1. Stop the pump.", "2. Oil it.")
    assert outline(told.body) == ["Stop the pump", "Oil it"]
