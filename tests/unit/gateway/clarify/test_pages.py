from services.contracts.retrieval import PageReading, RetrievedContext
from services.gateway.clarify.asked import Asked
from services.gateway.clarify.branches import NONE_OF_THESE
from services.gateway.clarify.choosing import Clarify, questions
from services.gateway.clarify.question import About
from services.procedure.model import Do, Procedure, Reader, Reading
from services.procedure.ports import ServedReading


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


def context(*pages: PageReading, confidence: float = 0.3) -> RetrievedContext:
    return RetrievedContext(pages=pages, confidence=confidence)


def test_pages_that_fit_about_as_well_are_told_apart_by_what_each_alone_names():
    (question,) = questions(None, context(RAID, FAR, THIN), Asked(), least_gain=0.5)
    assert question.about is About.PAGES
    assert [choice.text for choice in question.choices] == [
        "Thin pool: A thin pool without space (ThinPoolFull)",
        "Array: An array that lost a disk (ArrayDegraded, Slow_disk)",
        NONE_OF_THESE,
    ]
    assert "ArrayDegraded" in question.choices[1].says
    assert question.choice_of("Array.md") == question.choices[1]
    assert question.choice_of("other.md").text == NONE_OF_THESE


def test_what_the_ticket_names_tells_no_pages_apart():
    asked = Asked(ticket_text="ArrayDegraded since noon")
    (question,) = questions(None, context(THIN, RAID), asked, least_gain=0.5)
    assert question.choices[1].text.endswith("(Slow_disk)")


def test_one_page_that_is_closest_by_far_raises_no_question():
    assert questions(None, context(THIN, FAR), Asked(), least_gain=0.5) == []
    assert questions(None, context(), Asked(), least_gain=0.5) == []


def test_the_surer_the_page_the_less_is_gained_by_asking():
    unsure = questions(None, context(THIN, RAID, confidence=0.1), Asked(), least_gain=0)[0]
    surer = questions(None, context(THIN, RAID, confidence=0.6), Asked(), least_gain=0)[0]
    assert surer.gain < unsure.gain
    assert questions(None, context(THIN, RAID, confidence=0.9), Asked(), least_gain=0.5) == []


def test_pages_are_asked_about_once_and_questions_end_at_the_most():
    asked = Asked(is_page_told=True)
    assert questions(None, context(THIN, RAID), asked, least_gain=0.5) == []
    clarify = Clarify(most=2, least_gain=0.5)
    assert clarify.questions(None, context(THIN, RAID), Asked(turns=1))
    assert clarify.questions(None, context(THIN, RAID), Asked(turns=2)) == ()
