"""Sentences of a paragraph as nodes."""

import pytest

from services.procedure.model import (
    Choice,
    End,
    EndKind,
    Jump,
    Loop,
    Mode,
    Not,
    Outcome,
    Remark,
    State,
)
from services.procedure.rules import read_by_rules
from tests.unit.procedure.rules.reading import outline, read


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Restart the pump.", ["Restart the pump"]),
        ("The pump is blue. Restart it.", ["Restart it"]),
        ("If the fan is dead, replace it.", [{"Is the fan dead?": ["Replace it"]}]),
        (
            "If the fan is dead, replace it. Otherwise, oil it.",
            [{"Is the fan dead?": ["Replace it"], "else": ["Oil it"]}],
        ),
        (
            "If the fan is dead, the pump gets hot. Replace the fan.",
            [{"Is the fan dead?": ["Replace the fan"]}],
        ),
        (
            "If the fan is dead, this is a power fault: check the fuse.",
            [{"Is the fan dead?": ["This is a power fault: check the fuse"]}],
        ),
        (
            "If the fan is dead, the fault is in the box; otherwise a fuse has blown: change it.",
            [{"Is the fan dead?": [], "else": ["A fuse has blown: change it"]}],
        ),
        (
            "Check whether the fan is up. If it is down, replace it. If it is up, go on.",
            ["Check whether the fan is up", {"Is the fan down?": ["Replace it"]}],
        ),
        (
            "If the lamp stays dark, note the time in the ticket and close it.",
            [{"Does the lamp stay dark?": ["Note the time in the ticket", "end"]}],
        ),
        ("Have the fan replaced and open the valve.", ["Have the fan replaced and open the valve"]),
        ("Leave the fan off until it is repaired.", ["Leave the fan off until it is repaired"]),
        ("In case the fan is dead. You can swap it.", [{"Is the fan dead?": ["Swap it"]}]),
        (
            "Check whether the fan turns. If not, replace it.",
            ["Check whether the fan turns", {"Does the fan turn? No": ["Replace it"]}],
        ),
        ("Is the fan dead? If yes, replace it.", [{"Is the fan dead?": ["Replace it"]}]),
        (
            "Oil the fan if necessary.",
            [{"Is it necessary to oil the fan?": ["Oil the fan"], "else": []}],
        ),
        (
            "Oil the fan (if required).",
            [{"Is it necessary to oil the fan?": ["Oil the fan"], "else": []}],
        ),
        (
            "If you want to save power, dim the lamp.",
            [{"Do you want to save power?": ["Dim the lamp"], "else": []}],
        ),
        (
            "When the valve is broken, replace it.",
            [{"Is the valve broken?": ["Replace it"]}],
        ),
        (
            "When the failed drain is finished, oil it.",
            ["When the failed drain is finished, oil it"],
        ),
        (
            "Tip: If the fan is dead, replace it.",
            [{"Is the fan dead?": ["Replace it"]}],
        ),
        (
            "If the fan is dead, replace it. Then oil it. Wash the pump.",
            [{"Is the fan dead?": ["Replace it", "Oil it"]}, "Wash the pump"],
        ),
        (
            "The fan may be dead. In this case, replace it.",
            [{"Is the fan dead?": ["Replace it"]}],
        ),
        (
            "If the fan is idle, it starts by itself. Otherwise, replace it.",
            [{"Is the fan idle? No": ["Replace it"]}],
        ),
        (
            "Swap the fan. Alternatively, rent a pump.",
            [{"Swap the fan": ["Swap the fan"], "Rent a pump": ["Rent a pump"]}],
        ),
        ("The fan must be replaced.", ["The fan must be replaced"]),
        (
            "If the fan is dead, the best way is to replace it.",
            [{"Is the fan dead?": ["Replace it"]}],
        ),
        (
            "If the fan is dead, it will be necessary to replace it.",
            [{"Is the fan dead?": ["Replace it"]}],
        ),
        ("The fan should be running. Wash the pump.", ["Wash the pump"]),
        ("Oil the pump if the fan is dead.", [{"Is the fan dead?": ["Oil the pump"]}]),
        (
            "Verify that the fan turns.",
            ["Verify that the fan turns", {"Does the fan turn?": [], "else": ["end"]}],
        ),
    ],
)
def test_a_paragraph_is_read(line, told):
    assert outline(read(line).body) == told


