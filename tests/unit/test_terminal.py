"""What the command line prints of a workflow."""

from datetime import UTC, datetime

import pytest

from services.cli.terminal import show_line, show_workflow
from services.contracts.gateway import StoredWorkflow
from services.contracts.scorer import DIMENSIONS, Dimension, Score
from services.contracts.ticket import Fit
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow
from tests.checklists import checklist_of

CITED = (Citation(document_id="fan.md", start_line=3, end_line=4),)
FANS = Workflow(
    title="Fan failure",
    steps=(
        Step(
            id="reseat",
            kind=StepKind.PROCESS,
            text="Reseat the tray",
            citations=CITED,
            notes=("Mind the fan",),
            doubt="For spines only?",
        ),
        Step(id="end", kind=StepKind.TERMINAL, text="Resolved", implied=True),
    ),
    transitions=(Transition(source="reseat", target="end"),),
)
GOOD = Dimension(value=4.0, reason="fine")


def stored(fit: Fit, *against: str) -> StoredWorkflow:
    return StoredWorkflow(
        id="w",
        ticket_id="t",
        rank=1,
        workflow=FANS,
        score=Score(**dict.fromkeys(DIMENSIONS, GOOD)),
        fit=fit,
        against=against,
        created_at=datetime(2025, 1, 1, tzinfo=UTC),
    )


def test_what_is_not_sure_is_said_first_with_its_reasons(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_workflow(stored(Fit.UNSURE, "the page is about [red]spines"))
    printed = capsys.readouterr().out
    assert "closest known page, not sure that it is the one" in printed
    assert "the page is about [red]spines" in printed
    assert printed.index("not sure") < printed.index("Reseat the tray")


def test_what_surely_fits_has_no_such_mark(capsys: pytest.CaptureFixture[str]) -> None:
    show_workflow(stored(Fit.SURE))
    assert "closest known" not in capsys.readouterr().out


def test_a_step_says_its_notes_its_doubt_and_what_it_follows_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_workflow(stored(Fit.SURE))
    printed = capsys.readouterr().out
    assert "note: Mind the fan" in printed
    assert "not sure: For spines only?" in printed
    assert "follows from the steps around it" in printed


def test_what_others_wrote_does_nothing_to_the_terminal(capsys):
    show_line("Fan\x1b[31mDown\x1b]0;title\x07 \u202egpj.exe")
    printed = capsys.readouterr().out
    assert "Fan" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)


def shown(fit: Fit, workflow: Workflow, **how: bool) -> None:
    kept = stored(fit, "another page is as near")
    show_workflow(kept.model_copy(update={"workflow": workflow, "kind": workflow.kind}), **how)


def test_a_checklist_is_shown_as_its_page_with_its_relevance_and_no_stars(capsys):
    shown(Fit.SURE, checklist_of(headings=("The pump stands still",)))
    printed = capsys.readouterr().out
    assert printed.count("Nobody has checked its decisions.") == 1
    assert "[ ] 3. Look at the drive, as the vendor" in printed
    assert "       $ pumpctl status loop-2\n" in printed
    assert "## The pump is loud (2 boxes, not asked for)" in printed
    assert "Relevance 4.0 of 5: fine" in printed
    assert "of the page's lines stand open" in printed
    assert not {"coverage", "conciseness", "overall", "How it was judged"} & set(printed.split())


def test_a_whole_page_is_shown_on_demand(capsys):
    shown(Fit.SURE, checklist_of(headings=("The pump stands still",)), whole=True)
    printed = capsys.readouterr().out
    assert "[ ] 1. Vent the loop." in printed
    assert "100% of the page's lines stand open" in printed


def test_a_page_that_is_not_surely_the_one_is_still_told_as_it_is(capsys):
    shown(Fit.UNSURE, checklist_of())
    printed = capsys.readouterr().out
    assert "closest known page, not sure that it is the one" in printed
    assert "another page is as near" in printed
    assert "Your team's page as it is. Nobody has checked its decisions." in printed


def test_a_page_does_nothing_to_the_terminal(capsys):
    shown(Fit.SURE, checklist_of("- Look\x1b]0;title\x07 at \u202eexe.gpj [bold]now[/]\n"))
    printed = capsys.readouterr().out
    assert "[bold]now[/]" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
