import json

import pytest

from services.kit.fits.fitted import UnusableFitError
from services.knowledge.page.block import BlockKind, Page
from services.knowledge.page.box_fit import BoxFit, list_means, shipped_fit
from services.knowledge.page.box_signs import SIGNS, signs_of, word_count
from services.knowledge.page.boxes import candidates, find_boxes
from services.knowledge.page.parsing import parse_page

PAGE = """# Pump stands still

The pump feeds the upper tank. It belongs to the night shift.

## What to do

1. Look at the gauge:

   ```bash
   gauge read pump-3
   ```

2. If the gauge shows less than 2 bar, open the valve by hand.
3. Start the pump again:

   ```bash
   pump start 3
   ```

## More

- [The manual](https://manuals.example/pump)
- [Spare parts](https://parts.example/pump)
"""


def texts(page: Page, **kwargs: object) -> list[str]:
    return [box.block.text for box in find_boxes(page, **kwargs)]


def test_numbered_steps_have_boxes_and_mere_links_and_the_introduction_have_none():
    assert texts(parse_page(PAGE)) == [
        "Look at the gauge:",
        "If the gauge shows less than 2 bar, open the valve by hand.",
        "Start the pump again:",
    ]


@pytest.mark.parametrize(
    "steps",
    [
        ["Manometer ablesen:", "Ventil von Hand öffnen.", "Pumpe wieder starten:"],
        ["圧力計を確認します。", "手でバルブを開けます。", "ポンプを再起動します。"],
    ],
)
def test_the_same_form_in_another_language_has_the_same_boxes(steps):
    code = "\n\n   ```bash\n   pump status 3\n   ```\n\n"
    numbered = code.join(f"{n}. {step}" for n, step in enumerate(steps, start=1))
    assert texts(parse_page(f"# P-3\n\n## A\n\n{numbered}{code}")) == steps


def test_an_owner_stands_above_the_trees():
    page = parse_page(PAGE)
    keys = {place.block.text: place.block.key for place in candidates(page)}
    link = keys["The manual"]
    corrected = texts(page, corrections={keys["Look at the gauge:"]: False, link: True})
    assert corrected == [
        "If the gauge shows less than 2 bar, open the valve by hand.",
        "Start the pump again:",
        "The manual",
    ]


def test_a_correction_of_a_block_that_is_gone_changes_nothing():
    page = parse_page(PAGE)
    assert texts(page, corrections={"gone-1.1": True}) == texts(page)


def test_withheld_blocks_are_no_steps():
    line = PAGE.split("\n").index("3. Start the pump again:") + 1
    assert "Start the pump again:" not in texts(parse_page(PAGE, withheld=[line]))


def test_where_nothing_looks_like_a_step_the_items_have_boxes():
    page = parse_page(PAGE)
    never = shipped_fit().model_copy(update={"threshold": 0.9999})
    kinds = {box.block.kind for box in find_boxes(page, fit=never)}
    assert kinds == {BlockKind.ITEM}
    assert "The manual" not in texts(page, fit=never)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A heading\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "```\nls\n```\n",
        "![a tank](tank.png)\n",
    ],
)
def test_a_page_without_items_and_paragraphs_has_no_boxes(text):
    assert texts(parse_page(text)) == []


@pytest.mark.parametrize(
    "instead",
    ["```\n   pawlctl restart\n   ```", "| lamp | do |\n   |---|---|\n   | red | stop |"],
)
def test_an_item_that_is_only_code_or_a_table_goes_with_its_list(instead):
    page = parse_page(f"# Pawl\n\n1. Check the pawl.\n2. {instead}\n3. Tell the shift.\n")
    assert texts(page) == ["Check the pawl.", "", "Tell the shift."]
    others = [box.block.key for box in find_boxes(page) if box.block.text]
    assert texts(page, corrections=dict.fromkeys(others, False)) == [""]


def test_a_list_of_commands_alone_has_boxes_where_it_is_numbered():
    commands = "{} ```\n   ls\n   ```\n{} ```\n   pwd\n   ```\n"
    text = PAGE + "\n## List\n\n" + commands
    assert texts(parse_page(text.format("1.", "2.")))[-2:] == ["", ""]
    assert "" not in texts(parse_page(text.format("- ", "- ")))


