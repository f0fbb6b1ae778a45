"""How a page came about that nobody wrote by hand, in words beside all that rests on it."""

from collections.abc import Mapping

LEARNED_FROM = "learned_from"
"""Field of the front matter: from how many runs the page was learned."""
COMPOSED = "composed"
"""Field of the front matter: `yes` where the page was composed from a sentence."""


def page_origin(front_matter: Mapping[str, str | list[str]]) -> str:
    """In a few words; empty of a page that people wrote."""
    runs = front_matter.get(LEARNED_FROM, "")
    if isinstance(runs, str) and runs.isdecimal():
        is_one = int(runs) <= 1
        return "learned from one run: one path seen" if is_one else f"learned from {int(runs)} runs"
    return "composed from a sentence" if front_matter.get(COMPOSED) == "yes" else ""