def test_what_to_do_otherwise_may_stand_in_the_next_paragraph():
    told = read(
        "## Fix", "", "1. Check if the pump has oil.", "", "   If not fill the tank.", "2. Go."
    )
    assert outline(told.body)[:2] == [
        "Check if the pump has oil",
        {"Does the pump have oil? No": ["Fill the tank"]},
    ]


def test_what_to_do_otherwise_is_kept_in_its_words_where_nothing_was_asked():
    told = read("## Fix", "", "1. Start the pump.", "2. If not, fill the tank.")
    assert outline(told.body) == ["Start the pump", "If not, fill the tank"]


def test_what_did_not_help_is_asked_as_an_outcome():
    choice = read("Restart the pump.", "", "If the issue persists, replace the pump.").body[1]
    assert isinstance(choice, Choice)
    assert isinstance(choice.arms[0].guard, Outcome)


def test_unless_asks_the_other_way():
    (choice,) = read("Unless the fan is new, replace it.").body
    assert isinstance(choice, Choice)
    assert isinstance(choice.arms[0].guard, Not)


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("close the ticket", EndKind.RESOLVED),
        ("stop here", EndKind.RESOLVED),
        ("this page does not apply", EndKind.NOT_THIS_FAULT),
        ("contact the vendor's support", EndKind.ESCALATE),
    ],
)
def test_a_path_ends_where_the_page_says_so(action, kind):
    (choice,) = read(f"If the fan turns, {action}.").body
    assert isinstance(choice, Choice)
    (end,) = choice.arms[0].body
    assert isinstance(end, End)
    assert (end.kind, end.lines) == (kind, ((3, 3),))


def test_jumps_lead_to_numbered_steps_and_to_sections():
    procedure = read(
        "1. Oil the fan.",
        "2. If the fan turns, go to step 1.",
        "3. Continue with 'Swap the pump'.",
        "",
        "## Swap the pump",
        "",
        "Lift the pump.",
    )
    jumps = [node for node in procedure.walk() if isinstance(node, Jump)]
    by_id = {node.id: node for node in procedure.walk() if node.id}
    assert outline(tuple(by_id[jump.target] for jump in jumps)) == ["Oil the fan", "Lift the pump"]


def test_a_jump_to_nowhere_stays_in_words():
    assert outline(read("1. Oil the fan.", "2. Go to step 9.").body) == [
        "Oil the fan",
        "Go to step 9",
    ]


def test_a_step_is_left_out_where_the_page_says_so():
    told = read("1. Oil the fan. If the fan is new, skip this step.", "2. Start the pump.").body
    assert outline(told) == [{"Is the fan new? No": ["Oil the fan"], "else": []}, "Start the pump"]
    assert isinstance(told[0], Choice)
    assert isinstance(told[0].arms[0].guard, Not)


def test_each_sentence_cites_its_own_lines():
    body = read("Oil the fan. Start", "the pump.", "Wait for an hour.").body
    assert [node.lines for node in body] == [((3, 3),), ((3, 4),), ((5, 5),)]


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("proceed to Remediation", [{"Does the check fail?": ["jump"]}, "Oil it", "Swap it"]),
        (
            "proceed with the next step",
            [{"Does the check fail?": [], "else": ["end"]}, "Oil it", "Swap it"],
        ),
    ],
)
def test_a_section_that_is_named_is_led_to_only_on_the_condition(action, told):
    lines = (
        f"1. If the check fails, {action}.",
        "2. Oil it.",
        "",
        "## Remediation",
        "",
        "Swap it.",
    )
    assert outline(read(*lines).body) == told


def test_what_happens_on_a_condition_is_no_step():
    told = read("In case there is no upgrade, this alert can be triggered as well.", "Oil it.").body
    assert outline(told) == [{"Is there any upgrade? No": ["Oil it"]}]


