"""A run: a workflow with its bindings and tools by value, a ticket and a mode; it is immutable."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property

from pydantic import Field

from services.contracts.execution import RunMode
from services.execution.bindings.binding import Binding
from services.execution.tools.tool import Tool, ToolEffect
from services.kit.value import Value
from services.workflow.model import Citation, Workflow


class RunTicket(Value):
    """The part of a ticket that its run keeps."""

    id: str
    title: str
    labels: Mapping[str, str] = Field(default={})
    resolved: str = ""
    """Time since when it is resolved, in words; empty: it is open."""


class Confirmation(Value):
    """A person's statement that this is the page for the ticket, with the objections in view."""

    by: str
    at: datetime
    against: tuple[str, ...] = ()


class Limits(Value):
    """Limits at which a run ends by itself."""

    most_visits: int = 20
    """Most visits of one step."""
    most_calls: int = 200
    within_s: float = 6 * 3600.0
    """Seconds from its start, by its clock."""
    approval_expires_s: float = 900.0


class CitedPassage(Value):
    """Lines of a page that a step cites, as they stood."""

    citation: Citation
    text: str


class ShownDifference(Value):
    """One thing that is not as it was shown."""

    what: str
    was: str
    now: str


class Basis(Value):
    """Definitions, labels and page texts by which a run changes something.

    A run has one since its start. Where an approval waits or is used, it is held against the
    present one; see `Revisions`.
    """

    tools: tuple[Tool, ...] = ()
    bindings: tuple[Binding, ...] = ()
    """Bindings that somebody has approved in the place of others."""
    not_changing: Mapping[str, str] = Field(default={})
    """See `Run.not_changing`."""
    targets: Mapping[str, str] = Field(default={})
    """Names of the targets, by step; an empty one is known no more."""
    target_digests: Mapping[str, str] = Field(default={})
    """Digests of the targets, by name; see `Target.digest`."""
    definitions: Mapping[str, Mapping[str, str]] = Field(default={})
    """Definitions of the targets without their credentials, by name."""
    labels: Mapping[str, str] = Field(default={})
    """Labels of the ticket; an empty one is gone."""
    resolved: str | None = None
    """See `RunTicket.resolved`; None if it is as the run has it."""
    pages: Mapping[str, str] = Field(default={})
    """Hashes of the pages' texts, by document; empty for a page that is gone."""
    passages: Mapping[str, tuple[CitedPassage, ...]] = Field(default={})
    """Lines of the pages that a step cites, by step."""


class Run(Value):
    """A workflow to be carried out; its events tell how far it is, and revise its basis."""

    id: str
    ticket: RunTicket
    workflow_id: str
    workflow: Workflow
    bindings: tuple[Binding, ...]
    binding_keys: Mapping[str, str] = Field(default={})
    """Keys by which approved bindings are stored, by step."""
    tools: tuple[Tool, ...]
    """Tools that the bindings name, and those that these refer to, as they were at its start."""
    targets: Mapping[str, str] = Field(default={})
    """Names of the targets, by step."""
    target_sources: Mapping[str, str] = Field(default={})
    """Sources of the targets, or reasons why there is none, in words, by step."""
    target_digests: Mapping[str, str] = Field(default={})
    """Digests of the targets at its start, by name; see `Target.digest`."""
    definitions: Mapping[str, Mapping[str, str]] = Field(default={})
    """See `Basis.definitions`."""
    pages: Mapping[str, str] = Field(default={})
    """See `Basis.pages`; those of steps that change something."""
    passages: Mapping[str, tuple[CitedPassage, ...]] = Field(default={})
    """See `Basis.passages`; those of steps that change something."""
    not_changing: Mapping[str, str] = Field(default={})
    """Reasons to leave a change to a person, by step; a step without one may be run."""
    not_deciding: Mapping[str, str] = Field(default={})
    """Reasons to leave a question to a person though a tool could decide it, by step."""
    mode: RunMode
    limits: Limits = Limits()
    requested_by: str
    requested_by_id: str = ""
    """Lasting id of the requester, whatever their name."""
    requested_at: datetime
    confirmation: Confirmation | None = None
    is_by_hand: bool = False
    """True if a person chose its tools, without a page."""
    asks_nobody: bool = False
    """True if it looks by itself: a question to a person ends it."""

    @cached_property
    def binding_of(self) -> Mapping[str, Binding]:
        """Bindings by the ids of their steps."""
        return {binding.step: binding for binding in self.bindings}

    @cached_property
    def tool_named(self) -> Mapping[str, Tool]:
        """Tools by name."""
        return {tool.name: tool for tool in self.tools}

    def revised(self, basis: Basis) -> "Run":
        """Return the run with what the basis has in the place of its own."""
        labels = {name: v for name, v in {**self.ticket.labels, **basis.labels}.items() if v}
        targets = {step: t for step, t in {**self.targets, **basis.targets}.items() if t}
        tools = {**self.tool_named, **{tool.name: tool for tool in basis.tools}}
        later = {
            "ticket": self.ticket.model_copy(
                update={
                    "labels": labels,
                    "resolved": self.ticket.resolved if basis.resolved is None else basis.resolved,
                }
            ),
            "tools": tuple(tools.values()),
            "bindings": tuple({**self.binding_of, **{b.step: b for b in basis.bindings}}.values()),
            "not_changing": {**self.not_changing, **basis.not_changing},
            "targets": targets,
            "target_digests": {**self.target_digests, **basis.target_digests},
            "definitions": {**self.definitions, **basis.definitions},
            "pages": {**self.pages, **basis.pages},
            "passages": {**self.passages, **basis.passages},
        }
        kept = {name: getattr(self, name) for name in type(self).model_fields if name not in later}
        return Run.model_validate({**kept, **later})

    def tool_of(self, step: str) -> Tool | None:
        """Return the tool of a step; None if the step is a person's."""
        binding = self.binding_of.get(step)
        return self.tool_named.get(binding.tool) if binding else None

    def changes(self, step: str) -> bool:
        """Return True if the tool of a step changes something."""
        tool = self.tool_of(step)
        return tool is not None and tool.effect is ToolEffect.CHANGE
