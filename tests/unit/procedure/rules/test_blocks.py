"""Lists, code and tables as nodes."""

import pytest

from services.procedure.model import Choice, Do, Mode, Remark
from services.procedure.rules import read_by_rules
from tests.unit.procedure.rules.reading import outline, read, reading


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["1. Oil it.", "2. Start it."], ["Oil it", "Start it"]),
        (["1. ...", "2. Start it."], ["Start it"]),
        (["Do the following:", "", "- Oil the fan.", "- Start it."], ["Oil the fan", "Start it"]),
        (
            ["Check the following:", "", "- fan speed", "- oil level"],
            ["Check the following: Fan speed, Oil level"],
        ),
        (
            ["If the fan is dead:", "", "1. Lift the fan.", "2. Swap the fan.", "", "Start it."],
            [{"Is the fan dead?": ["Lift the fan", "Swap the fan"]}, "Start it"],
        ),
        (
            ["If the fan is dead, you might want to:", "", "- Swap it."],
            [{"Is the fan dead?": ["Swap it"]}],
        ),
        (
            ["- If the fan is dead, swap it.", "- If the oil is low, add oil."],
            [{"Is the fan dead?": ["Swap it"], "Is the oil low?": ["Add oil"]}],
        ),
        (
            ["1. If the fan is dead:", "   - Swap the fan.", "2. Start it."],
            [{"Is the fan dead?": ["Swap the fan"]}, "Start it"],
        ),
        (
            ["1. If the fan is dead, do the following:", "   1. Swap the fan.", "2. Start it."],
            [{"Is the fan dead?": ["Swap the fan"]}, "Start it"],
        ),
        (
            ["Is the fan dead?", "", "- Yes: swap it.", "- No: oil it."],
            [{"Is the fan dead?": ["Swap it"], "else": ["Oil it"]}],
        ),
        (
            ["- The fan is broken. Swap the fan."],
            [{"Is the fan broken?": ["Swap the fan"]}],
        ),
        (["2.1 Oil the fan 2.2 Start the pump"], ["Oil the fan", "Start the pump"]),
        (["- [Oil](#oil)", "- [Swap](#swap)", "", "Start it."], ["Start it"]),
    ],
)
def test_a_list_is_read(lines, told):
    assert outline(read(*lines).body) == told


def test_code_belongs_to_the_step_before_it():
    (step,) = read("Oil the fan:", "", "```sh", "oil fan", "```").body
    assert isinstance(step, Do)
    assert (step.commands, step.lines) == (("oil fan",), ((3, 3), (5, 7)))


@pytest.mark.parametrize("indent", ["   ", ""])
@pytest.mark.parametrize("language", ["", "sh"])
@pytest.mark.parametrize("comma", [",", ""])
def test_code_that_an_item_leads_to_is_run_on_its_condition_alone(indent, language, comma):
    code = [f"{indent}```{language}", f"{indent}fan_old start", f"{indent}```"]
    led = f"2. If you wish to go back to the old fan{comma} run the following:"
    swap, choice = read("1. Swap the fan with `fan swap`.", led, "", *code).body
    (arm,) = choice.arms
    assert swap.commands == ("fan swap",)
    assert outline([choice]) == [
        {"Do you want to go back to the old fan?": ["Run: fan_old start"], "else": []}
    ]
    assert arm.body[0].commands == ("fan_old start",)


@pytest.mark.parametrize(
    "said", ["You should see something like this for each fan.", "This is an example output."]
)
def test_what_a_sentence_shows_is_no_command(said):
    (step,) = read(
        "Ask each fan:", "", "```", "fan ask", "```", "", said, "", "```", "f1 Up", "```"
    ).body
    assert (step.commands, step.expected) == (("fan ask",), "f1 Up")


def test_shown_output_is_no_command():
    (step,) = read(
        "Look at the fan with `fanctl show`:", "", "Example output:", "", "```", "fan ok", "```"
    ).body
    assert isinstance(step, Do)
    assert (step.commands, step.expected) == (("fanctl show",), "fan ok")


def test_a_table_of_faults_and_remedies_is_a_chain():
    (choice,) = read(
        "| Symptom | Action |",
        "|---|---|",
        "| The fan is dead | Swap the fan. |",
        "| The oil is low | Add oil. |",
    ).body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.ANY
    assert outline((choice,)) == [
        {"Is the fan dead?": ["Swap the fan"], "Is the oil low?": ["Add oil"]}
    ]
    assert [arm.lines for arm in choice.arms] == [((5, 5),), ((6, 6),)]