@pytest.mark.parametrize(
    "action",
    [
        "the rest of this page should be skipped",
        "skip the rest of this page",
        "this alert can be ignored",
        "disregard the alert",
        "it requires no further action",
    ],
)
def test_what_is_dismissed_on_a_condition_is_closed(action):
    told = read(f"If the fan is new, {action}.", "", "Oil it.").body
    assert outline(told) == [{"Is the fan new?": ["end"]}, "Oil it"]


@pytest.mark.parametrize(
    "remark",
    ["For more information, see the oil page.", "For further details on oil, refer to the maker."],
)
def test_where_to_read_more_is_no_step(remark):
    assert outline(read("Oil the fan.", "", remark).body) == ["Oil the fan"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["Ensure that the fan turns."], ["Ensure that the fan turns"]),
        (
            ["Ensure that the fan turns. Otherwise, swap it."],
            ["Ensure that the fan turns", {"Does the fan turn? No": ["Swap it"]}],
        ),
        (
            ["1. Ensure that the fan turns.", "2. If not, swap it."],
            ["Ensure that the fan turns", {"Does the fan turn? No": ["Swap it"]}],
        ),
    ],
)
def test_what_is_to_be_made_sure_is_a_deed_and_no_gate(lines, told):
    assert outline(read(*lines).body) == told


def test_what_is_done_until_something_holds_is_a_loop():
    (loop,) = read("Turn the crank until the lamp is bright.").body
    assert isinstance(loop, Loop)
    (other,) = read("Turn the crank until the lamp is bright before continuing.").body
    assert isinstance(other, Loop)
    assert other.until == loop.until
    assert outline(read("Ignore the lamp until it is swapped.").body) == [
        "Ignore the lamp until it is swapped"
    ]
    assert loop.until == State(text="Is the lamp bright?")
    assert outline(loop.body) == ["Turn the crank until the lamp is bright"]


def test_a_case_of_its_own_takes_the_place_of_going_on():
    told = read("If the fan turns, proceed to the next step. If the fan is dead, replace it.").body
    assert outline(told) == [{"Is the fan dead?": ["Replace it"]}]


def test_nothing_that_leads_away_hides_what_follows():
    told = read("1. Oil the fan.", "2. Go to step 1.", "3. Swap the pump.").body
    assert outline(told) == ["Oil the fan", "Go to step 1", "Swap the pump"]


def test_who_only_looked_at_a_fault_is_asked_at_last():
    told = read_by_rules("# Fan failure\n\nCheck the fan.").procedures[0].body
    asked = {"Is the issue resolved? No": ["end"]}
    assert outline(told) == ["Check the fan", asked]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["Swap the fan. Do not touch the blades."], ["remark", "Swap the fan"]),
        (["Never stop two pumps at once.", "", "Oil it."], ["remark", "Oil it"]),
        (["1. Oil it.", "2. Be careful with the belt."], ["Oil it", "remark"]),
        (["> Avoid cold oil.", "", "Oil it."], ["remark", "Oil it"]),
        (
            ["If the fan is dead, replace it. Do not reuse the belt."],
            [{"Is the fan dead?": ["remark", "Replace it"]}],
        ),
        (["If the fan is dead, do not start it."], [{"Is the fan dead?": ["Do not start it"]}]),
        (["Do not oil it; swap the belt instead."], ["Do not oil it; swap the belt instead"]),
        (["Do not forget to oil it."], ["Do not forget to oil it"]),
    ],
)
def test_a_warning_is_a_note_of_the_step_that_it_guards(lines, told):
    assert outline(read(*lines).body) == told


def test_a_warning_takes_no_command_from_its_step():
    told = read("Stop the pump.", "Never pull the belt.", "", "```sh", "$ pump stop", "```")
    remark, step = told.body
    assert isinstance(remark, Remark)
    assert step.commands == ("pump stop",)


def test_what_must_not_be_run_is_no_step_of_its_own():
    (step,) = read("Never run this command:", "", "```sh", "$ pump burn", "```", "").body
    assert step.text == "Never run this command"


