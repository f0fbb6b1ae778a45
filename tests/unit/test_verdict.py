"""One verdict, in the same words wherever it is told."""

import pytest

from services.contracts.ticket import Fit, TicketStatus
from services.contracts.verdict import BOXES_CHECKED, JudgedTicket, JudgedWorkflow, Verdict
from services.workflow.model import WorkflowKind

CASES = [
    (Fit.SURE, True, "", Verdict.CHECKED, "checked by a person"),
    (Fit.SURE, False, "", Verdict.UNCHECKED, "read by machine, nobody has checked it"),
    (
        Fit.SURE,
        True,
        "Ana",
        Verdict.UNCHECKED,
        "its page was checked by a person; changed here by Ana",
    ),
    (
        Fit.SURE,
        False,
        "Ana",
        Verdict.UNCHECKED,
        "read by machine, nobody has checked it; changed here by Ana",
    ),
    (Fit.UNSURE, False, "", Verdict.CLOSEST, "closest known page, not sure that it is the one"),
    (
        Fit.UNSURE,
        True,
        "",
        Verdict.CLOSEST,
        "closest known page, not sure that it is the one; its page was checked",
    ),
]


@pytest.mark.parametrize(("fit", "is_checked", "editor", "verdict", "words"), CASES)
def test_fit_comes_first_and_a_check_is_of_the_page(fit, is_checked, editor, verdict, words):
    workflow = JudgedWorkflow(fit=fit, is_checked=is_checked, author=editor)
    ticket = JudgedTicket(
        fit=fit, is_checked=is_checked, edited_by=editor, status=TicketStatus.PLANNED
    )
    for judged in (workflow, ticket):
        assert (judged.verdict, judged.verdict_words) == (verdict, words)


@pytest.mark.parametrize(
    ("fit", "verdict", "words"),
    [
        (
            Fit.SURE,
            Verdict.UNCHECKED,
            "your team's page as it is; nobody has checked its decisions",
        ),
        (Fit.UNSURE, Verdict.CLOSEST, "closest known page, not sure that it is the one"),
    ],
)
def test_a_checklist_is_the_page_as_it_is_where_that_is_surely_the_one(fit, verdict, words):
    judged = JudgedWorkflow(fit=fit, kind=WorkflowKind.CHECKLIST)
    assert (judged.verdict, judged.verdict_words) == (verdict, words)
    origin = "composed from a sentence"
    edited = judged.model_copy(update={"author": "Ana", "page_origin": origin})
    assert edited.verdict_words == f"{words}; {origin}; changed here by Ana"


@pytest.mark.parametrize(
    ("kind", "fit", "verdict", "words"),
    [
        (WorkflowKind.PROCEDURE, Fit.SURE, Verdict.UNCHECKED, BOXES_CHECKED),
        (
            WorkflowKind.CHECKLIST,
            Fit.SURE,
            Verdict.UNCHECKED,
            f"your team's page as it is; {BOXES_CHECKED}",
        ),
        (
            WorkflowKind.PROCEDURE,
            Fit.UNSURE,
            Verdict.CLOSEST,
            "closest known page, not sure that it is the one; its boxes were checked",
        ),
    ],
)
def test_checked_boxes_are_no_checked_workflow(kind, fit, verdict, words):
    judged = JudgedWorkflow(fit=fit, kind=kind, has_checked_boxes=True)
    assert (judged.verdict, judged.verdict_words) == (verdict, words)


@pytest.mark.parametrize("fit", list(Fit))
def test_a_page_that_nobody_wrote_by_hand_is_said_beside_the_verdict(fit):
    origin = "learned from one run: one path seen"
    plain = JudgedWorkflow(fit=fit, is_checked=True)
    marked = plain.model_copy(update={"page_origin": origin})
    assert marked.verdict_words == f"{plain.verdict_words}; {origin}"
    edited = marked.model_copy(update={"author": "Ana"})
    assert edited.verdict_words.endswith(f"{origin}; changed here by Ana")
    assert JudgedTicket(status=TicketStatus.REFUSED, page_origin=origin).verdict_words == (
        Verdict.NOTHING.words
    )


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (TicketStatus.REFUSED, Verdict.NOTHING),
        (TicketStatus.HANDED_OVER, Verdict.NOTHING),
        (TicketStatus.PLANNING, None),
        (TicketStatus.FAILED, None),
    ],
)
def test_without_a_workflow_the_state_decides(status, verdict):
    ticket = JudgedTicket(status=status)
    assert ticket.verdict is verdict
    assert ticket.verdict_words == (verdict.words if verdict else "")
