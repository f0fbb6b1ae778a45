"""What the scorer reads of pages that a request holds in pieces."""

from services.knowledge.model import KnowledgeContext, SectionRole
from services.scorer.cases import cited_texts
from services.workflow.model import Citation, Step, StepKind, Workflow
from tests.unit.scorer.cases import DOCUMENT, FAN, OTHER, passage

TOO_DEEP = 10**12


def texts(*lines: tuple[str, int]) -> dict[str, str]:
    """Of a workflow that cites the documents, of which passages at these lines are known."""
    passages = tuple(passage("Dust", line, SectionRole.CAUSE, document) for document, line in lines)
    node = FAN.model_copy(update={"failure_description": passages, "mitigation_steps": ()})
    cited = tuple(Citation(document_id=id_, start_line=1, end_line=1) for id_, _ in lines)
    step = Step(id="s1", kind=StepKind.PROCESS, text="Clean it", citations=cited)
    workflow = Workflow(title="Fan", steps=(step,))
    return cited_texts([workflow], (), KnowledgeContext(linked=(node,)))


def test_passages_stand_at_their_lines():
    assert texts((DOCUMENT, 3), (OTHER, 1)) == {DOCUMENT: "\n\nDust", OTHER: "Dust"}


def test_a_line_that_no_page_has_costs_nothing():
    assert texts((DOCUMENT, TOO_DEEP), (OTHER, 1)) == {OTHER: "Dust"}


def test_many_pages_of_deep_lines_are_not_all_filled_up():
    deep = [(f"{number}.md", 400_000) for number in range(50)]
    assert len(texts(*deep)) == 2