def test_an_item_whose_code_is_withheld_has_no_box():
    text = "1. Check the pawl.\n2. ```\n   pawlctl restart\n   ```\n3. Tell the shift.\n"
    assert texts(parse_page(text, withheld=[3])) == ["Check the pawl.", "Tell the shift."]


def test_items_joined_by_or_are_one_box_with_options():
    page = parse_page(
        "# Tank\n\n## Empty it\n\n1. Choose how the tank is emptied:\n"
        "   - open the lower valve, or\n   - start the pump\n2. Close the lid.\n"
    )
    first, second = find_boxes(page)
    assert first.block.text == "Choose how the tank is emptied:"
    assert [option.text for option in first.options] == [
        "open the lower valve, or",
        "start the pump",
    ]
    assert (second.block.text, second.options) == ("Close the lid.", ())


def test_a_lead_that_asks_for_one_item_is_the_box_of_all_of_them():
    page = parse_page(
        "# Tank\n\n1. Do one of these:\n   - open the valve\n   - start the pump\n2. Go.\n"
    )
    first, second = find_boxes(page)
    assert [option.text for option in first.options] == ["open the valve", "start the pump"]
    assert second.block.text == "Go."


def test_an_owner_takes_an_either_or_apart():
    page = parse_page("Choose one of these ways:\n\n- open the valve, or\n- start the pump\n")
    (whole,) = find_boxes(page)
    keys = [whole.block.key, *(option.key for option in whole.options)]
    apart = find_boxes(page, {keys[0]: False, keys[1]: True, keys[2]: True})
    assert [box.block.key for box in apart] == keys[1:]
    assert not any(box.options for box in apart)


def test_signs_stand_in_the_order_of_their_names():
    page = parse_page(PAGE)
    places = list(candidates(page))
    rows = [dict(zip(SIGNS, row, strict=True)) for row in signs_of(page, places)]
    of_text = {place.block.text: row for place, row in zip(places, rows, strict=True)}
    first = of_text["Look at the gauge:"]
    assert first["numbered"]
    assert first["code_below"]
    assert first["ends_with_colon"]
    assert first["words"] == 4
    assert first["page_codes"] == 2
    assert of_text["Start the pump again:"]["codes_above"] == 0.5
    assert of_text["The manual"]["only_link"]
    assert of_text["The manual"]["heading_below"] == 0
    assert (
        of_text["The pump feeds the upper tank. It belongs to the night shift."]["sentences"] == 2
    )


def test_words_are_counted_where_no_space_stands_between_them():
    assert word_count("open the valve") == 3
    assert word_count("バルブを開ける。") > 3


def test_numbers_of_other_signs_are_refused(tmp_path):
    other = json.loads(BoxFit.SHIPPED.read_text()) | {"signs_hash": "0" * 16}
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps(other))
    with pytest.raises(UnusableFitError, match="fit-boxes"):
        BoxFit.read(path)


def test_numbers_whose_signs_stand_in_another_order_are_refused(tmp_path):
    other = json.loads(BoxFit.SHIPPED.read_text())
    other["forest"]["signs"] = other["forest"]["signs"][::-1]
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps(other))
    with pytest.raises(UnusableFitError, match="expected numbers fitted on the signs"):
        BoxFit.read(path)


def test_items_of_one_list_are_steps_together_or_none_is():
    causes = (
        "- The valve is stuck.\n- The belt, which nobody has seen, is torn:\n\n  See it.\n- Dirt\n"
    )
    page = parse_page(f"# Pump\n\n## Causes\n\n{causes}\n## What to do\n\n1. Look at it.\n2. Go.\n")
    boxes = {box.block.key for box in find_boxes(page)}
    for block in (block for top in page.blocks for block in top.walk()):
        if block.kind is BlockKind.LIST:
            assert len({item.key in boxes for item in block.children}) == 1


def test_what_the_page_has_as_a_task_is_a_step_even_where_it_is_a_mere_link():
    page = parse_page("# Before\n\n1. [ ] Tell the shift.\n2. [x] [The plan](plan.md)\n")
    assert texts(page) == ["Tell the shift.", "The plan"]


def test_list_means_are_of_each_list_alone():
    assert list_means([0.2, 0.6, 0.9], ["a", "a", "b"]) == pytest.approx([0.4, 0.4, 0.9])
