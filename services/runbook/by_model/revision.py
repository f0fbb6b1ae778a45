"""Revision of an answer: its writer sees the flowchart that it becomes, and may write again.

Commands of its steps are taken from the cited lines, never from the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.knowledge.page.parsing import parse_page
from services.llm.chat_model import ModelAnswerError
from services.llm.structured import Turns, correction_turns, parse_answer, reply_turns
from services.runbook.by_model.page_content import with_commands, with_page_words
from services.runbook.by_model.question import ProgramAnswer
from services.runbook.checking.check import UnusableReadingError, check_reading
from services.runbook.checking.unplaced import UnplacedBlock, unplaced_blocks
from services.runbook.checking.walker import PathFinding
from services.runbook.lowering import lower
from services.runbook.model import LeftOut, Procedure, Reader, Reading

Judge = Callable[[Sequence[Procedure]], Sequence[PathFinding]]
"""A check of the procedures of an answer, which returns its findings."""
Ask = Callable[[Turns], str | None]
"""A request for the next answer after further turns; None if there is none to be had."""


class Attempt(NamedTuple):
    """A readable answer with the findings about it."""

    procedures: tuple[Procedure, ...]
    findings: Sequence[PathFinding]
    left_out: tuple[LeftOut, ...] = ()
    revisions: int = 0
    """The number of earlier attempts that its writer has seen as flowcharts."""


@dataclass(frozen=True)
class Revision:
    """The revision of answers about one text."""

    text: str
    judge: Judge
    ask: Ask
    corrections: int

    def settle(self, answer: str) -> Attempt | None:
        """Return the soundest of the answer and its revisions; None if none is readable.

        Each is shown as the flowchart that it becomes, once at least. Of two equally sound ones the
        later wins, since its writer has seen the earlier one as a flowchart.
        """
        best: Attempt | None = None
        turns: Turns = ()
        for round_ in range(self.corrections + 1):
            attempt, reply = self.attempt(answer)
            if attempt and (best is None or len(attempt.findings) <= len(best.findings)):
                best = attempt._replace(revisions=round_)
            is_sound = attempt is not None and not attempt.findings and round_ > 0
            if is_sound or round_ == self.corrections:
                return best
            turns += reply
            revised = self.ask(turns)
            if revised is None:
                return best
            answer = revised
        return best

    def attempt(self, answer: str) -> tuple[Attempt | None, Turns]:
        """Return the answer as procedures of this text, and the turns that review it."""
        try:
            program = parse_answer(answer, ProgramAnswer)
            read = Reading(
                reader=Reader.MODEL, procedures=program.procedures, left_out=program.left_out
            )
            kept = check_reading(read, self.text)
        except (ModelAnswerError, UnusableReadingError) as error:
            return None, correction_turns(answer, error)
        procedures = with_page_words(kept.reading.procedures, self.text)
        procedures = with_commands(procedures, self.text)
        findings = [*map(PathFinding, kept.remarks), *self.judge(procedures)]
        left_out = kept.reading.left_out
        missing = unplaced_blocks(procedures, left_out, parse_page(self.text))
        review = _review(procedures, findings, missing)
        return Attempt(procedures, findings, left_out), reply_turns(answer, review)


def _review(
    procedures: Sequence[Procedure],
    findings: Sequence[PathFinding],
    missing: Sequence[UnplacedBlock],
) -> str:
    """Return the review for the model: the flowchart of its program, findings, what is missing."""
    charts = "\n\n".join(flowchart_text(procedure) for procedure in procedures) or "(no procedure)"
    finding_lines = "".join(f"- {each}\n" for each in findings)
    problems = f"These things look wrong in it:\n{finding_lines}" if finding_lines else ""
    lines = ", ".join(f"{block.own_lines[0]}-{block.own_lines[-1]}" for block in missing)
    problems += f"In no step, note or left_out are the lines {lines}.\n" if lines else ""
    return (
        f"This is the flowchart that your program becomes:\n{charts}\n{problems}Hold it "
        "against the page: is each step done under the right condition, does each answer lead "
        "where the page says, is anything missing or asked that the page does not ask? Write "
        "the program again, corrected, or as it is when all is right."
    )


def flowchart_text(procedure: Procedure) -> str:
    """Return a line for each step: lines of the page, text, and the target of each answer."""
    workflow = lower(procedure, "page")
    rows = []
    for step in workflow.steps:
        exits = workflow.exits(step.id)
        ways = [
            f"{edge.condition}: {edge.target}" if edge.condition else edge.target for edge in exits
        ]
        target_text = f" -> {', '.join(ways)}" if ways else " [end]"
        lines = ", ".join(f"{cite.start_line}-{cite.end_line}" for cite in step.citations)
        cited = f" (lines {lines})" if lines else ""
        notes = "".join(f"\n   ! {note}" for note in step.notes)
        rows.append(f"{step.id} {step.text}{cited}{target_text}{notes}")
    return "\n".join(rows)