def test_rows_of_the_values_of_one_thing_exclude_each_other():
    (choice,) = read(
        "| Status | Action |", "|---|---|", "| Red | Swap it. |", "| Blue | Oil it. |"
    ).body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.EXCLUSIVE


def test_options_in_a_list_are_a_free_choice():
    (choice,) = read("Do one of the following:", "", "- Swap the fan.", "- Rent a pump.").body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.FREE
    assert outline((choice,)) == [
        {"Swap the fan": ["Swap the fan"], "Rent a pump": ["Rent a pump"]}
    ]


def test_remedies_to_be_tried_are_tried_in_order():
    (choice,) = read("Try the following:", "", "- Swap the fan.", "- Rent a pump.").body
    assert isinstance(choice, Choice)
    assert choice.mode is Mode.IN_ORDER
    assert [outline(arm.body) for arm in choice.arms] == [["Swap the fan"], ["Rent a pump"]]


def test_a_list_of_checks_to_be_tried_is_a_sequence():
    told = read("Try the following:", "", "- Check the fan.", "- Rent a pump.").body
    assert outline(told) == ["Check the fan", "Rent a pump"]


def test_a_command_below_its_condition_is_run_under_it():
    (choice,) = read(
        "If the fan is dead, run the following command:", "", "```", "swap fan", "```"
    ).body
    assert isinstance(choice, Choice)
    (step,) = choice.arms[0].body
    assert isinstance(step, Do)
    assert step.commands == ("swap fan",)


def test_a_labelled_cause_is_a_case_of_its_mitigation():
    told = read(
        "- **Cause**: Wrong kind of oil", "  - **Mitigation**: Drain the oil.", "- Wash the pump."
    ).body
    assert outline(told) == [
        {"Is this the case: Wrong kind of oil?": ["Drain the oil"]},
        "Wash the pump",
    ]


def test_a_list_of_steps_and_cases_keeps_all_of_both():
    told = read("- Oil the fan.", "- If the fan is dead, swap it.").body
    assert outline(told) == ["Oil the fan", {"Is the fan dead?": ["Swap it"]}]


def test_checks_listed_without_an_order_are_independent():
    told = read("- Verify that the fan turns.", "- Verify that the lamp is lit.").body
    assert outline(told) == ["Verify that the fan turns", "Verify that the lamp is lit"]


def test_an_item_may_speak_of_what_the_item_before_checks():
    lines = ("1. Check that the pumps answer.", "2. If they do not answer, ring the bell.")
    asked = {"Do the pumps answer? No": ["Ring the bell"]}
    assert outline(read(*lines).body) == ["Check that the pumps answer", asked]


def test_an_item_may_be_the_answer_to_what_the_item_before_checks():
    lines = ("1. Check that the pump is dry.", "2. If it is, oil it.", "3. If it is not, wipe it.")
    asked = {"Is the pump dry?": ["Oil it"], "else": ["Wipe it"]}
    assert outline(read(*lines).body) == ["Check that the pump is dry", asked]


def test_deep_lists_are_read():
    lines = [f"{'  ' * depth}- Oil the fan {depth}." for depth in range(14)]
    assert outline(read(*lines).body)[-1] == "Oil the fan 13"


def test_other_tables_tell_nothing():
    told = read("Oil it.", "", "| Part | Colour |", "|---|---|", "| Fan | Swap the fan. |").body
    assert outline(told) == ["Oil it"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["- If the fan is dead, swap it.", "- Otherwise, start it.", "  - Look at the oil."],
            [{"Is the fan dead?": ["Swap it"], "else": ["Start it", "Look at the oil"]}],
        ),
        (
            ["1. If the fan is dead, swap it.", "2. Otherwise:", "   - Oil it.", "3. Start it."],
            [{"Is the fan dead?": ["Swap it"], "else": ["Oil it"]}, "Start it"],
        ),
        (
            ["- If the fan is dead, swap it.", "- If the oil is low, add oil.", "- Else start it."],
            [
                {
                    "Is the fan dead?": ["Swap it"],
                    "Is the oil low?": ["Add oil"],
                    "else": ["Start it"],
                }
            ],
        ),
    ],
)
def test_an_item_of_what_is_done_otherwise_belongs_to_the_one_before_it(lines, told):
    assert outline(read(*lines).body) == told


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["If the fan shows:", "", "```", "fan dead", "```", "", "Swap it.", "", "Start it."],
            [{"Does the fan show?": ["Swap it"]}, "Start it"],
        ),
        (
            [
                "If you see this output:",
                "",
                "```",
                "fan dead",
                "```",
                "",
                "- Swap it.",
                "- Oil it.",
            ],
            [{"Do you see this output?": ["Swap it", "Oil it"]}],
        ),
        (
            ["If the fan is dead:", "", "Swap it.", "", "Start it."],
            [{"Is the fan dead?": ["Swap it"]}, "Start it"],
        ),
    ],
)
def test_what_stands_below_a_condition_and_its_colon_is_told_under_it(lines, told):
    assert outline(read(*lines).body) == told


