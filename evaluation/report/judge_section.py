"""The section of the results page about the scorer, with what its chance is worth."""

from dataclasses import replace
from typing import Any

from evaluation.measures.figures import Report
from evaluation.report.reliability import reliability_diagram
from evaluation.report.results_section import Section, plain_section, spelled_table


def judge_section(report: Report, slug: str) -> Section:
    """All figures, and a reliability diagram for each choice of workflows."""
    extra: dict[str, Any] = report.model_extra or {}
    bins = extra.get("reliability", {})
    pictures = {
        f"{slug}-reliability-{name}.svg": reliability_diagram(f"Chance of acceptable: {name}", of)
        for name, of in bins.items()
    }
    plain = plain_section(report)
    blocks = [*plain.blocks, "### What the chance is worth"]
    for (name, of), picture in zip(bins.items(), pictures, strict=True):
        blocks += [f"![Reliability diagram, {name}](images/{picture})", spelled_table(of)]
    return replace(plain, blocks=blocks, pictures=pictures)
