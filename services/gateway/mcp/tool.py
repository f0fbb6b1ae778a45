"""What a tool is: a function of the platform with typed arguments, an answer, and a scope."""

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from services.contracts.composing import Composing
from services.contracts.execution import Execution
from services.contracts.mcp import Answer, Arguments
from services.contracts.retrieval import Retrieval
from services.gateway.ports import Adoption, Tickets, Triage
from services.kit.access.scopes import Scope


@dataclass(frozen=True)
class Platform:
    """What tools work with: the services behind the REST addresses."""

    gateway: Tickets
    triage: Triage
    adoption: Adoption
    retrieval: Retrieval
    execution: Execution | None
    composing: Composing | None
    stopping: threading.Event
    """Set when the process ends: nobody waits any longer then."""


@dataclass(frozen=True)
class Tool:
    """One tool. `run` does its work as the current caller and raises what REST would answer."""

    name: str
    title: str
    description: str
    scope: Scope
    arguments: type[Arguments]
    answer: type[Answer]
    run: Callable[[Platform, Any], Awaitable[Answer]]
    write: Callable[[Any], str]
    """The answer as Markdown for people and models."""
    keeps: bool = True
    """Whether something of it is stored, where it asks for more than to read."""

    @property
    def is_read_only(self) -> bool:
        """Whether it changes nothing."""
        return self.scope is Scope.READ or not self.keeps
