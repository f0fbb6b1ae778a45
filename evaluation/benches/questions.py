"""`bench questions`: what the questions to an owner are worth, against drawn pages.

Of what is wrong on a page, which share is asked about, and of what is right? Asking at random asks
about as many of both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from evaluation.benches.boxes import has_line
from evaluation.material.gold_pages import PageOf, shown_page, step_lines
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_reader import Read
from evaluation.measures.conditions import Truth
from evaluation.measures.figures import Figures
from evaluation.measures.logic import Likeness, LogicCase, Matched
from evaluation.measures.shares import wilson
from services.knowledge.page.box_fit import BoxFit
from services.knowledge.page.boxes import blocks_of, candidates, find_boxes, last_own_line
from services.knowledge.ports import Embedder
from services.runbook.choose import ranked_procedures
from services.runbook.editing.block_edits import PageQuestion
from services.runbook.evidence.conditions import ConditionForests, conditions_of
from services.runbook.evidence.facts import facts_of
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages
from services.runbook.evidence.page_questions import (
    ProcedureQuestions,
    blocks_by_line,
    box_questions,
    choose_questions,
    reading_questions,
)
from services.runbook.lowering import lower


@dataclass(frozen=True)
class QuestionedPage:
    """What is right and wrong on a page, and what its owner is asked."""

    questions: Sequence[PageQuestion]
    wrong: Sequence[bool]
    """For each thing that is wrong, True if a question is about it."""
    right: Sequence[bool]
    """The same for each thing that is right."""
    hits: int
    """Number of the questions that are about something wrong."""


def box_pages(
    rows: Sequence[LogicRow], page_of: PageOf, fits: Mapping[str, BoxFit]
) -> list[QuestionedPage]:
    """Return the pages without a reading, with boxes by the fit that saw no page of the set."""
    pages = []
    for row in rows:
        if row.reference is None:
            continue
        page, fit, steps = shown_page(page_of(row)), fits[row.set], step_lines(row.reference)
        boxed = {b.key for box in find_boxes(page, fit=fit) for b in (box.block, *box.options)}
        is_wrong = {
            block.key: (block.key in boxed)
            != has_line((block.start_line, last_own_line(block)), steps)
            for block in (place.block for place in candidates(page))
        }
        questions = choose_questions(page, box_questions(page, fit=fit))
        subjects = [{place.block.key for place in blocks_of(page, q.block)} for q in questions]
        pages.append(_questioned(questions, is_wrong, subjects))
    return pages


def condition_pages(
    rows: Sequence[LogicRow], page_of: PageOf, read: Read, embedder: Embedder
) -> list[QuestionedPage]:
    """Return the pages with a recorded reading: conditions that an edit of a block could correct.

    Of each page the procedure that treats the row's ticket.
    """
    forests = ConditionForests.shipped()
    pages = []
    for row in rows:
        reading = read(page_of(row))
        ticket = f"{row.draft.title}\n{row.draft.description}".strip()
        ranked = ranked_procedures(reading.procedures, ticket) if reading else []
        if reading is None or row.reference is None or not ranked:
            continue
        place = ranked[0][0]
        page, workflow = shown_page(page_of(row)), lower(reading.procedures[place], row.page)
        case = LogicCase(row.page, row.reference, workflow)
        if case.prediction is None:
            continue
        truth = Truth(Matched(case.gold, case.prediction, Likeness.of(case.texts(), embedder)))
        grounded = GroundedWorkflow(workflow, CitedPages({row.page: "\n".join(page.lines)}))
        doubts = [each for each in reading.doubts if each.procedure == place]
        about = ProcedureQuestions(workflow, place, blocks_by_line(page), doubts)
        is_wrong = {
            question.id: not truth.holds(claim.fact)
            for claim in conditions_of(grounded, facts_of(grounded), forests)
            if (question := about.of_claim(claim))
        }
        steps = step_lines(row.reference)
        is_wrong |= {
            question.id: (question.yes is not None)
            == any(has_line(lines, steps) for lines in question.lines)
            for question in about.of_samples()
        }
        possible = reading_questions(reading, page, row.page, forests)
        questions = choose_questions(page, [q for q in possible if q.procedure == place])
        pages.append(_questioned(questions, is_wrong, [{each.id} for each in questions]))
    return pages


def question_figures(pages: Sequence[QuestionedPage]) -> Figures:
    """Return the shares with Wilson's 95 % intervals, and the number of questions a page."""
    wrong = [flag for page in pages for flag in page.wrong]
    right = [flag for page in pages for flag in page.right]
    counts = [len(page.questions) for page in pages]
    return {
        "pages": len(pages),
        "wrong": len(wrong),
        **wilson("wrong asked", sum(wrong), len(wrong)),
        "right": len(right),
        **wilson("right asked", sum(right), len(right)),
        "questions": sum(counts),
        "a page, median": median(counts),
        "a page, mean": round(fmean(counts), 2),
        **wilson("at a fault", sum(page.hits for page in pages), sum(counts)),
    }


def _questioned(
    questions: Sequence[PageQuestion],
    is_wrong: Mapping[str, bool],
    subjects: Sequence[set[str]],
) -> QuestionedPage:
    about = set().union(*subjects)
    return QuestionedPage(
        questions,
        [key in about for key, wrong in is_wrong.items() if wrong],
        [key in about for key, wrong in is_wrong.items() if not wrong],
        sum(any(is_wrong.get(key, False) for key in keys) for keys in subjects),
    )
