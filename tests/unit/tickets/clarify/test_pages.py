import pytest

from services.contracts.retrieval import PageReading, RetrievedContext
from services.runbook.model import Do, Procedure, Reader, Reading
from services.runbook.ports import ServedReading
from services.tickets.clarify.dialogue import Dialogue
from services.tickets.clarify.pages import NONE_OF_THESE
from services.tickets.clarify.question_selection import QuestionSelector, rank_questions
from services.tickets.ticket.question import QuestionTopic
from tests.checklists import checklist_of
from tests.unit.tickets.clarify.charts import chart


def page(name: str, treats: str, text: str, score: float) -> PageReading:
    procedure = Procedure(title=name, treats=treats, body=(Do(text="Look"), Do(text="Mend it")))
    reading = Reading(reader=Reader.RULES, procedures=(procedure,))
    return PageReading(
        document_id=f"{name}.md",
        title=name,
        served=ServedReading(reading=reading),
        score=score,
        text=text,
    )


THIN = page("Thin pool", "A thin pool without space", "ThinPoolFull fires. ThinPoolFull.", 0.8)
RAID = page("Array", "An array that lost a disk", "ArrayDegraded fires, Slow_disk too.", 0.78)
FAR = page("Fan", "A fan that failed", "FanFailed fires.", 0.3)


STRAIGHT = chart("A[Look] --> B[Mend it]", "B --> C[Look again]", "C --> D([Resolved])")
"""Whatever is asked about it is asked about its page."""


def context(*pages: PageReading, confidence: float = 0.3) -> RetrievedContext:
    return RetrievedContext(pages=pages, confidence=confidence)


def test_pages_that_fit_about_as_well_are_told_apart_by_what_each_alone_names():
    (question,) = rank_questions(STRAIGHT, context(RAID, FAR, THIN), Dialogue(), least_gain=0.5)
    assert question.about is QuestionTopic.PAGES
    assert [choice.text for choice in question.choices] == [
        "Thin pool: A thin pool without space",
        "Array: An array that lost a disk",
        NONE_OF_THESE,
    ]
    assert "ArrayDegraded" in question.choices[1].says
    assert question.choice_of("Array.md") == question.choices[1]
    assert question.choice_of("other.md").text == NONE_OF_THESE


def test_what_the_ticket_names_tells_no_pages_apart():
    dialogue = Dialogue(ticket_text="ArrayDegraded since noon")
    untold = page("Array", "None", "ArrayDegraded fires, Slow_disk too.", 0.78)
    (question,) = rank_questions(STRAIGHT, context(THIN, untold), dialogue, least_gain=0.5)
    assert question.choices[1].text == "Array (Slow_disk)"


def test_one_page_that_is_closest_by_far_raises_no_question():
    assert rank_questions(STRAIGHT, context(THIN, FAR), Dialogue(), least_gain=0.5) == []
    assert rank_questions(STRAIGHT, context(), Dialogue(), least_gain=0.5) == []


def gain(confidence: float, *pages: PageReading) -> float:
    shown = context(*pages, confidence=confidence)
    return rank_questions(STRAIGHT, shown, Dialogue(), least_gain=0)[0].gain


def test_asking_gains_most_where_it_is_likely_one_of_the_pages_and_open_which():
    assert gain(0.02, THIN, RAID) < gain(0.1, THIN, RAID) < gain(0.5, THIN, RAID)
    assert gain(0.95, THIN, RAID) < gain(0.6, THIN, RAID)


def test_pages_that_are_all_unlikely_are_not_asked_about():
    shown = context(THIN, RAID, confidence=0.02)
    assert rank_questions(STRAIGHT, shown, Dialogue(), least_gain=0.5) == []


def test_pages_of_a_ticket_that_nothing_fits_are_not_told_apart():
    described = Dialogue(has_ticket_question=True)
    assert rank_questions(None, context(THIN, RAID, confidence=0.2), described, least_gain=0) == []


@pytest.mark.parametrize(
    ("choice", "ruled_out"),
    [(0, ("Array.md",)), (1, ("Thin pool.md",)), (2, ("Thin pool.md", "Array.md")), (None, ())],
)
def test_pages_that_were_not_chosen_are_ruled_out(choice, ruled_out):
    (question,) = rank_questions(STRAIGHT, context(THIN, RAID), Dialogue(), least_gain=0)
    chosen = None if choice is None else question.choices[choice]
    assert Dialogue().with_answer(question, chosen).ruled_out == ruled_out


def test_pages_are_asked_about_once_and_questions_end_at_the_most():
    dialogue = Dialogue(has_page_question=True)
    assert rank_questions(STRAIGHT, context(THIN, RAID), dialogue, least_gain=0.5) == []
    clarify = QuestionSelector(most=2, least_gain=0.5)
    assert clarify.questions(STRAIGHT, context(THIN, RAID), Dialogue(turns=1))
    assert clarify.questions(STRAIGHT, context(THIN, RAID), Dialogue(turns=2)) == ()


def test_a_ticket_that_says_too_little_is_asked_for_more_words_once():
    vague = Dialogue(ticket_text="It is slow on leaf-3")
    (question,) = rank_questions(None, context(), vague, least_gain=0.5)
    assert (question.about, question.choices) == (QuestionTopic.TICKET, ())
    dialogue = vague.with_answer(question, None, "the disk queue is long")
    assert dialogue.says == ("the disk queue is long",)
    assert rank_questions(None, context(), dialogue, least_gain=0.5) == []


def test_a_ticket_that_names_something_lacks_no_words():
    named = Dialogue(ticket_text="FanFailed on leaf-3")
    long_ = Dialogue(
        ticket_text="the blue lamp of rack seven burns since noon and users wait in line"
    )
    for dialogue in (named, long_):
        assert rank_questions(None, context(), dialogue, least_gain=0.5) == []


BOXES = "# Disks\n\n## Full\n\n- Look.\n- Mend.\n\n## Failed\n\n- Swap.\n- Wait.\n- Look again.\n"


def gain_of(workflow):
    (question,) = rank_questions(workflow, context(RAID, THIN), Dialogue(), least_gain=0)
    assert question.about is QuestionTopic.PAGES
    return question.gain


def test_a_page_question_of_a_checklist_counts_its_open_boxes():
    one = gain_of(chart("A[Look] --> D([Resolved])")) / 2
    assert gain_of(checklist_of(BOXES)) == pytest.approx(5 * one)
    assert gain_of(checklist_of(BOXES, headings=("Full",))) == pytest.approx(2 * one)
