"""What the command line prints of a workflow."""

from datetime import UTC, datetime

import pytest

from services.contracts.gateway import StoredWorkflow
from services.contracts.scorer import DIMENSIONS, Dimension, Score
from services.contracts.ticket import Fit
from services.terminal import show_line, show_workflow
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

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
