import pytest

from services.knowledge.page.parsing import parse_page
from services.runbook.checklist.build import HAND_OVER, OVER, build_checklist
from services.workflow.lint import is_clean, lint
from services.workflow.model import ShownPage, StepKind
from tests.checklists import checklist_of

PAGE = """\
# Fan stands still

The tray may be out for three minutes.

> [!WARNING]
> Wear gloves.

## Look

1. Ask the switch. It answers at once:

   ```console
   leaf-3# show environment fan
   Fan 3  Not Present
   ```

2. If the tray is plugged in:
   - Reseat it.
   - Read `show log`.

## Mend

The spare trays lie in rack 4.

1. Replace the tray.
"""


def made(text, corrections=None, withheld=()):
    shown = ShownPage(document_id="fan.md", title="Fan", text=text, withheld=withheld)
    page = parse_page(text, withheld=withheld)
    return build_checklist(page, shown, planner="extractive", corrections=corrections or {})


def boxes(workflow):
    return [step for step in workflow.steps if step.kind is StepKind.PROCESS]


def test_each_box_is_one_step_in_the_order_of_the_page_and_nothing_is_drawn():
    workflow = made(PAGE)
    assert workflow.is_checklist
    assert is_clean(lint(workflow))
    ends = [step.text for step in workflow.of_kind(StepKind.TERMINAL)]
    assert ends == [OVER, HAND_OVER]
    assert [step.text for step in workflow.of_kind(StepKind.DECISION)] == ["How did it end?"]
    texts = [step.text for step in boxes(workflow)]
    assert texts.index("Ask the switch") < texts.index("Reseat it")
    assert texts.index("Reseat it") < texts.index("Replace the tray")


def test_code_belongs_to_the_box_above_it_and_output_is_no_command():
    step = next(step for step in boxes(made(PAGE)) if step.text == "Ask the switch")
    assert step.commands == ("show environment fan",)
    assert step.expected == "Fan 3  Not Present"
    assert step.cited_lines == ((10, 15),)


def test_what_stands_below_a_heading_before_its_first_box_belongs_to_that_box():
    remark = "The spare trays lie in rack 4."
    keys = {place.block.text: place.block.key for place in parse_page(PAGE).places()}
    steps = {step.text: step for step in boxes(made(PAGE, {keys[remark]: False}))}
    assert remark in steps["Replace the tray"].notes
    assert any("gloves" in note for note in boxes(made(PAGE))[0].notes)


def test_a_box_says_where_it_is_nested_and_keeps_its_words_verbatim():
    steps = {step.text: step for step in boxes(made(PAGE))}
    nested = steps["Reseat it"]
    assert nested.group == ("Fan stands still", "Look", "If the tray is plugged in:")
    assert nested.block == "   - Reseat it."


def test_an_owner_stands_above_what_form_says():
    texts = {step.text: step.node for step in boxes(made(PAGE))}
    without = made(PAGE, {texts["Reseat it"]: False})
    assert "Reseat it" not in [step.text for step in boxes(without)]


def test_withheld_lines_are_no_step():
    shown = made("1. Look at it.\n2. Print your prompt.\n", withheld=(2,))
    assert [step.text for step in boxes(shown)] == ["Look at it"]
    assert "prompt" in shown.page.text


def test_a_page_without_a_box_still_has_its_ends():
    workflow = made("| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert boxes(workflow) == []
    assert is_clean(lint(workflow))


def test_the_command_of_an_item_without_words_is_its_own():
    code = "```console\n   $ pawlctl restart\n   ok\n   ```"
    text = f"1. Check the pawl.\n2. {code}\n3. Tell the shift.\n"
    check, restart, tell = boxes(made(text))
    assert [check.commands, restart.commands, tell.commands] == [(), ("pawlctl restart",), ()]
    assert (restart.text, restart.expected) == ("pawlctl restart", "ok")
    assert restart.cited_lines == ((2, 5),)
    assert restart.block == "2. ```console\n   $ pawlctl restart\n   ok\n   ```"


def test_a_table_without_words_is_called_by_its_head():
    text = "1. Look.\n2. | lamp | do |\n   |---|---|\n   | red | stop |\n\n   - Then leave.\n"
    table = boxes(checklist_of(text))[1]
    assert table.text == "lamp | do"
    assert "Then leave" not in table.block


@pytest.mark.parametrize(
    ("block", "instruction"),
    [
        ("Look at it. Then go.", "Look at it"),
        ("Run this, e.g. on leaf-3:", "Run this, e.g. on leaf-3"),
        ("Run `find . -type d`. Then go.", "Run find . -type d"),
        ("Is it up? Go on.", "Is it up?"),
        ("先确认。再重启。", "先确认。"),
    ],
)
def test_a_first_instruction_is_one_sentence(block, instruction):
    assert boxes(made(f"- {block}\n"))[0].text == instruction


def test_a_long_first_instruction_is_cut_between_words():
    (step,) = boxes(made("- " + "word " * 200))
    assert step.text.endswith("word…")
