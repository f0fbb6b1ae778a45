"""A page about a fan fault, a workflow that follows it, and the context between them."""

from services.contracts.planner import Candidate
from services.contracts.scorer import ScoredCandidate, ScoreRequest
from services.contracts.ticket import TicketDraft
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import (
    IncidentNode,
    KnowledgeContext,
    Passage,
    RetrievedNode,
    SectionRole,
    Span,
)
from services.scorer.service import ScorerService
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

DOCUMENT = "switches/fan-tray.md"
OTHER = "switches/optics.md"

SYMPTOM = "The switch raises FanTrayFailed and its exhaust temperature climbs."
CAUSES = "- The fan tray is not seated.\n- A rotor of the tray is blocked by dust."
PROCEDURE = """1. Read the fan speeds of the failed tray.

   ```
   show environment fan
   ```

2. Is the tray present in its bay?
3. Push the tray in until its latch clicks.
4. Blow the dust out of the blocked rotor.
5. Verify that the exhaust temperature falls again."""

TICKET = TicketDraft(
    source="test", external_id="1", title="FanTrayFailed", description="exhaust temperature climbs"
)


def passage(text: str, line: int, role: SectionRole, document: str = DOCUMENT) -> Passage:
    last = line + text.count("\n")
    return Passage(
        span=Span(document_id=document, start_line=line, end_line=last),
        role=role,
        heading_path=("Fan tray failed",),
        text=text,
    )


FAN = IncidentNode(
    id="fan",
    name="Fan tray failed",
    failure_description=(
        passage(SYMPTOM, 3, SectionRole.SYMPTOM),
        passage(CAUSES, 6, SectionRole.CAUSE),
    ),
    mitigation_steps=(passage(PROCEDURE, 10, SectionRole.PROCEDURE),),
)
OPTICS = IncidentNode(
    id="optics",
    name="Receive power low",
    mitigation_steps=(
        passage(
            "1. Clean the connector of the fibre.\n2. Swap the transceiver for a spare one.",
            5,
            SectionRole.REMEDY,
            OTHER,
        ),
    ),
)
CONTEXT = KnowledgeContext(
    nodes=(RetrievedNode(node=FAN, score=0.9), RetrievedNode(node=OPTICS, score=0.3)),
    confidence=0.9,
)


def cited(line: int, document: str = DOCUMENT) -> tuple[Citation, ...]:
    return (Citation(document_id=document, start_line=line, end_line=line),)


STEPS = (
    Step(
        id="a",
        kind=StepKind.PROCESS,
        text="The switch raises FanTrayFailed",
        citations=cited(3),
    ),
    Step(
        id="b",
        kind=StepKind.PROCESS,
        text="Read the fan speeds of the failed tray",
        commands=("show environment fan",),
        citations=cited(10),
    ),
    Step(
        id="c", kind=StepKind.DECISION, text="Is the tray present in its bay?", citations=cited(16)
    ),
    Step(
        id="d",
        kind=StepKind.TERMINAL,
        text="Push the tray in until its latch clicks",
        citations=cited(17),
    ),
    Step(
        id="e",
        kind=StepKind.PROCESS,
        text="Blow the dust out of the blocked rotor",
        citations=cited(18),
    ),
    Step(
        id="f",
        kind=StepKind.TERMINAL,
        text="Verify that the exhaust temperature falls again",
        citations=cited(19),
    ),
)
EDGES = (
    Transition(source="a", target="b"),
    Transition(source="b", target="c"),
    Transition(source="c", target="d", condition="No"),
    Transition(source="c", target="e", condition="Yes"),
    Transition(source="e", target="f"),
)
GOOD = Workflow(title="Fan tray failed", steps=STEPS, transitions=EDGES)


def changed(**texts: str) -> Workflow:
    """The good workflow with other texts, the citations kept."""
    steps = tuple(
        step.model_copy(update={"text": texts[step.id]}) if step.id in texts else step
        for step in STEPS
    )
    return Workflow(title=GOOD.title, steps=steps, transitions=EDGES)


def score(*workflows: Workflow) -> list[ScoredCandidate]:
    """The candidates in the order given."""
    candidates = tuple(Candidate(id=str(n), workflow=w) for n, w in enumerate(workflows))
    request = ScoreRequest(ticket=TICKET, context=CONTEXT, candidates=candidates)
    ranked = ScorerService(HashingEmbedder()).score(request).ranked
    return sorted(ranked, key=lambda scored: int(scored.candidate.id))
