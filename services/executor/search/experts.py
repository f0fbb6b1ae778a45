"""Experts: who may look with which tools; a catalogue's `experts/*.yaml`, or the shipped ones."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from services.executor.tools.catalogue import BadCatalogueError, Catalogue
from services.executor.tools.entry import CatalogueEntry
from services.executor.tools.tool import Effect

EXPERTS = "experts"
"""The folder in a catalogue's folder."""
SHIPPED = Path(__file__).parent / EXPERTS
RETRIEVE = "retrieve"
"""The look into documents, which every expert has; no tool of a catalogue is called so."""


class Expert(CatalogueEntry):
    """One of them, as its file states it; in a search its tools are names."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")
    role: str = Field(min_length=1, max_length=500)
    tools: tuple[str, ...] = ()
    """Names of tools that only look, or patterns such as `bgp_*`."""
    knowledge: tuple[str, ...] = ()
    """What the ids of documents begin with that it may look into; none: all of them."""

    def may_read(self, document_id: str) -> bool:
        """Whether it may look into this document."""
        return not self.knowledge or document_id.startswith(self.knowledge)


def experts_of(folder: Path | None, catalogue: Catalogue) -> tuple[Expert, ...]:
    """The experts with the tools that they have by name; those without any tool are left out.

    Raises:
        BadCatalogueError: A file cannot be read, or names a tool that is not there or that changes
            something; it is named.
    """
    own = sorted((folder / EXPERTS).glob("*.yaml")) if folder else []
    found: dict[str, Expert] = {}
    for path in own or sorted(SHIPPED.glob("*.yaml")):
        expert = _of_file(path)
        if expert.name in found:
            raise BadCatalogueError(f"{path.name}: the expert {expert.name!r} is told twice")
        names = _names(expert.tools, catalogue, path)
        found[expert.name] = expert.model_copy(update={"tools": names})
    return tuple(each for each in found.values() if each.tools)


def _of_file(path: Path) -> Expert:
    try:
        return Expert.model_validate(yaml.safe_load(path.read_text()))
    except (OSError, ValueError, yaml.YAMLError, ValidationError) as error:
        raise BadCatalogueError(f"{path.name}: {error}") from error


def _names(told: Iterable[str], catalogue: Catalogue, path: Path) -> tuple[str, ...]:
    tools = catalogue.by_name
    names: dict[str, None] = {}
    for pattern in told:
        if "*" in pattern:
            looks = (n for n, t in tools.items() if t.effect is Effect.READ)
            names |= dict.fromkeys(n for n in looks if fnmatchcase(n, pattern))
            continue
        if pattern not in tools:
            raise BadCatalogueError(f"{path.name}: the catalogue has no tool {pattern!r}")
        if tools[pattern].effect is not Effect.READ:
            raise BadCatalogueError(f"{path.name}: {pattern} changes something: experts only look")
        names[pattern] = None
    return tuple(names)


def nearest(experts: Iterable[Expert], words: str, says: Mapping[str, str]) -> Expert:
    """The expert whose role and tools have most of these words; `says`: descriptions by tool."""
    wanted = set(_words(words))

    def shared(expert: Expert) -> int:
        told = (expert.name, expert.role, *(f"{t} {says.get(t, '')}" for t in expert.tools))
        return len(wanted & set(_words(" ".join(told))))

    return max(experts, key=shared)  # of equal ones the first


def _words(text: str) -> list[str]:
    return [word for word in text.replace("_", " ").casefold().split() if len(word) > 2]
