"""The workflow: natural-language steps in a directed graph (FlowXpert, section 2)."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

from pydantic import Field

from services.kit.errors import InvalidInputError
from services.kit.value import Value


class WorkflowError(InvalidInputError):
    """The workflow contradicts itself: a duplicate step id or a transition to nowhere."""


class StepKind(StrEnum):
    """The paper's three step types."""

    PROCESS = "process"
    DECISION = "decision"
    TERMINAL = "terminal"


class WorkflowKind(StrEnum):
    """Relation of a workflow to its page."""

    PROCEDURE = "procedure"
    """Steps and decisions as a model or a person has read or written them."""
    CHECKLIST = "checklist"
    """The page itself, one process step per box to tick off; its logic has not been read."""


class Citation(Value):
    """The lines of a document that a step comes from; 1-based, both ends included."""

    document_id: str
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)


class Step(Value):
    """One node of the graph: an action, a question or an end."""

    id: str
    kind: StepKind
    text: str
    """The action or question, one sentence or phrase, without markup."""
    commands: tuple[str, ...] = ()
    """Commands verbatim from the source, in order."""
    expected: str = ""
    """Output that the source shows for these commands."""
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
    """Cautions for this step, in the words of the source."""
    doubt: str = ""
    """Reason to doubt that the source means this; empty if there is none."""
    chance: float | None = Field(default=None, ge=0, le=1)
    """Lowest of the probabilities that the source asks this, does it under these conditions or ends
    here; None if it has not been judged.
    """
    node: str = ""
    """The node of its page's reading that it comes from, if any."""
    settled: str = ""
    """Condition of the exit that holds, if the decision was answered before."""
    settled_by: str = ""
    """Explanation of how the answer is known."""
    implied: bool = False
    """True if no line says it but the lines around imply it: `Did that help?`, `Resolved`."""
    block: str = ""
    """Block of the page, verbatim, in a checklist. `text` is then its first instruction, and
    `node` the block's key.
    """
    group: tuple[str, ...] = ()
    """Headings above the block in a checklist, then the items that it is nested in."""

    @property
    def is_sourced(self) -> bool:
        """True if the step has a source; False marks it as the model's own."""
        return bool(self.citations) or self.implied

    @property
    def cited_lines(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each citation."""
        return tuple((cite.start_line, cite.end_line) for cite in self.citations)


class Transition(Value):
    """An edge; `condition` is empty if there is no choice."""

    source: str
    target: str
    condition: str = ""
    chance: float | None = Field(default=None, ge=0, le=1)
    """Probability that the source continues this way, at an answer or a join; None: not judged."""


class LinkedPage(Value):
    """A page that another one links to."""

    document_id: str
    title: str
    """Title in the link."""
    part: str = ""
    """The fragment of the link, without `#`."""
    nearness: float = Field(default=0.0, ge=0, le=1)
    """Relevance of the document to the ticket; 0 if retrieval did not return it."""


class ShownPage(Value):
    """A page as a checklist shows it, whole, as it was stored when the workflow was made."""

    document_id: str
    title: str
    text: str
    withheld: tuple[int, ...] = ()
    """Lines that screening removed: shown and marked, no step, never given to a model."""
    open: tuple[str, ...] = ()
    """Keys of the headings whose sections the ticket asks for; empty if the page has one task and
    is open as a whole.
    """
    links: tuple[LinkedPage, ...] = ()
    """Linked pages, if the page is mostly links: nearest to the ticket first, ties in the page's
    order.
    """


class Provenance(Value):
    """Authorship and sources of a workflow."""

    kind: WorkflowKind = WorkflowKind.PROCEDURE
    planner: str
    """Name of the planner: `extractive`, `llm`, `human`, …"""
    version: str = ""
    model: str = ""
    reader: str = ""
    """Reader of the page that it follows: `model`, `imported`, `composed` or `person`; `rules` in
    workflows of earlier releases.
    """
    state: str = ""
    """Review state of that reading: `read`, `checklist` if a person approved no more than the boxes
    of some procedure in it, or `approved`. Of a page as it is: `checklist` if its boxes were
    approved.
    """
    document_ids: tuple[str, ...] = ()
    node_ids: tuple[str, ...] = ()
    chosen_by: str = ""
    """The model that chose its page among the nearest ones; empty if retrieval's order was kept."""
    page_origin: str = ""
    """Origin of its page, if nobody wrote it by hand: `learned from 3 runs`,
    `learned from one run: one path seen` or `composed from a sentence`; and a mention if its
    reading was begun from the boxes of the page.
    """


class Workflow(Value):
    """Steps in reading order, the first being the start, and transitions between them."""

    title: str
    steps: tuple[Step, ...]
    transitions: tuple[Transition, ...] = ()
    provenance: Provenance | None = None
    page: ShownPage | None = None
    """The page of a checklist."""

    def model_post_init(self, _context: object) -> None:
        """Refuse duplicate ids and dangling transitions."""
        ids = [step.id for step in self.steps]
        if len(set(ids)) != len(ids):
            raise WorkflowError(f"step ids must differ, got {ids!r}")
        existing = set(ids)
        for edge in self.transitions:
            if edge.source not in existing or edge.target not in existing:
                raise WorkflowError(f"transition {edge.source!r} -> {edge.target!r} leads nowhere")

    def __copy__(self) -> "Workflow":
        """Copy without the cached indexes, since `model_copy(update=…)` may change the steps."""
        copied = super().__copy__()
        for index in ("by_id", "_exits"):
            copied.__dict__.pop(index, None)
        return copied

    @property
    def kind(self) -> WorkflowKind:
        """Relation to its page."""
        return self.provenance.kind if self.provenance else WorkflowKind.PROCEDURE

    @property
    def is_checklist(self) -> bool:
        """True if it is a page with boxes, whose logic has not been read."""
        return self.kind is WorkflowKind.CHECKLIST

    @property
    def judged(self) -> tuple[Step, ...]:
        """The steps whose probability was judged; see `Step.chance`."""
        return tuple(step for step in self.steps if step.chance is not None)

    @cached_property
    def by_id(self) -> dict[str, Step]:
        """Steps by id."""
        return {step.id: step for step in self.steps}

    def exits(self, step_id: str) -> list[Transition]:
        """Return the transitions out of a step, in order."""
        return list(self._exits.get(step_id, ()))

    @cached_property
    def _exits(self) -> dict[str, list[Transition]]:
        exits: dict[str, list[Transition]] = {}
        for edge in self.transitions:
            exits.setdefault(edge.source, []).append(edge)
        return exits

    def holds(self, edge: Transition) -> bool | None:
        """Tell whether the exit is the one that holds; None if its step was not answered before."""
        settled = self.by_id[edge.source].settled
        return edge.condition == settled if settled else None

    def entries(self, step_id: str) -> list[Transition]:
        """Return the transitions into a step, in order."""
        return [edge for edge in self.transitions if edge.target == step_id]

    def of_kind(self, kind: StepKind) -> Iterator[Step]:
        """Return the steps of one kind, in reading order."""
        return (step for step in self.steps if step.kind is kind)
