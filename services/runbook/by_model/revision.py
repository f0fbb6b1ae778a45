"""Revision of an answer: its writer sees the flowchart that it becomes, and may write again.

Commands of its steps are taken from the cited lines, never from the answer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from services.knowledge.page.block import Block, BlockKind, Page, codes
from services.knowledge.page.parsing import parse_page
from services.llm.chat_model import ModelAnswerError
from services.llm.structured import Turns, correction_turns, parse_answer, reply_turns
from services.runbook.by_model.page_words import with_page_words
from services.runbook.by_model.question import ProgramAnswer
from services.runbook.checking.check import UnusableReadingError, check_reading
from services.runbook.checking.unplaced import UnplacedBlock, unplaced_blocks
from services.runbook.checking.walker import PathFinding
from services.runbook.lowering import lower
from services.runbook.model import Body, Do, LeftOut, LineRange, Node, Procedure, Reader, Reading
from services.workflow.page_code import (
    CodePart,
    CodeUse,
    PageCode,
    code_parts,
    inline_commands,
    is_output,
)

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


_LONGEST_EXPECTED = 600
"""Characters; a longer sample does not help to compare."""


class _LineCommands(NamedTuple):
    """A command of the page, or several in prose, with its sample output."""

    lines: LineRange
    block: LineRange
    """Lines of the whole block."""
    commands: tuple[str, ...]
    expected: str = ""


def with_commands(procedures: Sequence[Procedure], text: str) -> tuple[Procedure, ...]:
    """Add to each action the commands and the sample output of its lines.

    Of several actions of a procedure with the same lines only the first gets them. One that cites
    some lines of a code block gets the commands of these lines alone.
    """
    all_commands = list(_line_commands(parse_page(text)))

    def with_own(node: Node, left: list[_LineCommands]) -> Body:
        if not isinstance(node, Do):
            return (node,)
        exact = [each for each in left if _overlap(node.lines, each.lines)]
        exact_blocks = {each.block for each in exact}
        own = [
            each
            for each in left
            if each in exact
            or (
                each.block not in exact_blocks
                and _overlap(node.lines, (each.block[0], each.block[0]))
            )
        ]
        left[:] = [each for each in left if each not in own]
        commands = tuple(dict.fromkeys(command for each in own for command in each.commands))
        expected = next((each.expected for each in own if each.expected), "")
        return (node.model_copy(update={"commands": commands, "expected": expected}),)

    return tuple(
        procedure.map(node=partial(with_own, left=list(all_commands)), order="down")
        for procedure in procedures
    )


def _overlap(cited: Sequence[LineRange], lines: LineRange) -> bool:
    return any(first <= lines[1] and lines[0] <= last for first, last in cited)


def _line_commands(page: Page) -> Iterator[_LineCommands]:
    before = ""
    for block in (place.block for place in page.places()):
        text_before = before
        before = "" if block.kind is BlockKind.HEADING else block.text
        lines = (block.start_line, block.end_line)
        if block.kind is BlockKind.CODE:
            code = PageCode(block.verbatim, block.language)
            parts = code_parts(code, text_before)
            if not any(part.use is CodeUse.COMMAND for part in parts):
                expected = block.verbatim if is_output(code, text_before) else ""
                yield _LineCommands(lines, lines, (), expected[:_LONGEST_EXPECTED].rstrip())
                continue
            yield from _commands_of(block, parts, page)
        elif block.kind is not BlockKind.HEADING:
            own = (block.start_line, block.own_end)
            yield _LineCommands(own, own, inline_commands(block.text, codes(block.words)))


def _commands_of(block: Block, parts: Sequence[CodePart], page: Page) -> Iterator[_LineCommands]:
    """Yield the commands of a code block, each with its lines and the output behind it."""
    lines = (block.start_line, block.end_line)
    at = block.start_line
    for place, part in enumerate(parts):
        if part.use is not CodeUse.COMMAND:
            continue
        first, *others = part.text.split("\n")
        rest = range(at, block.end_line + 1)
        at = next((n for n in rest if first.strip() in page.lines[n - 1]), at)
        behind = parts[place + 1 : place + 2]
        output = next((each.text for each in behind if each.use is CodeUse.OUTPUT), "")
        own = (at, min(at + len(others), block.end_line))
        yield _LineCommands(own, lines, (part.text,), output[:_LONGEST_EXPECTED].rstrip())
        at = own[1]
