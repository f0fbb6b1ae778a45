"""What the benchmark of completeness drops and counts."""

from evaluation.benches.completeness import Page, measure
from services.knowledge.embedding.embedders import HashingEmbedder
from services.runbook.inspections import Check, Peer

SUPPLY = Check(text="Check the power supply of the switch", commands=("show power supply",))
OTHERS = ("Check the optic of the port", "Check the log of syncd", "Check the flash of the card")


def peer(number, *checks):
    return Peer(f"{number}.md", str(number), checks)


def measured(pages):
    report = measure(pages, HashingEmbedder().embed, 0, lambda: None)
    return {half: report.sets[half] for half in ("even", "odd")}, report


def page(name, own, others):
    return Page(name, tuple(own), tuple(others))


def both(figures, name):
    return [each[name] for each in figures.values() if name in each]


def test_what_is_dropped_is_told_again_by_who_looks_with_the_same_command():
    others = [peer(n, SUPPLY, Check(text=other)) for n, other in enumerate(OTHERS)]
    figures, report = measured([page("own.md", [SUPPLY], others)])
    assert both(figures, "recall") == [1.0]
    assert both(figures, "told of a page as it is") == [0.0, 0.0]
    assert [each["has it too"] for each in report.shares.values()] == [1.0]


def test_pages_with_too_few_others_are_counted():
    figures, _ = measured([page("own.md", [SUPPLY], [peer(0, SUPPLY)])])
    assert sorted(both(figures, "too few of a kind")) == [0.0, 1.0]
