"""Collector of imported catalogue entries, with what the catalogue could not express."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from pydantic import ValidationError

from services.execution.tools.catalogue import BadCatalogueError, Catalogue
from services.execution.tools.target import Target
from services.execution.tools.template import BadTemplateError
from services.execution.tools.tool import Tool, ToolEffect
from services.kit.observability.redaction import redact
from services.kit.text import ellipsize, squeeze
from services.kit.value import Value
from services.knowledge.screening.screening import screen_message
from services.language.deeds import is_inspection, is_repair_verb
from services.language.words import stem

MOST_TOOLS = 200
"""Most tools of one import; nobody reads a catalogue of more."""
MOST_CHARACTERS = 200
"""Most characters of a description."""
MOST_OF_A_NAME = 60

_CREDENTIAL = re.compile(
    r"(?i)(?:^|_)(?:pass(?:word|wd|phrase)?|secret|tokens?|api_?key|access_?key|private_?key"
    r"|credentials?|authorization|cookie|session_?id|bearer|auth)(?:_|$)"
)


class ImportResult(Value):
    """Entries as they go into a file of `tools/`, and what was left out."""

    entries: tuple[Mapping[str, Any], ...]
    left_out: tuple[str, ...]
    """Names of what was left out, each with its reason, in one line."""

    @property
    def yaml(self) -> str:
        """Content of the file."""
        head = (
            "# Imported: read it, name what pages call these tools, and say what proves a change.\n"
        )
        rest = "".join(f"# Left out: {each}\n" for each in self.left_out)
        plain_entries = [dict(each) for each in self.entries]
        return (
            head
            + rest
            + yaml.safe_dump(plain_entries, sort_keys=False, allow_unicode=True, width=100)
        )


class EntryCollector:
    """Collector of entries that are valid in the catalogue; others are left out with a reason."""

    def __init__(self, kind: str) -> None:
        """Collect entries for targets of this kind."""
        self._kind = kind
        self._entries: dict[str, Mapping[str, Any]] = {}
        self._left_out: list[str] = []

    def add(
        self, name: str, description: str, entry: Mapping[str, Any], effect: ToolEffect
    ) -> None:
        """Add a tool; `entry` has its way, parameters and output, `name` is as others write it."""
        if len(self._entries) >= MOST_TOOLS:
            self.leave_out(name, f"an import has {MOST_TOOLS} tools at most")
            return
        plain = to_snake_case(name)
        numbered = (f"{plain}_{number}" for number in range(2, MOST_TOOLS + 2))
        free = next(each for each in (plain, *numbered) if each not in self._entries)
        content = {
            "name": free,
            "description": sanitise(description) or name.replace("_", " "),
            "effect": effect.value,
            "target": self._kind,
            "label": self._kind,
            **{key: value for key, value in entry.items() if value},
        }
        try:
            Catalogue(
                tools=(Tool.model_validate(content),),
                targets=(Target(name="any", kind=self._kind),),
            ).checked()
        except (ValidationError, BadTemplateError, BadCatalogueError, re.error) as error:
            self.leave_out(name, str(error).splitlines()[0])
            return
        self._entries[free] = content

    def leave_out(self, name: str, why: str) -> None:
        """Record what is left out, and why."""
        self._left_out.append(f"{sanitise(name)}: {sanitise(why)}")

    def collect(self) -> ImportResult:
        """Return all entries, and what was left out."""
        return ImportResult(entries=tuple(self._entries.values()), left_out=tuple(self._left_out))


def infer_effect(name: str, *, looks: bool) -> ToolEffect:
    """Return READ only if it is declared as such and its name is no act, as `restartNode` is."""
    words = to_snake_case(name).split("_")
    names_an_act = any(is_repair_verb(stem(word)) for word in words) and not is_inspection(
        " ".join(words)
    )
    return ToolEffect.READ if looks and not names_an_act else ToolEffect.CHANGE


def to_snake_case(name: str) -> str:
    """Convert a name to the catalogue's style: `getNodeState` becomes `get_node_state`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    plain = re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")[:MOST_OF_A_NAME].strip("_")
    if not re.match(r"[a-z]", plain):
        plain = f"x_{plain}".strip("_")
    return plain if len(plain) > 1 else f"{plain}_tool"


def sanitise(text: str) -> str:
    """Reduce a foreign text to one line without instructions, secrets and control characters."""
    whole = redact(screen_message(text[: 20 * MOST_CHARACTERS]).text)
    line = squeeze("".join(c if c.isprintable() else " " for c in whole))
    return ellipsize(line, MOST_CHARACTERS)


def is_credential(name: str) -> bool:
    """Return True if a parameter or field of that name holds a secret."""
    return _CREDENTIAL.search(to_snake_case(name)) is not None


def drop_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not empty."""
    return {name: value for name, value in values.items() if value not in ("", None, (), [], {})}


def are_distinct(names: Iterable[str]) -> bool:
    """Return True if no two names are the same."""
    listed = list(names)
    return len(listed) == len(set(listed))
