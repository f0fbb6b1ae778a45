"""Yes/no questions about a page that its owner is asked, the likeliest wrong first."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from services.kit.text import ellipsize
from services.knowledge.page.block import Block, BlockKind, Page, Place
from services.knowledge.page.box_fit import AS_SHIPPED, BoxFit, Habit
from services.knowledge.page.boxes import (
    blocks_of,
    candidates,
    find_boxes,
    last_own_line,
    lists_of,
    step_chances,
)
from services.runbook.checklist.build import first_instruction
from services.runbook.editing.block_edits import (
    BlockEdit,
    PageQuestion,
    SetBox,
    SetCondition,
    SetEnd,
)
from services.runbook.editing.block_operations import apply_block_edit
from services.runbook.editing.errors import UnusableOperationError
from services.runbook.evidence.conditions import (
    MOST_STEPS,
    Condition,
    ConditionForests,
    conditions_of,
    shipped_forests,
)
from services.runbook.evidence.fact import FactKind
from services.runbook.evidence.facts import facts_of
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages
from services.runbook.lowering import lower
from services.runbook.model import Doubt, DoubtKind, LineRange, Procedure, Reading
from services.runbook.ports import ApprovalKind, ServedReading
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.plain import plain

MOST_QUESTIONS = 5
LEAST_CHANCE_WRONG = 0.2
"""The lowest chance of a fault that is worth a tap."""
_CHANCE_MISSING = 0.9
"""Share of the steps that only another sample had which a drawing has too: 17 of 19, 28 pages."""
_LONGEST_WORDS = 90
_LONGEST_SPAN = 15
"""Lines; a longer citation does not say at which block a step stands."""
_NO_CORRECTIONS: Mapping[str, bool] = {}


def page_questions(
    page: Page,
    document_id: str,
    served: ServedReading | None,
    unedited: Reading | None,
    *,
    corrections: Mapping[str, bool] = _NO_CORRECTIONS,
    habit: Habit = AS_SHIPPED,
    answered: Collection[str] = (),
    changed: Collection[str] | None = None,
) -> tuple[PageQuestion, ...]:
    """Return what the owner of a page is asked, at most `MOST_QUESTIONS`.

    Of a page whose procedures nobody has read they are about its boxes. Of a reading they are what
    was most doubtful before people edited it and still stands: an answer brings no further one.
    Nothing is that an approval checked.

    Args:
        page: The page.
        document_id: The document that the reading cites.
        served: What is served of the page; None if nobody has read it.
        unedited: The best reading that is no person's.
        corrections: People's corrections of boxes by the key of the block.
        habit: Weights of the form of steps.
        answered: Ids of questions that a person has answered.
        changed: Keys of the blocks that the page's approved text had not; None if no earlier text
            was approved.
    """
    procedures = served.reading.procedures if served else ()
    kinds = [served.kind(place) for place in range(len(procedures))] if served else []
    possible: list[PageQuestion] = []
    if all(each.begun_from_boxes for each in procedures):
        if None in kinds or not procedures:
            first = choose_questions(page, box_questions(page, habit=habit), changed=changed)
            doubtful = {question.id for question in first}
            possible = [q for q in box_questions(page, corrections, habit) if q.id in doubtful]
    elif served is not None and unedited is not None:
        forests = shipped_forests()
        of_unedited = reading_questions(unedited, page, document_id, forests)
        first = choose_questions(
            page,
            (q for q in of_unedited if not _is_checked(q, kinds)),
            partial(_can_be_answered, unedited.procedures, page),
            changed=changed,
        )
        doubtful = {question.id for question in first}
        possible = [
            question
            for question in reading_questions(served.reading, page, document_id, forests)
            if question.id in doubtful
            and question.block not in corrections
            and not _is_checked(question, kinds)
        ]
    can_be_answered = partial(_can_be_answered, procedures, page)
    return choose_questions(page, possible, can_be_answered, answered=answered, changed=changed)


def _is_checked(question: PageQuestion, kinds: Sequence[ApprovalKind | None]) -> bool:
    """Return True if an approval has settled what is asked."""
    kind = kinds[question.procedure] if question.procedure < len(kinds) else None
    is_of_box = isinstance(question.no, SetBox) or bool(question.doubt)
    needed = ApprovalKind.CHECKLIST if is_of_box else ApprovalKind.WORKFLOW
    return kind is not None and kind.includes(needed)


def _can_be_answered(procedures: Sequence[Procedure], page: Page, question: PageQuestion) -> bool:
    """Return False if the page could not take the edit of an answer."""
    if isinstance(question.no or question.yes, SetBox):
        return True
    try:
        for edit in (question.yes, question.no):
            if edit is not None:
                apply_block_edit(procedures[question.procedure], page, edit)
    except UnusableOperationError:
        return False
    return True


def choose_questions(
    page: Page,
    questions: Iterable[PageQuestion],
    can_be_answered: Callable[[PageQuestion], bool] = lambda _: True,
    *,
    answered: Collection[str] = (),
    changed: Collection[str] | None = None,
) -> tuple[PageQuestion, ...]:
    """Return the questions to ask, at most `MOST_QUESTIONS`, one at a block.

    Args:
        page: The page.
        questions: All that could be asked.
        can_be_answered: Returns False for a question whose answer the page could not take.
        answered: Ids of questions that a person has answered.
        changed: Keys of the blocks that the page's approved text had not; None if no earlier text
            was approved.
    """
    by_block: dict[str, PageQuestion] = {}
    for question in sorted(questions, key=lambda each: -each.chance_wrong):
        if question.chance_wrong < LEAST_CHANCE_WRONG or question.id in answered:
            continue
        blocks = {question.block, *(place.block.key for place in blocks_of(page, question.block))}
        is_wanted = question.block not in by_block and len(by_block) < MOST_QUESTIONS
        is_new = changed is None or not blocks.isdisjoint(changed)
        if is_wanted and is_new and can_be_answered(question):
            by_block[question.block] = question
    return tuple(by_block.values())


def box_questions(
    page: Page,
    corrections: Mapping[str, bool] = _NO_CORRECTIONS,
    habit: Habit = AS_SHIPPED,
    fit: BoxFit | None = None,
) -> Iterator[PageQuestion]:
    """Yield for each block that no person corrected whether it is a step; for a list once.

    Items of an either/or are not asked about: its box is the line that leads to it.
    """
    boxes = find_boxes(page, corrections, fit, habit)
    boxed = {box.block.key for box in boxes}
    options = {option.key for box in boxes for option in box.options}
    chances = step_chances(page, fit, habit)
    places = [each for each in candidates(page) if each.block.key in chances]
    lists: dict[str, list[Place]] = {}
    for place, name in zip(places, lists_of(places), strict=True):
        lists.setdefault(name, []).append(place)
    for name, group in lists.items():
        keys = [place.block.key for place in group]
        if not corrections.keys().isdisjoint(keys) or not options.isdisjoint(keys):
            continue
        is_whole = len({key in boxed for key in keys}) == 1
        parts = [(name, group)] if is_whole else [(each.block.key, [each]) for each in group]
        for key, members in parts:
            yield _box_question(key, members, chances, is_step=members[0].block.key in boxed)


def _box_question(
    key: str, places: Sequence[Place], chances: Mapping[str, float], *, is_step: bool
) -> PageQuestion:
    """Ask whether a block, or each of a list, is a step."""
    blocks = [place.block for place in places]
    chance = fmean(chances[block.key] for block in blocks)
    words = _short(first_instruction(blocks[0]))
    many = f"Are these {len(blocks)} items steps, from “{words}” on?"
    return PageQuestion.of(
        f"Is this a step: “{words}”?" if len(blocks) == 1 else many,
        key,
        yes=None if is_step else SetBox(block=key, is_step=True),
        no=SetBox(block=key, is_step=False) if is_step else None,
        chance_wrong=1 - chance if is_step else chance,
        lines=tuple((block.start_line, last_own_line(block)) for block in blocks),
    )


def reading_questions(
    reading: Reading, page: Page, document_id: str, forests: ConditionForests
) -> Iterator[PageQuestion]:
    """Yield what is to be asked of a model's reading: its conditions, and steps that it may miss.

    Procedures of very many steps are left out: the number of conditions grows with the square.
    """
    for place, procedure in enumerate(reading.procedures):
        workflow = lower(procedure, document_id)
        if len(workflow.steps) > MOST_STEPS:
            continue
        grounded = GroundedWorkflow(workflow, CitedPages({document_id: "\n".join(page.lines)}))
        doubts = [each for each in reading.doubts if each.procedure == place and not each.ticket]
        questions = ProcedureQuestions(workflow, place, blocks_by_line(page), doubts)
        conditions = conditions_of(grounded, facts_of(grounded), forests)
        gates: set[tuple[str, str]] = set()
        for claim in sorted(conditions, key=lambda each: each.chance):
            question = questions.of_claim(claim)
            if question is None or (claim.other, claim.answer) in gates:
                continue
            if claim.kind is FactKind.GUARD:  # one question for a gate of many steps
                gates.add((claim.other, claim.answer))
            yield question
        yield from questions.of_samples()


@dataclass(frozen=True)
class ProcedureQuestions:
    """Questions about one procedure."""

    workflow: Workflow
    procedure: int
    blocks: Mapping[int, Block]
    """The innermost block at each line."""
    doubts: Sequence[Doubt] = ()
    """Steps that only another sample has."""

    def of_claim(self, claim: Condition) -> PageQuestion | None:
        """Return the question about a claim; None if no edit of a block could correct it."""
        step = self.workflow.by_id[claim.step]
        block = self._block_at(step.cited_lines)
        if block is None:
            return None
        key = block.key
        if claim.kind in {FactKind.GUARD, FactKind.FREE}:
            steps = self.workflow.of_kind(StepKind.PROCESS)
            if sum(self._block_at(each.cited_lines) is block for each in steps) > 1:
                return None  # of each step another answer may be true
        yes: BlockEdit | None = None
        no: BlockEdit | None = None
        match claim.kind:
            case FactKind.GUARD:
                text = _only_if(self.workflow.by_id[claim.other], claim.answer)
                no = SetCondition(block=key)
            case FactKind.FREE if (above := self._question_above(step)) is not None:
                asking, on = above
                answer = self.workflow.exits(asking.id)[0].condition or "Yes"
                text = _only_if(asking, answer)
                yes = SetCondition(block=key, on=on.key, answer=answer, question=asking.text)
            case FactKind.QUESTION:
                text = f"Does the page ask this: “{_short(step.text)}”?"
                no = SetBox(block=key, is_step=False)
            case FactKind.END:
                text = f"Is the work over after this: “{_short(step.text)}”?"
                no = SetEnd(block=key)
            case _:
                return None
        return PageQuestion.of(
            text,
            key,
            yes=yes,
            no=no,
            procedure=self.procedure,
            chance_wrong=1 - claim.chance,
            lines=step.cited_lines,
        )

    def of_samples(self) -> Iterator[PageQuestion]:
        """Ask for each step that only another sample has."""
        for doubt in self.doubts:
            block = self._block_at(doubt.lines)
            if block is None or doubt.kind is not DoubtKind.MISSING:
                continue
            yield PageQuestion.of(
                f"Is this a step: “{_short(first_instruction(block))}”?",
                block.key,
                yes=SetBox(block=block.key, is_step=True),
                no=None,
                procedure=self.procedure,
                chance_wrong=_CHANCE_MISSING,
                lines=doubt.lines,
                doubt=doubt.id,
            )

    def _question_above(self, step: Step) -> tuple[Step, Block] | None:
        """Return the nearest question before a step, on the page too, with its block."""
        before = self.workflow.steps[: self.workflow.steps.index(step)]
        above = [
            (each, block)
            for each in before
            if each.kind is StepKind.DECISION
            and (block := self._block_at(each.cited_lines)) is not None
            and each.cited_lines[0] < step.cited_lines[0]
            and self.workflow.exits(each.id)
        ]
        return max(above, key=lambda pair: pair[0].cited_lines[0], default=None)

    def _block_at(self, lines: Sequence[LineRange]) -> Block | None:
        """Return the block of the first short range of lines."""
        short = (first for first, last in lines if last - first < _LONGEST_SPAN)
        return next((self.blocks[first] for first in short if first in self.blocks), None)


def blocks_by_line(page: Page) -> dict[int, Block]:
    """Return the innermost block at each line, of headings, items, paragraphs and content."""
    by_line: dict[int, Block] = {}
    for place in page.places():
        block = place.block
        if block.kind is not BlockKind.LIST:
            by_line |= dict.fromkeys(range(block.start_line, block.end_line + 1), block)
    return by_line


def _only_if(question: Step, answer: str) -> str:
    return f"Is this done only if “{_short(question.text)}” is answered {answer.capitalize()}?"


def _short(text: str) -> str:
    return ellipsize(plain(text), _LONGEST_WORDS)
