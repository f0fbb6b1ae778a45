"""The section of the results page that sets planners beside each other."""

from collections.abc import Mapping
from typing import Any

from evaluation.benches.planning.planners import PLANNERS
from evaluation.measures.figures import Figures, Report
from evaluation.report.chart import Bar, Chart
from evaluation.report.comparison_report import FLOOR, HEADLINE
from evaluation.report.results_section import Section, how_made, spelled, spelled_table, text_table

_BEST = "best-of-n"
_HOW_TO_READ = (
    "{pairs:.0f} pairs. In brackets: the interval that holds 95 % of the means when the pairs are "
    "drawn anew within their set."
)
_MOST_WORSE = 0.10
"""Answers in which a worse workflow may displace the extractive one."""


def planners_section(report: Report, slug: str) -> Section:
    """Intervals and differences as pictures and a table, then where they come from."""
    extra: dict[str, Any] = report.model_extra or {}
    charts = {"f1": _means(extra["f1"]), "apart": _differences(extra["f1"])}
    pictures = {f"{slug}-{kind}.svg": chart.svg() for kind, chart in charts.items() if chart.bars}
    pairs = next(iter(extra["f1"].values()))["n"]
    blocks = [
        how_made(report),
        _HOW_TO_READ.format(pairs=pairs),
        *_shown(pictures, "f1", "Mean F1 of each planner"),
        _table(extra),
        *_verdict(extra),
        *_shown(pictures, "apart", "Difference in F1 to the extractive planner, pair by pair"),
        *_tables(report, extra),
    ]
    return Section("Planners compared: where a model helps", blocks, pictures)


def _shown(pictures: Mapping[str, str], kind: str, words: str) -> list[str]:
    return [f"![{words}](images/{name})" for name in pictures if name.endswith(f"-{kind}.svg")]


def _means(figures: Mapping[str, Figures]) -> Chart:
    bars = [
        Bar(name, of["mean"], of["mean_low"], of["mean_high"], is_marked=name == FLOOR)
        for name, of in figures.items()
    ]
    return Chart("Mean F1 of each planner, with 95 % intervals", bars)


def _differences(figures: Mapping[str, Figures]) -> Chart:
    bars = [
        Bar(name, of["apart"], of["apart_low"], of["apart_high"])
        for name, of in figures.items()
        if "apart" in of
    ]
    return Chart("F1 against the extractive planner, pair by pair", bars, signed=True)


def _table(extra: Mapping[str, Any]) -> str:
    rows = [
        [name, PLANNERS[name].meaning, *(_interval(extra[of][name], "mean") for of in HEADLINE)]
        for name in extra["f1"]
    ]
    return text_table(["planner", "what it is", *map(spelled, HEADLINE)], rows)


def _interval(of: Figures, name: str, sign: str = "") -> str:
    value, low, high = (of[name], of[f"{name}_low"], of[f"{name}_high"])
    return f"{value:{sign}.1f} ({low:{sign}.1f} to {high:{sign}.1f})".replace("-", "−")


def _verdict(extra: Mapping[str, Any]) -> list[str]:
    """What the figures say of best-of-N, in a sentence or two."""
    best, displaced = extra["f1"].get(_BEST, {}), extra["displacement"].get(_BEST)
    if "apart" not in best or displaced is None:
        return []
    recall = extra["recall"][_BEST]
    gain = (
        f"Against the extractive planner, best-of-N gains {_interval(best, 'apart', '+')} in F1, "
        f"an interval {_side(best)} zero, and {_interval(recall, 'apart', '+')} in recall, "
        f"{_side(recall)} zero."
    )
    places = (
        f"A model's workflow took the extractive one's place in {displaced['displaced']:.0%} of "
        f"the answers, a worse one in {displaced['by_a_worse_one']:.0%} (wanted: at most "
        f"{_MOST_WORSE:.0%}); where there was none to displace it answered "
        f"{displaced['filled']:.0%}. A scorer that knew the reference would have reached an F1 of "
        f"{displaced['best_candidate_f1']:.1f} from the same candidates."
    )
    return [gain, places]


def _side(of: Figures) -> str:
    """Where the interval of a difference lies."""
    if of["apart_low"] > 0:
        return "above"
    return "below" if of["apart_high"] < 0 else "that includes"


def _tables(report: Report, extra: Mapping[str, Any]) -> list[str]:
    tables: dict[str, Mapping[str, Figures]] = {
        "F1 by set": report.sets | {"**mean over sets**": report.overall},
        "Recall by set": extra["recall_by_set"],
        "Graph F1 by set": extra["graph_f1_by_set"],
        "Other shares of the answers": extra["shares"],
        "Whose workflow was chosen": extra["displacement"],
        "What became of the model's samples": extra["samples"],
        "What a ticket cost": extra["cost_per_ticket"],
    }
    return [
        block
        for title, rows in tables.items()
        if rows
        for block in (f"### {title}", spelled_table(rows))
    ]
