"""A small library of pages with tiny services that walk over it."""

from collections.abc import Mapping

from evaluation.material.pairs import Pair
from services.contracts.planner import Candidate, PlanRequest, PlanResponse
from services.contracts.retrieval import PageReading, RetrievedContext
from services.grounding.evidence import terms_of
from services.knowledge.model import (
    Document,
    IncidentNode,
    Passage,
    RetrievedNode,
    SectionRole,
    Span,
)
from services.knowledge.screening.document import ScreenedDocument
from services.runbook.model import Procedure, Reader, Reading
from services.runbook.ports import ServedReading
from services.workflow.model import Citation, Provenance, Step, StepKind, Transition, Workflow

TEXTS = {
    "fan.md": (
        "# Fan tray failed\n\n- Read the fan speeds.\n- Is the tray seated?\n"
        "- Push the tray in.\n- Clean the rotor.\n- Verify the temperature.\n"
    ),
    "bgp.md": (
        "# BGP session down\n\n- Ping the neighbour.\n- Does it answer?\n- Fix the route.\n"
        "- Compare the passwords.\n- Verify the session.\n"
    ),
}


def document(name: str) -> Document:
    return Document(id=name, title=name, text=TEXTS[name], content_hash=name)


def node(name: str) -> IncidentNode:
    lines = TEXTS[name].splitlines()
    passage = Passage(
        span=Span(document_id=name, start_line=3, end_line=len(lines)),
        role=SectionRole.PROCEDURE,
        heading_path=(lines[0].removeprefix("# "),),
        text="\n".join(lines[2:]),
    )
    return IncidentNode(id=name, name=lines[0].removeprefix("# "), mitigation_steps=(passage,))


def workflow(name: str) -> Workflow:
    """The page's items, the second as a decision over the third and the fourth."""
    items = [line.removeprefix("- ") for line in TEXTS[name].splitlines()[2:]]
    kinds = ("process", "decision", "terminal", "process", "terminal")
    steps = tuple(
        Step(
            id=f"s{n}",
            kind=StepKind(kind),
            text=text,
            citations=(Citation(document_id=name, start_line=3 + n, end_line=3 + n),),
        )
        for n, (text, kind) in enumerate(zip(items, kinds, strict=True))
    )
    edges = (("s0", "s1", ""), ("s1", "s2", "No"), ("s1", "s3", "Yes"), ("s3", "s4", ""))
    return Workflow(
        title=name,
        steps=steps,
        transitions=tuple(Transition(source=a, target=b, condition=c) for a, b, c in edges),
        provenance=Provenance(planner="copying", document_ids=(name,)),
    )


def page(name: str, score: float) -> PageReading:
    lines = TEXTS[name].splitlines()[2:]
    steps = [{"do": text[2:], "at": [[n, n]]} for n, text in enumerate(lines, start=3)]
    procedure = Procedure.model_validate({"title": node(name).name, "steps": steps})
    served = ServedReading(reading=Reading(reader=Reader.MODEL, procedures=(procedure,)))
    return PageReading(document_id=name, title=procedure.title, served=served, score=score)


def pair(name: str, **fields: object) -> Pair:
    plain = workflow(name)
    bare = tuple(step.model_copy(update={"citations": ()}) for step in plain.steps)
    reference = Workflow(title="", steps=bare, transitions=plain.transitions)
    forms = {"titled": f"{node(name).name}", "symptom": TEXTS[name].splitlines()[2]}
    return Pair.model_validate(
        {
            "id": name,
            "group": "switches/A",
            "forms": forms,
            "gold_documents": (name,),
            "reference": reference,
            **fields,
        }
    )


class Library:
    """Retrieval by shared words, and the stores behind it."""

    def retrieve_for(self, text: str, *only: str) -> RetrievedContext:
        names = only or TEXTS
        shared = {name: len(terms_of(text) & terms_of(TEXTS[name])) for name in names}
        best = sorted(shared, key=lambda name: -shared[name])
        nodes = [RetrievedNode(node=node(name), score=1 - 0.5 * n) for n, name in enumerate(best)]
        scores = {hit.node.id: hit.score for hit in nodes}
        return RetrievedContext(nodes=tuple(nodes), confidence=1.0, pages=self.read(scores))

    def read(self, scores: Mapping[str, float]) -> tuple[PageReading, ...]:
        """The pages as somebody read them who takes every item for a step."""
        return tuple(page(name, score) for name, score in scores.items() if name in TEXTS)

    def get(self, document_id: str) -> ScreenedDocument | None:
        return ScreenedDocument(document(document_id)) if document_id in TEXTS else None

    def of_documents(self, document_ids) -> list[IncidentNode]:
        return [node(name) for name in document_ids if name in TEXTS]


class CopyingPlanner:
    """Copies the workflow of every page of the context; none when told to refuse."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses = refuses
        self.requests: list[PlanRequest] = []

    def plan(self, request: PlanRequest) -> PlanResponse:
        self.requests.append(request)
        names = [] if self.refuses else [hit.node.id for hit in request.context.nodes]
        return PlanResponse(
            candidates=tuple(Candidate(id=name, workflow=workflow(name)) for name in names)
        )