def test_nothing_is_told_where_all_is_warned_of():
    assert read_by_rules("# Pump\n\nDo not stop the pump.").procedures == ()


def test_what_leads_away_at_the_end_does_so_behind_a_warning():
    lines = ("1. Oil the fan.", "2. Stop the pump and go to step 1.", "3. Never pull the belt.")
    assert outline(read(*lines).body) == ["Oil the fan", "Stop the pump", "jump", "remark"]


@pytest.mark.parametrize(
    "line",
    [
        "You should see two lamps.",
        "You may have a broken belt.",
        "Notice that the lamp is dark.",
        "Click here for the history of the pump.",
        "Valve: A part that lets water in.",
        "Otherwise the restart can harm the belt.",
    ],
)
def test_what_is_seen_or_told_of_is_no_step(line):
    assert outline(read("Oil the fan.", "", line).body) == ["Oil the fan"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "Check whether the fan turns; if not, replace it.",
            ["Check whether the fan turns", {"Does the fan turn? No": ["Replace it"]}],
        ),
        (
            "Confirm the lamps are green. If not, swap the fuse.",
            ["Confirm the lamps are green", {"Are the lamps green? No": ["Swap the fuse"]}],
        ),
        (
            "Check the pumps that are idle. Oil them.",
            ["Check the pumps that are idle", "Oil them"],
        ),
        (
            "If the fan is dead, then it may be the fuse, see if it is black.",
            [{"Is the fan dead?": ["See if it is black"]}],
        ),
    ],
)
def test_a_check_on_which_something_hangs_asks(line, told):
    assert outline(read(line).body) == told


@pytest.mark.parametrize(
    "lines",
    [
        ["Fill the tank. Otherwise, drain the pipe."],
        ["Fill the tank.", "", "Otherwise, drain the pipe."],
        ["- Fill the tank.", "- Otherwise, drain the pipe."],
    ],
)
def test_what_is_done_otherwise_is_done_in_place_of_the_step_before(lines):
    (choice,) = read(*lines).body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.FREE
    assert outline((choice,)) == [
        {"Fill the tank": ["Fill the tank"], "Drain the pipe": ["Drain the pipe"]}
    ]


def test_what_should_be_left_until_something_holds_is_no_loop():
    told = read("If the lamp is dark, the alarm should be ignored until the belt is changed.").body
    assert outline(told) == [
        {"Is the lamp dark?": ["The alarm should be ignored until the belt is changed"]}
    ]


@pytest.mark.parametrize("action", ["go to Repair", "take the steps in Repair"])
def test_who_is_led_to_what_comes_anyway_does_not_come_there_on_the_other_answer(action):
    lines = (
        "Look at the fan.",
        "",
        f"If the fan is dead, {action}.",
        "",
        "## Repair",
        "",
        "Swap it.",
    )
    asked = {"Is the fan dead?": [], "else": ["end"]}
    assert outline(read("## Diagnosis", "", *lines).body) == ["Look at the fan", asked, "Swap it"]


def test_a_version_is_no_end_of_what_a_page_is_for():
    told = read(
        "The steps below only apply to pumps of version 4.13 or earlier.", "", "Oil it."
    ).body
    assert list(outline(told)[0]) == ["Does this concern pumps of version 4.13 or earlier? No"]


