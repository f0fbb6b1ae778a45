"""Definition of a tool: a function of the platform with typed arguments, an answer and a scope."""

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from services.contracts.composing import Compositions
from services.contracts.execution import Execution
from services.contracts.mcp import Answer, Arguments
from services.contracts.retrieval import Retrieval
from services.kit.access.scopes import Scope
from services.tickets.adoption.service import AdoptionService
from services.tickets.service import TicketService
from services.tickets.triage.service import TriageService


@dataclass(frozen=True)
class Platform:
    """The services that tools work with: those behind the REST routes."""

    gateway: TicketService
    triage: TriageService
    adoption: AdoptionService
    retrieval: Retrieval
    execution: Execution | None
    composing: Compositions | None
    stopping: threading.Event
    """Event that is set when the process ends, so that nobody waits any longer."""


@dataclass(frozen=True)
class McpTool:
    """One tool. `run` acts as the current caller and raises the errors that REST would answer."""

    name: str
    title: str
    description: str
    scope: Scope
    arguments: type[Arguments]
    answer: type[Answer]
    run: Callable[[Platform, Any], Answer | Awaitable[Answer]]
    """Function of the tool; a blocking one is run in a thread."""
    write: Callable[[Any], str]
    """Function that writes the answer as Markdown, for people and models."""
    keeps: bool = True
    """True if it stores something, when its scope is more than to read."""

    @property
    def is_read_only(self) -> bool:
        """True if it changes nothing."""
        return self.scope is Scope.READ or not self.keeps
