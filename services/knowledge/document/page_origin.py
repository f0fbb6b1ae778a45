"""Origin of a page that nobody wrote by hand, shown with everything based on it."""

from collections.abc import Mapping

LEARNED_FROM = "learned_from"
"""Field of the front matter: number of runs the page was learned from."""
COMPOSED = "composed"
"""Field of the front matter: `yes` if the page was composed from a sentence."""


def page_origin(front_matter: Mapping[str, str | list[str]]) -> str:
    """Describe the page's origin in a few words; empty if people wrote it."""
    runs = front_matter.get(LEARNED_FROM, "")
    if isinstance(runs, str) and runs.isdecimal():
        is_one = int(runs) <= 1
        return "learned from one run: one path seen" if is_one else f"learned from {int(runs)} runs"
    return "composed from a sentence" if front_matter.get(COMPOSED) == "yes" else ""
