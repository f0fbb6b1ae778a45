"""Tickets that ended, as tests make them."""

from services.contracts.retrieval import PageSigns
from services.learning.subject import WeightedLesson
from services.tickets.adoption.lessons import Lesson, ScoredWorkflow
from services.workflow.model import Provenance


def page(name, **signs):
    return PageSigns(document_id=name, signs=signs)


def lesson(number, *pages, right="", wrong=(), kind="", **fields):
    return Lesson(
        source_id=f"T-{number}",
        kind=kind or f"kind {number}",
        at=float(number),
        is_alert=False,
        pages=pages,
        right=right,
        wrong=frozenset(wrong),
        **fields,
    )


def strong(number, *, is_right):
    """A ticket whose first page looks like a good one."""
    first = page("fan.md", meaning=0.7, coverage=0.8, runs=0.5, line_titled=0.5)
    judgement = {"right": "fan.md"} if is_right else {"wrong": ["fan.md"]}
    return lesson(number, first, page("psu.md", meaning=0.2), **judgement)


def taken(number, *, is_accepted, value=4.0):
    """A ticket whose page was right, and how its workflow was taken."""
    values = dict.fromkeys(("relevance", "coverage", "accuracy", "coherence", "conciseness"), value)
    origin = Provenance(planner="extractive", reader="rules", document_ids=("fan.md",))
    workflow = ScoredWorkflow(values, origin, is_accepted)
    return lesson(number, page("fan.md"), right="fan.md", workflow=workflow)


def counted(lessons):
    return [WeightedLesson(each) for each in lessons]
