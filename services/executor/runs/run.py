"""A run: a workflow, its bindings and tools by value, a ticket and a mode; it does not change."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property

from pydantic import Field

from services.contracts.execution import RunMode
from services.executor.bindings.binding import Binding
from services.executor.tools.tool import Tool
from services.kit.value import Value
from services.workflow.model import Workflow


class RunTicket(Value):
    """What a run knows of its ticket."""

    id: str
    title: str
    labels: Mapping[str, str] = Field(default={})


class Confirmation(Value):
    """Somebody says that this is the page for the ticket, with what speaks against it in view."""

    by: str
    at: datetime
    against: tuple[str, ...] = ()


class Limits(Value):
    """Where a run ends by itself."""

    most_visits: int = 20
    """Of one step."""
    most_calls: int = 200
    within_s: float = 6 * 3600.0
    """Of its clock, from its start."""
    approval_expires_s: float = 900.0


class Run(Value):
    """What is carried out. Its events say how far it has come."""

    id: str
    ticket: RunTicket
    workflow_id: str
    workflow: Workflow
    bindings: tuple[Binding, ...]
    tools: tuple[Tool, ...]
    """Those that the bindings name, and those that these refer to, as they were at its start."""
    targets: Mapping[str, str] = Field(default={})
    """Names of targets by the ids of steps."""
    target_digests: Mapping[str, str] = Field(default={})
    """How the targets were defined at its start, by name; see `Target.digest`."""
    not_changing: Mapping[str, str] = Field(default={})
    """Why a step that would change something is a person's, by its id; absent: it may be run."""
    mode: RunMode
    limits: Limits = Limits()
    requested_by: str
    requested_by_id: str = ""
    """What stays the same of them, whatever they are called."""
    requested_at: datetime
    confirmation: Confirmation | None = None
    is_by_hand: bool = False
    """Whether a person chose its tools, and no page tells them."""

    @cached_property
    def binding_of(self) -> Mapping[str, Binding]:
        """By the ids of steps."""
        return {binding.step: binding for binding in self.bindings}

    @cached_property
    def tool_named(self) -> Mapping[str, Tool]:
        """By name."""
        return {tool.name: tool for tool in self.tools}
