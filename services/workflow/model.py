"""The workflow: natural-language steps in a directed graph (FlowXpert, section 2)."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

from pydantic import Field

from services.kit.errors import InvalidInputError
from services.kit.value import Value


class WorkflowError(InvalidInputError):
    """A workflow that contradicts itself: a doubled step id or a transition to nowhere."""


class StepKind(StrEnum):
    """The paper's three step types."""

    PROCESS = "process"
    DECISION = "decision"
    TERMINAL = "terminal"


class WorkflowKind(StrEnum):
    """How a workflow comes from its page."""

    PROCEDURE = "procedure"
    """Steps and decisions as a model or a person has read or written them."""
    CHECKLIST = "checklist"
    """The page itself, a process step for each box to tick off: nobody has read its logic."""


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
    """What to do or to ask, one sentence or phrase, without markup."""
    commands: tuple[str, ...] = ()
    """Verbatim from the source, in order."""
    expected: str = ""
    """Output that the source shows for these commands."""
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
    """What to heed while doing it, in the words of the source."""
    doubt: str = ""
    """Why it is not sure that the source means it so; empty where nothing speaks against it."""
    chance: float | None = Field(default=None, ge=0, le=1)
    """How likely the source asks this, does it under these conditions or ends here, whichever is
    least likely; None where nobody has judged it."""
    node: str = ""
    """The node of its page's reading that it comes from, where it comes from one."""
    settled: str = ""
    """Of a decision that was answered before: the condition of the exit that holds."""
    settled_by: str = ""
    """How that is known, in words."""
    implied: bool = False
    """Whether no line says it and it follows from those around: `Did that help?`, `Resolved`."""
    block: str = ""
    """Of a checklist: the block of the page verbatim. `text` is its first instruction then, and
    `node` the block's key."""
    group: tuple[str, ...] = ()
    """Of a checklist: the headings above the block, then the items that it is nested in."""

    @property
    def is_sourced(self) -> bool:
        """False marks the step as the model's own."""
        return bool(self.citations) or self.implied

    @property
    def cited_lines(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each citation."""
        return tuple((cite.start_line, cite.end_line) for cite in self.citations)


class Transition(Value):
    """An edge; `condition` is empty where there is no choice."""

    source: str
    target: str
    condition: str = ""
    chance: float | None = Field(default=None, ge=0, le=1)
    """How likely the source goes on this way, of an answer or a join; None: not judged."""


class LinkedPage(Value):
    """A page that another one leads to."""

    document_id: str
    title: str
    """As the link calls it."""
    part: str = ""
    """The fragment of the link, without `#`."""
    nearness: float = Field(default=0.0, ge=0, le=1)
    """Relevance of the document to what was asked; 0 where retrieval did not come upon it."""


class ShownPage(Value):
    """A page as a checklist shows it, whole, as it was stored when the workflow was made."""

    document_id: str
    title: str
    text: str
    withheld: tuple[int, ...] = ()
    """Lines that screening left out: shown and marked, no step, never given to a model."""
    open: tuple[str, ...] = ()
    """Keys of the headings whose sections the ticket asks for; empty where the page is of one
    task and stands open whole."""
    links: tuple[LinkedPage, ...] = ()
    """Of a page that is mostly links: the pages that it leads to, nearest to the ticket first, and
    equally near ones in the page's order."""


class Provenance(Value):
    """Who wrote the workflow, from what."""

    kind: WorkflowKind = WorkflowKind.PROCEDURE
    planner: str
    """Name of the planner: `extractive`, `llm`, `human`, …"""
    version: str = ""
    model: str = ""
    reader: str = ""
    """Who read the page that it follows: `model`, `imported`, `composed` or `person`; `rules` of
    workflows of earlier releases."""
    state: str = ""
    """How far that reading was checked: `read` or `approved`."""
    document_ids: tuple[str, ...] = ()
    node_ids: tuple[str, ...] = ()
    chosen_by: str = ""
    """The model that chose its page among the nearest ones; empty where retrieval's order stood."""
    page_origin: str = ""
    """How a page that it follows came about, where nobody wrote it by hand: `learned from 3 runs`,
    `learned from one run: one path seen` or `composed from a sentence`; and that its reading was
    begun from the boxes of the page."""

    @property
    def is_approved(self) -> bool:
        """Whether a person stands for each procedure that it is made of."""
        return self.state == "approved"


class Workflow(Value):
    """Steps in reading order, the first being the start, and transitions between them."""

    title: str
    steps: tuple[Step, ...]
    transitions: tuple[Transition, ...] = ()
    provenance: Provenance | None = None
    page: ShownPage | None = None
    """Of a checklist: its page."""

    def model_post_init(self, _context: object) -> None:
        """Refuse doubled ids and dangling transitions at once."""
        ids = [step.id for step in self.steps]
        if len(set(ids)) != len(ids):
            raise WorkflowError(f"step ids must differ, got {ids!r}")
        known = set(ids)
        for edge in self.transitions:
            if edge.source not in known or edge.target not in known:
                raise WorkflowError(f"transition {edge.source!r} -> {edge.target!r} leads nowhere")

    def __copy__(self) -> "Workflow":
        """A copy forgets its indexes: `model_copy(update=…)` may give it other steps."""
        copied = super().__copy__()
        for index in ("by_id", "_exits"):
            copied.__dict__.pop(index, None)
        return copied

    @property
    def kind(self) -> WorkflowKind:
        """How it comes from its page."""
        return self.provenance.kind if self.provenance else WorkflowKind.PROCEDURE

    @property
    def is_checklist(self) -> bool:
        """Whether it is a page with boxes, whose logic nobody has read."""
        return self.kind is WorkflowKind.CHECKLIST

    @property
    def judged(self) -> tuple[Step, ...]:
        """The steps of which somebody said how likely they are right; see `Step.chance`."""
        return tuple(step for step in self.steps if step.chance is not None)

    @cached_property
    def by_id(self) -> dict[str, Step]:
        """Steps by id."""
        return {step.id: step for step in self.steps}

    def exits(self, step_id: str) -> list[Transition]:
        """Transitions out of a step, in order."""
        return list(self._exits.get(step_id, ()))

    @cached_property
    def _exits(self) -> dict[str, list[Transition]]:
        exits: dict[str, list[Transition]] = {}
        for edge in self.transitions:
            exits.setdefault(edge.source, []).append(edge)
        return exits

    def holds(self, edge: Transition) -> bool | None:
        """Whether the exit is the one that holds; None where its step was not answered before."""
        settled = self.by_id[edge.source].settled
        return edge.condition == settled if settled else None

    def entries(self, step_id: str) -> list[Transition]:
        """Transitions into a step, in order."""
        return [edge for edge in self.transitions if edge.target == step_id]

    def of_kind(self, kind: StepKind) -> Iterator[Step]:
        """Steps of one kind, in reading order."""
        return (step for step in self.steps if step.kind is kind)
