"""Anchors that open a section, as an alert's `runbook_url` names it."""

from services.knowledge.page.block import BlockKind
from services.knowledge.page.parsing import parse_page


def headings_by_anchor(text: str) -> dict[str, int]:
    page = parse_page(text)
    lines = {block.key: block.start_line for block in page.blocks}
    return {anchor: lines[key] for anchor, key in page.anchors.items()}


def test_anchors_are_made_of_words_as_github_makes_them() -> None:
    text = "# `Disk` is *full*: what now?\n\n## Überlast & 再起動\n\n## A_b-c 1.2\n"
    assert headings_by_anchor(text) == {
        "disk-is-full-what-now": 1, "überlast--再起動": 3, "a_b-c-12": 5,
    }  # fmt: skip


def test_equal_headings_are_counted() -> None:
    assert headings_by_anchor("## Check\n\n## Check\n\n## Check\n") == {
        "check": 1, "check-1": 3, "check-2": 5,
    }  # fmt: skip


def test_written_anchors_lead_to_their_heading() -> None:
    text = (
        '# A {#first}\n\n<a id="second"></a>\n\n## B\n\ntext <a name="within"></a>\n\n'
        '## C <a id="third"></a>\n\n<h2 id="fourth">D</h2>\n\n```html\n<a id="code"></a>\n```\n'
    )
    anchors = headings_by_anchor(text)
    assert {name: anchors[name] for name in ("first", "second", "within", "third", "fourth")} == {
        "first": 1, "second": 5, "within": 5, "third": 9, "fourth": 11,
    }  # fmt: skip
    assert "code" not in anchors


def test_a_written_anchor_stands_above_one_made_of_words() -> None:
    assert headings_by_anchor("# A\n\n# B {#a}\n")["a"] == 3


def test_a_bold_heading_has_an_anchor_where_no_other_heading_has_it() -> None:
    page = parse_page("**Disk full**\n\n# Disk full\n")
    assert [block.kind for block in page.blocks] == [BlockKind.HEADING] * 2
    assert page.anchors == {"disk-full": page.blocks[1].key}
