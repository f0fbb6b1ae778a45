"""What was done of a page, as the team that takes the ticket over reads it."""

from services.contracts.adoption import NO_WORK, StepState, StepWork
from services.tickets.triage.handover import MOST_CHARACTERS, MOST_STEPS, work_done
from tests.checklists import checklist_of

MANY = "# Pump\n\n" + "\n".join(f"{n}. Vent loop {n}." for n in range(1, 51))


def lines_of(text, *marks):
    return work_done(checklist_of(text), NO_WORK.model_copy(update={"steps": marks}))


def test_of_very_much_work_the_notes_are_told_first_and_the_rest_is_counted():
    ticks = [StepWork(step=f"s{n}", state=StepState.DONE) for n in range(1, 50)]
    noted = StepWork(step="s50", state=StepState.DONE, seen="it leaks")
    lines = lines_of(MANY, *ticks, noted)
    assert len(lines) == MOST_STEPS + 1
    assert lines[0] == "Done: “Vent loop 1”"
    assert lines[-2:] == ("Done: “Vent loop 50”: it leaks", "20 more steps of it")


def test_a_long_note_is_cut():
    (line,) = lines_of(MANY, StepWork(step="s1", state=StepState.DONE, seen="x" * 2000))
    assert line.endswith("x…")
    assert len(line) < MOST_CHARACTERS + 40


def test_what_goes_with_a_step_that_does_not_apply_and_what_stands_open_is_left_out():
    spared = StepWork(step="s1", state=StepState.NOT_APPLICABLE)
    nested = StepWork(step="s2", state=StepState.NOT_APPLICABLE, with_step="s1")
    lines = lines_of(MANY, spared, nested, StepWork(step="s3"))
    assert lines == ("Did not apply: “Vent loop 1”",)
