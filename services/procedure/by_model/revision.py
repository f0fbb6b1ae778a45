"""An answer that its writer is shown as the flowchart that it becomes, and may write again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.llm.chat_model import Message, ModelAnswerError
from services.llm.parsing import parse_answer
from services.procedure.by_model.commands import with_commands
from services.procedure.by_model.question import Program
from services.procedure.checking.check import UnusableReadingError, checked
from services.procedure.checking.walker import PathFinding
from services.procedure.flowchart import drawn
from services.procedure.model import Procedure, Reader, Reading

Judge = Callable[[Sequence[Procedure]], Sequence[PathFinding]]
"""What is wrong with the procedures of an answer."""
Ask = Callable[[Sequence[Message]], str | None]
"""The next answer after further turns; None when there is none to be had."""


class Attempt(NamedTuple):
    """A readable answer, and what is wrong with it."""

    procedures: tuple[Procedure, ...]
    found: Sequence[PathFinding]
    revisions: int = 0
    """How often its writer had been shown an earlier one."""


@dataclass(frozen=True)
class Revision:
    """How answers about one text are settled."""

    text: str
    judge: Judge
    ask: Ask
    corrections: int

    def settled(self, answer: str) -> Attempt | None:
        """The soundest of the answer and its revisions; None when none could be read.

        Each is shown as the flowchart that it becomes, once at least; of two that are as sound the
        later one counts, since its writer has seen the earlier one drawn.
        """
        best: Attempt | None = None
        turns: tuple[Message, ...] = ()
        for place in range(self.corrections + 1):
            attempt, told = self.attempt(answer)
            if attempt and (best is None or len(attempt.found) <= len(best.found)):
                best = attempt._replace(revisions=place)
            is_settled = attempt is not None and not attempt.found and place > 0
            if is_settled or place == self.corrections:
                return best
            turns = (*turns, _said("assistant", answer), _said("user", told))
            revised = self.ask(turns)
            if revised is None:
                return best
            answer = revised
        return best

    def attempt(self, answer: str) -> tuple[Attempt | None, str]:
        """The answer as procedures of this text, and what to tell the model of it."""
        try:
            program = parse_answer(answer, Program)
            kept = checked(Reading(reader=Reader.MODEL, procedures=program.procedures), self.text)
        except (ModelAnswerError, UnusableReadingError) as error:
            return None, f"That cannot be used: {error}. Answer with the JSON only."
        procedures = with_commands(kept.reading.procedures, self.text)
        found = [*map(PathFinding, kept.remarks), *self.judge(procedures)]
        return Attempt(procedures, found), _review(procedures, found)


def _said(role: str, content: str) -> Message:
    return Message.model_validate({"role": role, "content": content})


def _review(procedures: Sequence[Procedure], found: Sequence[PathFinding]) -> str:
    """What the model is told of its program: how it is drawn, and what the walker found in it."""
    charts = "\n\n".join(drawn(procedure) for procedure in procedures) or "(no procedure)"
    told = "".join(f"- {each}\n" for each in found)
    wrong = f"These things look wrong in it:\n{told}" if told else ""
    return (
        f"This is the flowchart that your program becomes:\n{charts}\n{wrong}Hold it against the "
        "page: is each step done under the right condition, does each answer lead where the page "
        "says, is anything missing or asked that the page does not ask? Write the program again, "
        "corrected, or as it is when all is right."
    )
