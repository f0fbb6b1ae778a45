"""A search: a ticket, experts, tools and limits by value; experts are of the catalogue's files."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from services.execution.tools.catalogue import BadCatalogueError, Catalogue
from services.execution.tools.compare import CatalogueEntry
from services.execution.tools.tool import Tool, ToolEffect
from services.kit.value import Value

EXPERTS = "experts"
"""Folder of the experts in a catalogue's folder."""
SHIPPED = Path(__file__).parent / EXPERTS
RETRIEVE = "retrieve"
"""Name of the look into documents, which every expert has; no tool of a catalogue has it."""


class Expert(CatalogueEntry):
    """Expert as its file states it; in a search its tools are names, without patterns."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")
    role: str = Field(min_length=1, max_length=500)
    tools: tuple[str, ...] = ()
    """Names of read-only tools, or patterns such as `bgp_*`."""
    knowledge: tuple[str, ...] = ()
    """Prefixes of the ids of documents that it may read; without any it may read all."""

    def may_read(self, document_id: str) -> bool:
        """Return True if it may read this document."""
        return not self.knowledge or document_id.startswith(self.knowledge)


def load_experts(folder: Path | None, catalogue: Catalogue) -> tuple[Expert, ...]:
    """Return the experts with their tools resolved to names; those without a tool are left out.

    Raises:
        BadCatalogueError: A file cannot be read, or names a tool that does not exist or that
            changes something; the message names the file.
    """
    own = sorted((folder / EXPERTS).glob("*.yaml")) if folder else []
    by_name: dict[str, Expert] = {}
    for path in own or sorted(SHIPPED.glob("*.yaml")):
        try:
            expert = Expert.model_validate(yaml.safe_load(path.read_text()))
        except (OSError, ValueError, yaml.YAMLError, ValidationError) as error:
            raise BadCatalogueError(f"{path.name}: {error}") from error
        if expert.name in by_name:
            raise BadCatalogueError(f"{path.name}: the expert {expert.name!r} is told twice")
        names = _resolve_tools(expert.tools, catalogue, path)
        by_name[expert.name] = expert.model_copy(update={"tools": names})
    return tuple(each for each in by_name.values() if each.tools)


def _resolve_tools(patterns: Iterable[str], catalogue: Catalogue, path: Path) -> tuple[str, ...]:
    tools = catalogue.by_name
    names: dict[str, None] = {}
    for pattern in patterns:
        if "*" in pattern:
            looks = (n for n, t in tools.items() if t.effect is ToolEffect.READ)
            names |= dict.fromkeys(n for n in looks if fnmatchcase(n, pattern))
            continue
        if pattern not in tools:
            raise BadCatalogueError(f"{path.name}: the catalogue has no tool {pattern!r}")
        if tools[pattern].effect is not ToolEffect.READ:
            raise BadCatalogueError(f"{path.name}: {pattern} changes something: experts only look")
        names[pattern] = None
    return tuple(names)


def nearest_expert(experts: Iterable[Expert], words: str, says: Mapping[str, str]) -> Expert:
    """Return the expert whose role and tools share most words; `says` has descriptions by tool."""
    wanted = set(_words(words))

    def shared(expert: Expert) -> int:
        texts = (expert.name, expert.role, *(f"{t} {says.get(t, '')}" for t in expert.tools))
        return len(wanted & set(_words(" ".join(texts))))

    return max(experts, key=shared)  # of equal ones the first


def _words(text: str) -> list[str]:
    return [word for word in text.replace("_", " ").casefold().split() if len(word) > 2]


class SearchTicket(Value):
    """The part of a ticket that a search may use: no secrets, no instructions to a model."""

    id: str
    title: str
    text: str = ""
    labels: Mapping[str, str] = Field(default={})


class SuggestibleTool(Value):
    """A tool that changes something: it may be suggested, and is never called."""

    name: str
    description: str
    target: str
    """Kind of target that it is for."""
    parameters: tuple[str, ...] = ()


class SearchLimits(Value):
    """Limits at which a search ends by itself."""

    depth: int = 6
    """Most looks from the root to a node."""
    width: int = 6
    """Most looks from one point."""
    calls: int = 30
    """Most calls of tools and looks into documents."""
    questions: int = 90
    """Most questions to the model, those without an answer included."""
    tokens: int = 300_000
    """Most tokens, in and out."""
    within_s: float = 1800.0
    """Seconds from its start, by its clock, waiting included."""
    silences: int = 6
    """Most questions in a row without an answer of the model."""
    silence_s: float = 15.0
    """Seconds before the model is asked again; twice as many after each further silence."""
    answer_within_s: float = 120.0
    """Seconds for one answer of the model."""
    answer_tokens: int = 1500
    """Most tokens of one answer."""


class Search(Value):
    """A search to be carried out; its events tell how far it is."""

    id: str
    ticket: SearchTicket
    experts: tuple[Expert, ...]
    tools: tuple[Tool, ...]
    """Tools of the experts, as they were at its start; none changes anything."""
    changes: tuple[SuggestibleTool, ...] = ()
    targets: Mapping[str, str] = Field(default={})
    """Kinds of the targets, by name."""
    limits: SearchLimits = SearchLimits()
    started_by: str
    started_at: datetime
    at_once: bool = False
    """True if it began by itself."""

    @cached_property
    def tool_named(self) -> Mapping[str, Tool]:
        """Tools by name."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def expert_named(self) -> Mapping[str, Expert]:
        """Experts by name."""
        return {expert.name: expert for expert in self.experts}