def test_what_to_do_may_stand_behind_a_semicolon():
    line = "There is not much that we can do about it; acknowledge the alert."
    assert outline(read("## Fix", "", line, "", "Oil the pump.").body) == [
        "Acknowledge the alert",
        "Oil the pump",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("You'll need to manually delete the record.", "Manually delete the record"),
        ("Easiest way to do this is to head to the console.", "Head to the console"),
    ],
)
def test_what_is_needed_is_told_in_many_ways(line, told):
    assert outline(read("## Fix", "", line, "", "Oil the pump.").body) == [told, "Oil the pump"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["1. Restart the pump.", "2. If it leaks, seal it."],
            ["Restart the pump", {"Does it leak?": ["Seal it"], "else": []}],
        ),
        (
            ["1. Check the pump.", "2. If it leaks, seal it."],
            ["Check the pump", {"Does it leak?": ["Seal it"]}],
        ),
        (
            ["1. Restart the pump.", "2. If the alert is still firing, seal it."],
            ["Restart the pump", {"Is the alert still firing?": ["Seal it"]}],
        ),
    ],
)
def test_who_has_done_something_is_not_stuck_where_a_last_case_does_not_hold(lines, told):
    assert outline(read(*lines).body) == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("For a failed pump, oil it.", [{"Is there a failed pump?": ["Oil it"]}]),
        ("For stale locks, remove them.", [{"Are there stale locks?": ["Remove them"]}]),
        ("For new pumps, oil the shaft.", ["For new pumps, oil the shaft"]),
        (
            "If a stuck valve holds the shaft, free/oil it.",
            [{"Does a stuck valve hold the shaft?": ["free/oil it"]}],
        ),
        (
            "Assess whether the pump is old or if we should oil it.",
            ["Assess whether the pump is old or if we should oil it"],
        ),
    ],
)
def test_a_fault_that_something_is_done_for_is_a_condition(line, told):
    assert outline(read(line, "", "Start the pump.").body) == [*told, "Start the pump"]


@pytest.mark.parametrize(
    ("line", "told", "warned"),
    [
        (
            "Stop the pump. **Disruptive:** all water stops — open one valve at a time.",
            ["Stop the pump", "Open one valve at a time"],
            "Disruptive: all water stops — open one valve at a time",
        ),
        (
            "**Disruptive — every pump stops.** Do it hall by hall.",
            ["Do it hall by hall"],
            "Disruptive — every pump stops",
        ),
        ("Oil it. **Disruptive:** fails the valves.", ["Oil it"], "Disruptive: fails the valves"),
    ],
)
def test_what_calls_itself_a_warning_is_kept_beside_what_it_tells(line, told, warned):
    body = read("## Fix", "", f"1. {line}").body
    assert outline(tuple(n for n in body if not isinstance(n, Remark))) == told
    assert [node.text for node in body if isinstance(node, Remark)] == [warned]


@pytest.mark.parametrize(
    ("line", "told", "commands"),
    [
        ("On the node, run: `pumpctl start now`", "On the node, run: pumpctl start now", 1),
        (
            "On the node, `pumpctl list` and ensure that all turn.",
            "On the node, run pumpctl list and ensure that all turn",
            1,
        ),
        ("Remove it: `kubectl delete pod pump`", "Remove it: kubectl delete pod pump", 1),
        ("Read the log (`journalctl -u pump`).", "Read the log (journalctl -u pump)", 1),
        ("Set the state to: `in use`", "Set the state to: in use", 0),
    ],
)
def test_a_command_in_a_sentence_is_run(line, told, commands):
    (step,) = read("## Fix", "", f"1. {line}").body
    assert outline((step,)) == [told]
    assert len(step.commands) == commands


def test_code_is_no_verb_where_none_follows():
    told = read("`pump list` and `valve list` return nothing.", "", "Start the pump.").body
    assert outline(told) == ["Start the pump"]


def test_who_is_led_to_a_section_comes_to_what_is_done_behind_its_warning():
    told = read(
        "## Look",
        "",
        "If the pump leaks, continue with Step 3.",
        "",
        "## Step 2: Oil",
        "",
        "Oil the pump.",
        "",
        "## Step 3: Stop",
        "",
        "> **Warning.** All water stops.",
        "",
        "Stop the pump.",
    )
    (jump,) = (node for node in told.walk() if isinstance(node, Jump))
    (led,) = (node for node in told.walk() if node.id == jump.target)
    assert outline((led,)) == ["Stop the pump"]


def test_who_only_goes_on_where_something_holds_stops_where_it_does_not():
    told = read("If the shaft is broken, continue on to resolve it.", "", "Stop the pump.").body
    assert outline(told) == [{"Is the shaft broken?": [], "else": ["end"]}, "Stop the pump"]


def test_as_if_is_no_condition():
    told = read("1. Stop treating valves as if they were pumps.").body
    assert outline(told) == ["Stop treating valves as if they were pumps"]