@pytest.mark.parametrize("colon", ["", ":"])
def test_what_is_nested_below_a_condition_behind_its_step_stands_under_it(colon):
    item = f"1. Swap the fan if the lid is open{colon}"
    told = read(item, "   - Lift the lid.", "   - Oil the lid.", "2. Start it.").body
    under = ["Swap the fan", "Lift the lid", "Oil the lid"]
    assert outline(told) == [{"Is the lid open?": under}, "Start it"]


@pytest.mark.parametrize(
    ("heading", "lines", "text", "commands"),
    [
        ("Swap the fan", ["```sh", "fan swap", "```"], "Swap the fan", ("fan swap",)),
        ("Fix", ["```sh", "fan swap", "```"], "Run: fan swap", ("fan swap",)),
        ("Fix", ["This swaps it:", "```sh", "fan swap", "```"], "This swaps it", ("fan swap",)),
        ("Fix", ["```", "# fanctl swap", "```"], "Run: fanctl swap", ("fanctl swap",)),
        ("Fix", ["```", "$ ls fan", "# cat fan", "```"], "Run: ls fan", ("ls fan", "cat fan")),
    ],
)
def test_code_before_any_step_is_a_step(heading, lines, text, commands):
    step = read(f"## {heading}", "", *lines, "", "Start it.").body[0]
    assert isinstance(step, Do)
    assert (step.text, step.commands) == (text, commands)


@pytest.mark.parametrize(
    "lines",
    [
        ["```json", "{}", "```"],
        ["```", "# swap the fan", "```"],
        ["Example output:", "```sh", "fan ok", "```"],
    ],
)
def test_code_that_is_not_typed_in_is_no_step(lines):
    assert outline(read("## Fix", "", *lines, "", "Start it.").body) == ["Start it"]


def test_an_item_that_short_items_spell_out_is_one_step():
    told = read(
        "1. Check the pump:", "   - Look at the oil.", "   - Feel the pipe.", "2. Start it."
    )
    assert outline(told.body) == ["Check the pump: Look at the oil; Feel the pipe", "Start it"]


def test_states_of_one_thing_are_asked_beside_each_other():
    line = "- If the lamp is red, oil it. If the lamp is blue, swap it."
    assert outline(read(line).body) == [
        {"Is the lamp red?": ["Oil it"]},
        {"Is the lamp blue?": ["Swap it"]},
    ]


def test_a_list_belongs_to_the_condition_at_the_end_of_its_sentence():
    lines = ("Restart the pump if the lamp is red:", "", "- Open the valve.", "- Turn the crank.")
    assert outline(read(*lines).body) == [
        {"Is the lamp red?": ["Restart the pump", "Open the valve", "Turn the crank"]}
    ]


def test_the_other_of_two_ways_is_no_next_step():
    told = read(
        "## Fix",
        "",
        "Via the CLI:",
        "",
        "```bash",
        "kubectl delete pod pump",
        "```",
        "",
        "Or via the console: select the pump, choose **Delete**.",
        "",
        "Look at the gauge.",
    )
    choice, after = told.body
    assert choice.mode is Mode.FREE
    assert [arm.body[0].commands for arm in choice.arms] == [("kubectl delete pod pump",), ()]
    assert after.text == "Look at the gauge"


def test_code_below_two_ways_belongs_to_the_one_that_names_its_program():
    told = read(
        "## Fix",
        "",
        "Use `stern` to check recent lines. Alternatively, you can use Kibana to search for them.",
        "",
        "```bash",
        "stern pump --since 30m",
        "```",
    )
    (choice,) = told.body
    assert [arm.body[0].commands for arm in choice.arms] == [("stern pump --since 30m",), ()]


def test_a_known_program_is_run_though_nothing_says_that_the_code_is_a_shell():
    told = read(
        "## Draining the pump", "", "See the manual.", "", "```", "curl -X POST http://pump", "```"
    )
    assert [c for node in told.walk() if isinstance(node, Do) for c in node.commands] == [
        "curl -X POST http://pump"
    ]


