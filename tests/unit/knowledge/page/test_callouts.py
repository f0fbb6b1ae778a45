"""Callouts in all the ways that people write them."""

import pytest

from services.knowledge.page.block import Block, BlockKind
from services.knowledge.page.parsing import parse_page


def only(text: str) -> Block:
    (block,) = parse_page(text).blocks
    return block


def shape(block: Block) -> tuple[str, str, list[str]]:
    return block.callout, block.text, [child.verbatim or child.text for child in block.children]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("> [!NOTE]\n> Read `this`.", ("note", "", ["Read this."])),
        ("> [!danger]- Not now\n> Stop.", ("danger", "Not now", ["Stop."])),
        ('!!! warning "Split **brain**"\n    Stop.', ("warning", "Split brain", ["Stop."])),
        ("??? tip\n\n\tStop.", ("tip", "", ["Stop."])),
        ("!!! runbook\n    Stop.", ("note", "Runbook", ["Stop."])),
        (":::caution Slow down\nStop.\n:::", ("caution", "Slow down", ["Stop."])),
        ("::: tip\n\nStop.\n\n:::", ("tip", "", ["Stop."])),
        (":::danger[Fire]\nStop.\n:::", ("danger", "Fire", ["Stop."])),
        ("{warning:title=Care|icon=no}\nStop.\n{warning}", ("warning", "Care", ["Stop."])),
        ('<div class="alert alert-danger">Stop.</div>', ("danger", "", ["Stop."])),
        (
            '<div class="admonition warning">\n<p class="title">Care</p>\n\nStop.\n\n</div>',
            ("warning", "Care", ["Stop."]),
        ),
        (
            '<Admonition type="danger" title="Fire">\n  Stop.\n</Admonition>',
            ("danger", "Fire", ["Stop."]),
        ),
        ("**Warning:** Stop.", ("warning", "Warning:", ["Stop."])),
        ("**Note**: Stop.", ("note", "Note:", ["Stop."])),
        ("**Warning: never delete it**", ("warning", "Warning:", ["never delete it"])),
        ("__IMPORTANT__ Stop.", ("important", "IMPORTANT", ["Stop."])),
        ("⚠️ **Caution:** Stop.", ("caution", "⚠️ Caution:", ["Stop."])),
        ("NOTE: Stop.", ("note", "NOTE:", ["Stop."])),
        ("> **Tip:** Stop.\n>\n> Twice.", ("tip", "Tip:", ["Stop.", "Twice."])),
        ("Achtung: Halt.", ("warning", "Achtung:", ["Halt."])),
        ("Mise en garde : Halte.", ("warning", "Mise en garde :", ["Halte."])),
        ("Peligro: Alto.", ("danger", "Peligro:", ["Alto."])),
        ("**Atenção:** Pare.", ("warning", "Atenção:", ["Pare."])),
        ("注意：停止", ("warning", "注意：", ["停止"])),
        ("**警告** 停止", ("warning", "警告", ["停止"])),
    ],
)
def test_a_callout_has_its_title_and_its_words(
    text: str, expected: tuple[str, str, list[str]]
) -> None:
    block = only(text)
    assert block.kind is BlockKind.CALLOUT
    assert shape(block) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Note that the pod restarts.",
        "note: lower case begins no sentence",
        "Warnings: see below"[1:],
        "The warning: it is late.",
        "!!! do not run this !!!",
        ":::warning\nnever ends\n",
        "{warning}\nnever ends\n",
        "> Just a quote.",
    ],
)
def test_what_only_looks_alike_is_none(text: str) -> None:
    page = parse_page(text)
    assert all(place.block.kind is not BlockKind.CALLOUT for place in page.places())


@pytest.mark.parametrize(
    "text",
    [
        '!!! warning "No"\n\n    Never.\n\n        rm -rf /data\n\n    ```sh\n    undo\n    ```\n',
        "> [!WARNING]\n> Never.\n>\n>     rm -rf /data\n>\n> ```sh\n> undo\n> ```\n",
        ":::warning Stop\n\nNever.\n\n    rm -rf /data\n\n```sh\nundo\n```\n\n:::\n",
        "> **Warning:** Never.\n>\n>     rm -rf /data\n>\n> ```sh\n> undo\n> ```\n",
    ],
)
def test_indentation_in_a_callout_is_prose_and_a_fence_is_code(text: str) -> None:
    block = only(text)
    kinds = [(child.kind, child.verbatim or child.text) for child in block.children]
    assert kinds == [("paragraph", "Never."), ("paragraph", "rm -rf /data"), ("code", "undo")]


def test_a_lead_word_of_an_item_stays_in_the_item() -> None:
    item = only("- **Note:** it takes long\n\n  **Warning:** do not stop it\n").children[0]
    assert (item.kind, item.text) == (BlockKind.ITEM, "Note: it takes long")
    assert [child.kind for child in item.children] == [BlockKind.CALLOUT]


def test_a_heading_stays_a_heading() -> None:
    assert only("## Warning").kind is BlockKind.HEADING
    assert only("**Check the queue**").kind is BlockKind.HEADING


def test_callouts_in_items_end_with_the_item() -> None:
    page = parse_page("1. Stop\n\n   !!! warning\n       Never.\n\n   After.\n2. Go\n")
    first, second = page.blocks[0].children
    assert [child.kind for child in first.children] == [BlockKind.CALLOUT, BlockKind.PARAGRAPH]
    assert second.text == "Go"
