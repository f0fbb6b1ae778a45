"""The catalogue: tools, targets and policy as they stand in a folder of YAML files."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from services.executor.tools.policy import Policy
from services.executor.tools.target import Target
from services.executor.tools.template import BadTemplateError
from services.executor.tools.tool import Condition, Effect, OtherCall, Tool
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.value import Value

V = TypeVar("V", bound=Value)

POLICY, TARGETS, TOOLS = "policy.yaml", "targets.yaml", "tools"


class BadCatalogueError(InvalidInputError):
    """A file of the catalogue says something that cannot be; the message names it."""


class UnknownToolError(NotFoundError):
    """The catalogue has no such tool, or no such target."""


class Catalogue(Value):
    """What may be run, on what, by whose leave."""

    tools: tuple[Tool, ...] = ()
    targets: tuple[Target, ...] = ()
    policy: Policy = Policy()

    @cached_property
    def by_name(self) -> Mapping[str, Tool]:
        """The tools."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def targets_by_name(self) -> Mapping[str, Target]:
        """The targets."""
        return {target.name: target for target in self.targets}

    def tool(self, name: str) -> Tool:
        """Raises `UnknownToolError`."""
        if name not in self.by_name:
            raise UnknownToolError(f"the catalogue has no tool {name!r}")
        return self.by_name[name]

    def target(self, name: str) -> Target:
        """Raises `UnknownToolError`."""
        if name not in self.targets_by_name:
            raise UnknownToolError(f"the catalogue has no target {name!r}")
        return self.targets_by_name[name]

    @classmethod
    def of_folder(cls, folder: Path | None) -> "Catalogue":
        """`tools/*.yaml`, `targets.yaml` and `policy.yaml`; an empty one where no folder is named.

        Raises:
            BadCatalogueError: A file is no YAML, says what cannot be, or names an unknown tool.
        """
        if folder is None:
            return cls()
        tools = [
            _made(Tool, each, path)
            for path in sorted((folder / TOOLS).glob("*.yaml"))
            for each in _read(path) or ()
        ]
        path = folder / TARGETS
        targets = [_made(Target, each, path) for each in _read(path) or ()]
        path = folder / POLICY
        policy = _made(Policy, _read(path) or {}, path)
        return cls(tools=tuple(tools), targets=tuple(targets), policy=policy).checked()

    def checked(self) -> "Catalogue":
        """Itself, if its names are told once and what it refers to is there.

        Raises:
            BadCatalogueError: They are not.
        """
        _once("tool", (tool.name for tool in self.tools))
        _once("target", (target.name for target in self.targets))
        for tool in self.tools:
            for other in tool.others:
                self._check_other(tool, other)
        return self

    def _check_other(self, tool: Tool, other: OtherCall) -> None:
        known = self.by_name.get(other.tool)
        if known is None:
            raise BadCatalogueError(f"{tool.name} refers to {other.tool!r}, which is no tool")
        is_look = isinstance(other, Condition) or other is tool.dry_run
        if is_look and known.effect is Effect.CHANGE:
            raise BadCatalogueError(f"{tool.name} would look by {known.name}, which changes")
        if known.parameters.keys() != other.arguments.keys():
            raise BadCatalogueError(f"{tool.name} does not fill the parameters of {known.name}")
        if isinstance(other, Condition):
            if other.on:
                self._check_asked(tool, known, other.on)
            for test in other.tests:
                if test.field not in known.output.fields:
                    raise BadCatalogueError(f"{tool.name}: {known.name} tells no {test.field!r}")

    def _check_asked(self, tool: Tool, known: Tool, on: str) -> None:
        asked = self.targets_by_name.get(on)
        if asked is None:
            raise BadCatalogueError(f"{tool.name} asks {on!r}, which is no target")
        if asked.kind != known.target:
            raise BadCatalogueError(
                f"{tool.name} asks {on}, a {asked.kind}, by {known.name}, which is for a"
                f" {known.target}"
            )


def _once(noun: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadCatalogueError(f"the {noun} {name!r} is told twice")
        seen.add(name)


def _read(path: Path) -> Any:  # noqa: ANN401 - whatever stands there
    if not path.exists():
        return None
    try:
        return yaml.safe_load(path.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BadCatalogueError(f"{path.name}: {error}") from error


def _made(kind: type[V], told: object, path: Path) -> V:
    try:
        return kind.model_validate(told)
    except (ValidationError, BadTemplateError, re.error) as error:
        raise BadCatalogueError(f"{path.name}: {error}") from error
