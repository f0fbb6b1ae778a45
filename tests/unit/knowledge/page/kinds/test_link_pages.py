"""Which pages are mostly links, by their form and by what is known."""

import pytest

from services.knowledge.page.boxes import candidates
from services.knowledge.page.kinds.link_pages import entries, is_mostly_links
from services.knowledge.page.parsing import parse_page

PUMPS, VALVES, DRIVES = "[Pumps](pumps.md)", "[Valves](valves.md)", "[Drives](drives.md)"
LIST = f"# Cooling\n\n- {PUMPS}\n- {VALVES}\n- {DRIVES}\n"
STEPS = """- Before you look at the drive close the valve, see [it](valves.md).
- Then look at the pump for a while, as told in [it](pumps.md).
- Last of all come the drives, whose page is [it](drives.md).
"""
HTML = """<ul>
<li><a href="pumps.md">P</a></li>
<li><a href="valves.md">V</a></li>
<li><a href="drives.md">D</a></li>
</ul>
"""
LINK_TARGETS = ("pumps.md", "valves.md", "drives.md", "pumps.md#dry")


def is_so(text, link_targets=LINK_TARGETS, **corrections):
    """Whether a page is; no block of it is a box but those that begin so."""
    page = parse_page(text)
    boxes = tuple(corrections.get("boxes", ()))
    words = {p.block.key: p.block.text.startswith(boxes or ("\0",)) for p in candidates(page)}
    return is_mostly_links(page, link_targets, words)


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        f"# Cooling\n\nFor who is on shift.\n\n- {PUMPS}\n- {VALVES}: all of them\n- {DRIVES}\n",
        f"- **{PUMPS}** what stands still\n- *{VALVES}*\n- See {DRIVES}\n",
        f"| Page | For |\n|---|---|\n| {PUMPS} | dry |\n| {VALVES} | shut |\n| {DRIVES} | off |\n",
        f"{PUMPS}\n\n{VALVES}\n\n{DRIVES}\n",
        f"{LIST}- Call the shift lead.\n- Write it down.\n- Go home.\n",
        HTML,
    ],
)
def test_a_page_whose_items_lead_on_is(text):
    assert is_so(text)


@pytest.mark.parametrize(
    "text",
    [
        f"- {PUMPS}\n- {VALVES}\n",
        f"- {PUMPS}\n- {PUMPS}\n- [Dry](pumps.md#dry)\n",
        "- [a](https://x.example/a)\n- [b](https://x.example/b)\n- [c](https://x.example/c)\n",
        "- [One](#one)\n- [Two](#two)\n- [Three](#three)\n\n# One\n\n# Two\n\n# Three\n",
        f"1. {PUMPS}\n2. {VALVES}\n3. {DRIVES}\n",
        f"{LIST}- One.\n- Two.\n- Three.\n- Four.\n",
        STEPS,
        "",
    ],
    ids=["two", "one", "outside", "contents", "sequence", "few", "steps", "empty"],
)
def test_any_other_is_not(text):
    assert not is_so(text)


def test_a_link_to_what_is_not_known_leads_nowhere():
    assert not is_so(LIST, LINK_TARGETS[:2])


def test_a_page_with_more_boxes_of_its_own_than_links_is_not():
    steps = "\n\n".join(f"Step {n}." for n in range(4))
    assert is_so(f"{LIST}\n{steps}\n", boxes=("Step 0", "Step 1", "Step 2"))
    assert not is_so(f"{LIST}\n{steps}\n", boxes=("Step",))


def test_entries_come_in_the_pages_order_as_the_links_call_them():
    text = f"{LIST}\n| Page |\n|---|\n| [Dry pumps](pumps.md#dry) now |\n"
    pairs = [(entry.words, entry.target) for entry in entries(parse_page(text))]
    assert pairs == [
        ("Pumps", "pumps.md"),
        ("Valves", "valves.md"),
        ("Drives", "drives.md"),
        ("Dry pumps", "pumps.md#dry"),
    ]


def test_a_line_that_screening_left_out_is_no_entry():
    page = parse_page(LIST, withheld={4})
    assert [entry.words for entry in entries(page)] == ["Pumps", "Drives"]
