"""Pages of a team that writes notes between its steps, and what its owners say of their boxes."""

import random

from services.knowledge.page.boxes import Box, candidates, find_boxes
from services.knowledge.page.parsing import parse_page

THINGS = ["pump", "valve", "drive", "fan", "filter", "heater", "sensor", "belt", "motor", "relay"]
DO = (
    "Look at the {thing}.",
    "Run `{thing}ctl status` and read the lamp.",
    "Restart the {thing} with `{thing}ctl restart`.",
    "Wait until the {thing} is quiet.",
    "Open the {thing} log and search for errors.",
)
NOTES = (
    "The {thing} is loud at night.",
    "Only the day shift has the key of the {thing}.",
    "A {thing} of the old kind has no lamp.",
)


def page_with_notes(rng: random.Random, number: int) -> str:
    """A page of bulleted steps; behind some stands a bulleted note."""
    thing = rng.choice(THINGS)
    lines = [f"# The {thing} {number} stands still", "", f"It is of loop {number}.", ""]
    for part in range(rng.randint(1, 3)):
        lines += [f"## Part {part}", ""]
        for step in range(rng.randint(2, 5)):
            where = f"({number}.{part}.{step})"
            lines.append(f"- {rng.choice(DO).format(thing=thing)} {where}")
            if rng.random() < 0.4:
                lines.append(f"- **Note:** {rng.choice(NOTES).format(thing=thing)} {where}")
        lines.append("")
    return "\n".join(lines)


def notes_are_no_steps(text: str) -> dict[str, bool]:
    """Words of an owner for whom no note is a step."""
    return {key: False for key, words in _boxes(text).items() if words.startswith("Note:")}


def at_random(rng: random.Random, text: str, share: float) -> dict[str, bool]:
    """Words against a share of what is shown, whatever it is."""
    shown = _boxes(text)
    keys = [place.block.key for place in candidates(parse_page(text))]
    return {key: key not in shown for key in keys if rng.random() < share}


def _boxes(text: str) -> dict[str, str]:
    boxes: list[Box] = find_boxes(parse_page(text))
    return {box.block.key: box.block.text for box in boxes}
