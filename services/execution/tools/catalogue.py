"""The catalogue: tools, targets and policy from a folder of YAML files, loaded again on change."""

import re
import threading
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from services.execution.tools.policy import Policy
from services.execution.tools.target import Target
from services.execution.tools.template import BadTemplateError
from services.execution.tools.tool import OtherCall, OutputCondition, Tool, ToolEffect
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.value import Value

V = TypeVar("V", bound=Value)

POLICY, TARGETS, TOOLS = "policy.yaml", "targets.yaml", "tools"


class BadCatalogueError(InvalidInputError):
    """Error of a file of the catalogue that is not valid; the message names the file."""


class UnknownToolError(NotFoundError):
    """Error of a tool or target that the catalogue does not have."""


class Catalogue(Value):
    """Tools and targets of an installation, with the policy for their use."""

    tools: tuple[Tool, ...] = ()
    targets: tuple[Target, ...] = ()
    policy: Policy = Policy()

    @cached_property
    def by_name(self) -> Mapping[str, Tool]:
        """Tools by name."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def targets_by_name(self) -> Mapping[str, Target]:
        """Targets by name."""
        return {target.name: target for target in self.targets}

    def tool(self, name: str) -> Tool:
        """Return the tool of this name.

        Raises:
            UnknownToolError: There is none.
        """
        if name not in self.by_name:
            raise UnknownToolError(f"the catalogue has no tool {name!r}")
        return self.by_name[name]

    def target(self, name: str) -> Target:
        """Return the target of this name.

        Raises:
            UnknownToolError: There is none.
        """
        if name not in self.targets_by_name:
            raise UnknownToolError(f"the catalogue has no target {name!r}")
        return self.targets_by_name[name]

    @classmethod
    def of_folder(cls, folder: Path | None) -> "Catalogue":
        """Load `tools/*.yaml`, `targets.yaml` and `policy.yaml`; without a folder it is empty.

        Raises:
            BadCatalogueError: A file is no YAML, is not valid, or names an unknown tool.
        """
        if folder is None:
            return cls()
        tools = [
            _validate(Tool, each, path)
            for path in sorted((folder / TOOLS).glob("*.yaml"))
            for each in _read(path) or ()
        ]
        path = folder / TARGETS
        targets = [_validate(Target, each, path) for each in _read(path) or ()]
        path = folder / POLICY
        policy = _validate(Policy, _read(path) or {}, path)
        return cls(tools=tuple(tools), targets=tuple(targets), policy=policy).checked()

    def checked(self) -> "Catalogue":
        """Return the catalogue itself, if its names are unique and its references exist.

        Raises:
            BadCatalogueError: They are not.
        """
        _check_unique("tool", (tool.name for tool in self.tools))
        _check_unique("target", (target.name for target in self.targets))
        for tool in self.tools:
            for other in tool.others:
                self._check_other(tool, other)
        return self

    def _check_other(self, tool: Tool, other: OtherCall) -> None:
        other_tool = self.by_name.get(other.tool)
        if other_tool is None:
            raise BadCatalogueError(f"{tool.name} refers to {other.tool!r}, which is no tool")
        is_look = isinstance(other, OutputCondition) or other is tool.dry_run
        if is_look and other_tool.effect is ToolEffect.CHANGE:
            raise BadCatalogueError(f"{tool.name} would look by {other_tool.name}, which changes")
        if other_tool.parameters.keys() != other.arguments.keys():
            raise BadCatalogueError(
                f"{tool.name} does not fill the parameters of {other_tool.name}"
            )
        if isinstance(other, OutputCondition):
            target = self.targets_by_name.get(other.on)
            if other.on and target is None:
                raise BadCatalogueError(f"{tool.name} asks {other.on!r}, which is no target")
            if target and target.kind != other_tool.target:
                raise BadCatalogueError(
                    f"{tool.name} asks {other.on}, a {target.kind}, by {other_tool.name}, which is"
                    f" for a {other_tool.target}"
                )
            for test in other.tests:
                if test.field not in other_tool.output.fields:
                    raise BadCatalogueError(
                        f"{tool.name}: {other_tool.name} tells no {test.field!r}"
                    )


def _check_unique(noun: str, names: Iterable[str]) -> None:
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


def _validate(kind: type[V], content: object, path: Path) -> V:
    try:
        return kind.model_validate(content)
    except (ValidationError, BadTemplateError, re.error) as error:
        raise BadCatalogueError(f"{path.name}: {error}") from error


class CachedCatalogue:
    """Callable that returns the current catalogue; safe to share between threads."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._state: tuple[object, ...] = ()
        self._catalogue = Catalogue()

    def __call__(self) -> Catalogue:
        """Return the current catalogue.

        Raises:
            BadCatalogueError: It is not valid; that stops runs, and no older one is used.
        """
        folder = self._folder
        if folder is None:
            return self._catalogue
        with self._lock:
            paths = [folder / POLICY, folder / TARGETS, *sorted((folder / TOOLS).glob("*.yaml"))]
            stats = ((path, path.stat()) for path in paths if path.exists())
            state = tuple((str(p), s.st_mtime_ns, s.st_size, s.st_ino) for p, s in stats)
            if state != self._state:
                self._catalogue = Catalogue.of_folder(folder)
                self._state = state
            return self._catalogue