def test_a_title_that_a_template_makes_is_what_the_front_matter_states():
    text = "---\ntitle: Mend the pump\n---\n\n# <%= data.title %>\n\n1. Oil it.\n2. Start it.\n"
    (told,) = read_by_rules(text).procedures
    assert told.title == "Mend the pump"


def test_a_task_is_asked_for_as_a_task():
    told = read(
        "# Pump",
        "",
        "## Fix",
        "",
        "### Leak",
        "",
        "Oil it.",
        "",
        "### Draining the tank",
        "",
        "Open it.",
    )
    asked = [
        arm.guard.text for node in told.walk() if isinstance(node, Choice) for arm in node.arms
    ]
    assert not any(text.startswith("Is the problem: Draining") for text in asked)


def test_sections_that_call_themselves_methods_are_a_choice():
    told = read(
        "## Fix", "", "### Command-line method", "", "Run `drain pump`.", "", "### Console method",
        "", "Click **Drain**.",
    )  # fmt: skip
    (choice,) = told.body
    assert [arm.guard.text for arm in choice.arms] == ["Command-line method", "Console method"]


def test_settings_that_a_form_is_filled_in_with_are_one_step():
    told = read(
        "1. Expand the filters and set",
        "    - `Name` = `LockID`",
        "    - `Type` = `String`",
        "2. Go.",
    )
    assert outline(told.body)[0] == "Expand the filters and set: Name = LockID; Type = String"


def test_the_code_below_an_answer_belongs_to_its_step():
    told = read(
        "1. Is the pump hot?", "", "   - Yes: stop it:", "", "     ```", "     stop pump",
        "     ```", "", "   - No: look at the gauge:", "", "     ```", "     show gauge",
        "     ```",
    )  # fmt: skip
    (choice,) = told.body
    assert choice.arms[0].body[0].commands == ("stop pump",)
    assert choice.otherwise[0].commands == ("show gauge",)


def test_links_in_no_order_are_an_index_unless_a_sentence_leads_to_them():
    links = ("* [Stop the pump](a.md)", "* [Start the pump](b.md)")
    assert not reading("## How to use", "", *links).procedures
    led = read("## How to use", "", "Follow these pages:", "", *links).body
    assert outline(led) == ["Follow these pages", "Stop the pump", "Start the pump"]
    numbered = read("## How to use", "", "1. [Stop the pump](a.md)", "2. [Start it](b.md)").body
    assert outline(numbered) == ["Stop the pump", "Start it"]


def test_a_comment_says_where_a_command_is_run():
    code = ("```bash", "pumpctl list", "# On the pump host (read-only):", "pumpctl log", "```")
    remark, step = read("1. Look at it:", "", *(f"   {line}" for line in code)).body
    assert isinstance(remark, Remark)
    assert remark.text == "On the pump host (read-only): pumpctl log"
    assert step.commands == ("pumpctl list", "pumpctl log")


def test_the_host_of_a_prompt_in_a_sentence_stays():
    step = read("1. (`pump-01#`) Restart the pump.", "2. (`linux#`) Log in.").body
    assert outline(step) == ["Restart the pump (on pump-01)", "Log in"]


def test_what_is_looked_at_on_a_condition_may_be_a_list_of_links():
    told = read("In case of a leak, look at:", "", "* [Water](a.md)", "* [Oil](b.md)").body
    assert outline(told)[0] == {"Is there a leak?": ["Look at: Water, Oil"]}


@pytest.mark.parametrize(
    ("first", "second", "commands"),
    [
        (["pump-1# conf t", "pump-1# on"], ["pump-2# conf t", "pump-2# off"], 4),
        (["pump-1 [hall: a] # conf t"], ["pump-2 [hall: a] # on"], 2),
        (["pump-1# conf t", "pump-1# on"], ["pump-2# conf t"], 3),
    ],
)
def test_what_is_run_on_another_host_is_run_again(first, second, commands):
    blocks = [f"   {line}" for code in (first, second) for line in ("```", *code, "```", "")]
    (step,) = read("1. Configure it:", "", *blocks).body
    assert len(step.commands) == commands
    assert not any("pump" in command for command in step.commands)


def test_a_comment_says_on_what_condition_a_command_is_run():
    code = (
        "```bash",
        "pumpctl name a",
        "# Alternatively, if you have the id",
        "pumpctl id 5",
        "```",
    )
    remark, _step = read("1. Choose it:", "", *(f"   {line}" for line in code)).body
    assert isinstance(remark, Remark)
    assert remark.text == "Alternatively, if you have the id: pumpctl id 5"
