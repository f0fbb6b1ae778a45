"""Pages and their approved readings as what a model is asked and is to answer.

The prompts are those of the product, so that a server which serves the adapter needs nothing else.
"""

import json
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from services.llm.chat_model import Message
from services.runbook.by_model.question import messages as about_page
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages
from services.runbook.lowering import lower
from services.runbook.model import Procedure, Reading, as_json
from services.runbook.program import line_numbers
from services.scorer.cases import PageFacts
from services.scorer.judges.fact_judge import answer_text, orders_of, prompt_messages
from services.scorer.judges.question import FactQuestion
from services.scorer.judges.questions import rank_questions
from services.scorer.scoring_fit import ScoringFit
from services.workflow.model import Workflow
from training.adapting.material import Page
from training.model.sequences import TokenizerLike

_MOST_QUESTIONS = 40
"""Of a page: those on which most depends."""
_NOT_ASKED_FOR = frozenset({"commands", "expected"})
"""Of a program: code takes them from the lines."""


class Lesson(NamedTuple):
    """The question, the right answer and, where it is known, the wrong one that was given."""

    messages: tuple[Message, ...]
    right: str
    wrong: str = ""


def reader_lessons(pages: Sequence[Page]) -> Iterator[Lesson]:
    """Page to program: the approved one, against what it was corrected from."""
    for page in pages:
        right = _answer(page.reading)
        wrong = _answer(page.before) if page.before else ""
        yield Lesson(about_page(page.text), right, wrong if wrong != right else "")


def judge_lessons(pages: Sequence[Page], *, label: str) -> Iterator[Lesson]:
    """Lines to fact: what the approved program says, against what an earlier reader said.

    That is what the page was corrected from, where it was. Each question comes in both orders of
    its options, as the product asks it; `label` is what they are shuffled by.
    """
    facts = _facts()
    for page in pages:
        source = CitedPages({page.id: page.text})
        for right in page.reading.procedures:
            drawn = [
                GroundedWorkflow(workflow, source)
                for workflow in (lower(right, page.id), *_other(page.before, right, page.id))
            ]
            decided = [(each, facts.of(each).decided) for each in drawn]
            for question in rank_questions(decided, limit=_MOST_QUESTIONS):
                yield from _judged(question, label)


def text_of(tokenizer: TokenizerLike, messages: Sequence[Message]) -> str:
    """The dialogue up to where the model answers, by the model's own template where it has one."""
    if tokenizer.chat_template:
        turns = [{"role": each.role, "content": each.content} for each in messages]
        text: str = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return text
    return "".join(f"{each.role}:\n{each.content}\n\n" for each in messages) + "assistant:\n"


def _facts() -> PageFacts:
    fit = ScoringFit.shipped()
    return PageFacts(fit.forests, fit.conditions)


def _other(before: Reading | None, right: Procedure, page_id: str) -> Iterator[Workflow]:
    """Of an earlier reading the procedure that shares most lines with the right one."""
    own = line_numbers(right.lines)
    procedures = before.procedures if before else ()
    nearest = max(procedures, key=lambda each: len(line_numbers(each.lines) & own), default=None)
    if nearest is not None:
        yield lower(nearest, page_id)


def _judged(question: FactQuestion, label: str) -> Iterator[Lesson]:
    """One for each order; none where the approved program says nothing, or several things."""
    options = [{c.option for c in question.claims if c.candidate == number} for number in (0, 1)]
    if len(options[0]) != 1:
        return
    (right,) = options[0]
    others = options[1] - options[0]
    for order in orders_of(question, label):
        letters = {place: ascii_uppercase[n] for n, place in enumerate(order)}
        wrong = answer_text(letters[min(others)]) if others else ""
        yield Lesson(prompt_messages(question, order), answer_text(letters[right]), wrong)


def _answer(reading: Reading) -> str:
    programs = [_as_prompted(as_json(each)) for each in reading.procedures]
    return json.dumps({"procedures": programs}, ensure_ascii=False)


def _as_prompted(program: object) -> object:
    if isinstance(program, dict):
        return {k: _as_prompted(of) for k, of in program.items() if k not in _NOT_ASKED_FOR}
    return [_as_prompted(each) for each in program] if isinstance(program, list) else program
