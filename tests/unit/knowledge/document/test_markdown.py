import time

import pytest

from services.knowledge.document.markdown import BlockKind, parse, plain

_SECONDS = 10
"""Many times what each takes; by the square each takes minutes."""
PAGE = """\
---
title: Fan tray fault
alert: FanTrayDown
---

# Fan tray fault

One **fan tray** stopped; see [the spare list](../spares.md).

## Symptoms

- `show environment fan` prints *absent*
- The status LED is amber

## Repair

1. Look at the tray:

   ```console
   show environment fan
   ```

   - front trays first
   - then rear trays
2. Reseat the tray. Read [reseating](reseat.md) before.

| Colour | Meaning |
|---|---|
| amber | one fan stopped |
| red | **two** fans stopped |

**After the repair**

Watch the speed of <fan> for ten minutes.<br/>Then close the ticket.
"""


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("1. do " + "[" * 100_000, id="brackets"),
        pytest.param("1. " + "<!--" * 20_000, id="comments without end"),
        pytest.param("<b>x</b> <!-- --> " + "<!--" * 5_000, id="comments behind one"),
        pytest.param("1. " + "![a](" * 20_000, id="pictures without end"),
        pytest.param("|a" * 2000 + "|\n" + "|-" * 2000 + ("|\n" + "|x" * 2000) * 50, id="table"),
    ],
)
def test_markup_that_never_ends_is_literal_text_and_read_at_once(line: str) -> None:
    began = time.process_time()
    page = parse(f"# T\n\n{line}\n\n1. after\n")
    assert time.process_time() - began < _SECONDS
    blocks = [block for each in page.root.blocks + page.sections[1].blocks for block in each.walk()]
    whole = " ".join(block.text for block in blocks)
    assert whole.endswith("after")
    assert len(whole) > len(line) / 2


def test_sections_know_their_heading_path_and_lines() -> None:
    titles = {s.title: (s.heading_path, s.start_line, s.end_line) for s in parse(PAGE).sections}
    assert titles["Symptoms"] == (("Fan tray fault", "Symptoms"), 10, 13)
    assert titles["Fan tray fault"][2] == 34
    assert titles["Repair"][1:] == (15, 34)


def test_the_front_matter_is_kept_apart_and_still_counts_as_lines() -> None:
    page = parse(PAGE)
    assert page.body_line == 5
    assert page.text(6, 6) == "# Fan tray fault"


def test_a_list_item_holds_its_code_and_its_sub_list() -> None:
    repair = next(s for s in parse(PAGE).sections if s.title == "Repair")
    first, second = repair.blocks[0].items
    assert (first.text, first.start_line, first.end_line) == ("Look at the tray:", 17, 24)
    assert [(code.text, code.language) for code in first.code] == [
        ("show environment fan", "console")
    ]
    nested = [item.text for block in first.blocks for item in block.items]
    assert nested == ["front trays first", "then rear trays"]
    assert (second.start_line, repair.blocks[0].ordered) == (25, True)


def test_links_come_in_document_order() -> None:
    blocks = [block for section in parse(PAGE).sections for block in section.blocks]
    links = [link for block in blocks for link in block.links]
    assert links == ["../spares.md", "reseat.md"]


def test_a_table_is_read_as_rows_without_markup() -> None:
    tables = [
        block
        for section in parse(PAGE).sections
        for block in section.blocks
        if block.kind is BlockKind.TABLE
    ]
    assert tables[0].header == ("Colour", "Meaning")
    assert [(row.cells, row.line) for row in tables[0].rows] == [
        (("amber", "one fan stopped"), 29),
        (("red", "two fans stopped"), 30),
    ]


def test_a_bold_line_is_a_heading_below_all_others() -> None:
    after = next(s for s in parse(PAGE).sections if s.title == "After the repair")
    assert after.heading_path == ("Fan tray fault", "Repair", "After the repair")
    assert [block.text for block in after.blocks] == [
        "Watch the speed of <fan> for ten minutes. Then close the ticket."
    ]


def test_a_bold_lead_is_told_apart_from_the_sentence() -> None:
    section = parse("**Cause:** the tray is loose.\n\n**Never** pull both trays.").root
    assert [block.bold_lead for block in section.blocks] == ["Cause:", "Never"]


def test_a_piece_of_a_document_keeps_the_lines_of_the_whole() -> None:
    page = parse("- one\n- two", first_line=40)
    assert [item.start_line for item in page.root.blocks[0].items] == [40, 41]
    assert page.text(41, 41) == "- two"


def test_a_definition_list_reads_as_terms_with_their_definition() -> None:
    page = parse("LOS\n: No light is received.\n\nLOF\n: Framing was lost.\n")
    assert [item.text for item in page.root.blocks[0].items] == [
        "LOS: No light is received.",
        "LOF: Framing was lost.",
    ]


def test_a_heading_skipped_in_level_still_nests() -> None:
    page = parse("# Optics\n\n#### Dirty connector\n\ntext\n\n## Cleaning\n")
    assert [section.heading_path for section in page.sections[1:]] == [
        ("Optics",),
        ("Optics", "Dirty connector"),
        ("Optics", "Cleaning"),
    ]


def test_an_empty_text_is_an_empty_page() -> None:
    page = parse("")
    assert page.sections == (page.root,)
    assert page.root.blocks == []


def test_plain_takes_markup_away_and_keeps_placeholders() -> None:
    assert plain("Run `show bgp` for **<peer>** ([why](x.md))") == "Run show bgp for <peer> (why)"
