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
from services.planner.generation.passages import as_text, shown


def span(document: str, start: int, end: int) -> Span:
    return Span(document_id=document, start_line=start, end_line=end)


def chunk(document: str, start: int, end: int, text: str) -> RetrievedChunk:
    made = Chunk(
        id=f"{document}{start}", span=span(document, start, end), heading_path=("Fans",), text=text
    )
    return RetrievedChunk(chunk=made, score=0.5)


def node(document: str, start: int, end: int, text: str) -> RetrievedNode:
    passage = Passage(
        span=span(document, start, end),
        role=SectionRole.PROCEDURE,
        heading_path=("Fans", "Steps"),
        text=text,
    )
    made = IncidentNode(id=document, name="FanFailed", mitigation_steps=(passage,))
    return RetrievedNode(node=made, score=0.5)


CONTEXT = KnowledgeContext(
    nodes=(node("a.md", 10, 20, "Read the speeds of the fans in the failed tray."),),
    chunks=(
        chunk("a.md", 12, 14, "Read the speeds."),
        chunk("b.md", 1, 5, "Order the tray with the right direction of air."),
        chunk("c.md", 1, 5, "Note the serial number of the chassis."),
    ),
)


def test_ids_follow_relevance_and_what_a_node_shows_is_not_shown_again():
    found = shown(CONTEXT, 1000)
    assert [p.id for p in found.nodes] == ["n1"]
    assert [p.span.document_id for p in found.chunks] == ["b.md", "c.md"]
    assert [p.id for p in found.chunks] == ["c1", "c2"]
    assert found.by_id["c2"].span == span("c.md", 1, 5)


def test_the_least_relevant_passages_are_left_out_first():
    found = shown(CONTEXT, 40)
    assert [p.id for p in (*found.nodes, *found.chunks)] == ["n1", "c1"]
    assert len(found.chunks[0].text) < len("Order the tray with the right direction of air.") + 1


def test_each_passage_stands_under_its_id_and_heading():
    text = as_text(shown(CONTEXT, 1000).nodes)
    assert text.startswith("[n1] FanFailed > Steps\nRead the speeds")
    assert as_text(()) == "(none)"
