"""The section of the results page that comes first: what engineers would follow."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.measures.acceptance import BENCHMARK
from evaluation.measures.figures import Figures, Report
from evaluation.report.results_section import Section, text_table

_METHOD = """\
Readers saw a ticket, its page and one way of showing it, never which way it was, and said whether
they would follow it and whether following it by the letter does harm. All of them are one strong
model: compare the ways, do not read the figures as people's. Brackets are 95 % intervals."""
_FIRST = """\
Readers saw ticket and first screen alone and named three acts by page and line, which are held
against the drawing of the right page. An act is in turn where the questions that lead to it were
asked before, or by the act itself."""
_SHOWN = ("way of showing", "n", "accept", "harm", "reject", "key steps", "clear (1 to 5)")
_ACTS = (
    "way of showing",
    "n",
    "on a step",
    "on a core step",
    "in turn",
    "changes",
    "of these out of turn",
    "trust (1 to 5)",
)


def acceptance_section(reports: Sequence[Report]) -> Section | None:
    """Return the section; None where nothing was judged."""
    blocks = []
    for report in reports:
        if report.benchmark != BENCHMARK:
            continue
        extra: Mapping[str, Any] = report.model_extra or {}
        if report.sets:
            rows = [_judged(arm, figures) for arm, figures in report.sets.items()]
            blocks += [_METHOD, text_table(_SHOWN, rows)]
        if first := extra.get("first_acts"):
            rows = [_acted(arm, figures) for arm, figures in first.items()]
            blocks += ["### What would you do first?", _FIRST, text_table(_ACTS, rows)]
    return Section("What an engineer would follow", blocks) if blocks else None


def _judged(arm: str, figures: Figures) -> list[str]:
    shares = [_between(figures, name) for name in ("accept", "harm")]
    rest = [f"{figures['reject']:.2f}", f"{figures['key steps']:.0f}", f"{figures['clear']:.1f}"]
    return [arm, f"{figures['n']:.0f}", *shares, *rest]


def _acted(arm: str, figures: Figures) -> list[str]:
    names = ("on a step", "on a core step", "in turn", "changes", "changes out of turn")
    shares = [_between(figures, name) for name in names]
    return [arm, f"{figures['n']:.0f}", *shares, f"{figures['trust']:.1f}"]


def _between(figures: Figures, name: str) -> str:
    low, high = figures[f"{name} from"], figures[f"{name} to"]
    return f"{figures[name]:.2f} ({low:.2f} to {high:.2f})"
