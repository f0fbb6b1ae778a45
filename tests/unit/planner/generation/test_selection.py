from services.contracts.planner import PlanRequest
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.knowledge.model import (
    Chunk,
    IncidentNode,
    KnowledgeContext,
    Passage,
    RetrievedChunk,
    RetrievedNode,
    SectionRole,
    Span,
)
from services.planner.generation.numbered_excerpts import NumberedExcerpts
from services.planner.generation.selection import select_excerpts, select_parts
from services.workflow.model import Citation

TICKET = TicketDraft(source="generic", external_id="1", title="Fan failed")
FANS = "# Fans\n\n1. Read the speeds.\n2. If one stands still, follow Order a tray.\n"
TRAYS = "# Order a tray\n\n1. Order it with\n   password: hunter2hunter2\n2. Wait."
LONG = "# Fans\n\nHead.\n\n" + "".join(
    f"## Part {n}\n\nFirst sentence of part {n}.\n\n```\nshow fan {n}\n```\n\n" for n in range(50)
)


def span(document: str, first: int, last: int) -> Span:
    return Span(document_id=document, start_line=first, end_line=last)


def chunk(document: str, first: int, last: int, text: str) -> RetrievedChunk:
    made = Chunk(
        id=f"{document}{first}", span=span(document, first, last), heading_path=("C",), text=text
    )
    return RetrievedChunk(chunk=made, score=0.5)


def node(document: str, first: int, last: int, text: str) -> RetrievedNode:
    passage = Passage(
        span=span(document, first, last),
        role=SectionRole.PROCEDURE,
        heading_path=("Fans", "Steps"),
        text=text,
    )
    made = IncidentNode(id=document, name="FanFailed", mitigation_steps=(passage,))
    return RetrievedNode(node=made, score=0.5)


def page(document: str, title: str, text: str) -> PageReading:
    return PageReading(document_id=document, title=title, score=0.9, text=text)


CONTEXT = KnowledgeContext(
    nodes=(node("b.md", 4, 5, "Change the filter.\nClose it."),),
    chunks=(
        chunk("a.md", 3, 3, "1. Read the speeds."),
        chunk("b.md", 4, 4, "Change the filter."),
        chunk("c.md", 8, 8, "Note the serial number."),
    ),
)


def chosen(
    *pages: PageReading, context: KnowledgeContext = CONTEXT, own: int = 1000, others: int = 1000
) -> NumberedExcerpts:
    request = PlanRequest(ticket=TICKET, context=context, pages=pages)
    return select_excerpts(request, page_tokens=own, context_tokens=others)


def cited(shown: NumberedExcerpts, first: int, last: int) -> list[tuple[str, int, int]]:
    citation = Citation(document_id="shown", start_line=first, end_line=last)
    return [(c.document_id, c.start_line, c.end_line) for c in shown.source_citations([citation])]


def test_a_range_without_an_end_costs_no_more_than_what_is_shown():
    shown = chosen(page("a.md", "Fans", FANS))
    assert cited(shown, 1, 10**12) == cited(shown, 1, len(str(shown).splitlines()))


def test_the_best_page_keeps_its_numbers_and_the_passages_are_numbered_on():
    shown = chosen(page("a.md", "Fans", FANS))
    assert str(shown).splitlines()[:4] == [
        "Page: Fans",
        "1 | # Fans",
        "2 | ",
        "3 | 1. Read the speeds.",
    ]
    assert "Page: FanFailed > Steps\n6 | Change the filter.\n7 | Close it." in str(shown)
    assert cited(shown, 3, 3) == [("a.md", 3, 3)]
    assert cited(shown, 4, 8) == [("a.md", 4, 5), ("b.md", 4, 5), ("c.md", 8, 8)]
    assert shown.text.split("\n")[6] == "Close it."


def test_no_passage_is_shown_twice_and_the_least_relevant_goes_first():
    assert [e.document_id for e in chosen().excerpts] == ["b.md", "a.md", "c.md"]
    few = chosen(others=20)
    assert [e.document_id for e in few.excerpts] == ["b.md", "a.md"][: len(few.excerpts)]
    assert chosen(others=0).excerpts == []


def test_a_page_that_the_best_one_names_comes_before_the_passages():
    shown = chosen(page("a.md", "Fans", FANS), page("t.md", "Order a tray", TRAYS))
    assert [e.document_id for e in shown.excerpts] == ["a.md", "t.md", "b.md", "c.md"]


def test_secrets_are_not_shown_and_stay_in_the_text_that_commands_are_taken_from():
    shown = chosen(page("t.md", "Order a tray", TRAYS))
    assert "hunter2" not in str(shown)
    assert "hunter2" in shown.text


def test_nothing_known_is_shown_as_nothing():
    shown = chosen(context=KnowledgeContext())
    assert (str(shown), shown.text) == ("(none)", "")
    assert cited(shown, 1, 9) == []


def test_a_page_that_fits_is_shown_whole():
    assert select_parts(LONG, [], 100_000) == [(1, LONG.count("\n") + 1)]


def test_of_a_long_page_its_head_and_what_was_found_is_shown_with_its_numbers():
    lines = LONG.split("\n")
    at = lines.index("First sentence of part 30.") + 1
    ranges = select_parts(LONG, [(at, at)], 600)
    assert ranges[0][0] == 1
    assert any(first <= at <= last for first, last in ranges)
    fences = [line for a, b in ranges for line in lines[a - 1 : b] if line == "```"]
    assert fences
    assert len(fences) % 2 == 0, "no block of code is cut"
    shown = chosen(
        page("a.md", "Fans", LONG),
        context=KnowledgeContext(chunks=(chunk("a.md", at, at, ""),)),
        own=200,
    )
    assert f"{at} | First sentence of part 30." in str(shown)
    assert "part 10." not in str(shown)
    assert shown.text.split("\n")[at - 1] == "First sentence of part 30."
    assert cited(shown, at - 2, at) == [("a.md", at - 2, at)]
