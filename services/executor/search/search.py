"""A search: a ticket, experts, tools and bounds by value; it does not change."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property

from pydantic import Field

from services.executor.search.experts import Expert
from services.executor.tools.tool import Tool
from services.kit.value import Value


class SearchTicket(Value):
    """What a search knows of its ticket: without secrets, and without what speaks to a model."""

    id: str
    title: str
    text: str = ""
    labels: Mapping[str, str] = Field(default={})


class Change(Value):
    """A tool that changes something: it may be suggested, and is not called."""

    name: str
    description: str
    target: str
    """The kind of target that it is for."""
    parameters: tuple[str, ...] = ()


class Limits(Value):
    """Where a search ends by itself."""

    depth: int = 6
    """Looks that one rests on, one below the other."""
    width: int = 6
    """Looks from one point."""
    calls: int = 30
    """Of tools and into documents."""
    questions: int = 90
    """Put to the model, those that it did not answer included."""
    tokens: int = 300_000
    """In and out."""
    within_s: float = 1800.0
    """Of its clock, from its start; what it rests is counted too."""
    silences: int = 6
    """Questions in a row that the model did not answer."""
    silence_s: float = 15.0
    """Seconds before it is asked again after the first one; twice as many after each further."""
    answer_within_s: float = 120.0
    """For one answer of the model."""
    answer_tokens: int = 1500
    """Most that one answer may have."""


class Search(Value):
    """What is searched. Its events say how far it has come."""

    id: str
    ticket: SearchTicket
    experts: tuple[Expert, ...]
    tools: tuple[Tool, ...]
    """Those of the experts, as they were at its start; none changes anything."""
    changes: tuple[Change, ...] = ()
    targets: Mapping[str, str] = Field(default={})
    """Kinds of the targets, by name."""
    limits: Limits = Limits()
    started_by: str
    started_at: datetime

    @cached_property
    def tool_named(self) -> Mapping[str, Tool]:
        """By name."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def expert_named(self) -> Mapping[str, Expert]:
        """By name."""
        return {expert.name: expert for expert in self.experts}
