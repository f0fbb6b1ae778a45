"""What an import gives: entries of the catalogue, and what they could not say."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from pydantic import ValidationError

from services.executor.tools.catalogue import BadCatalogueError, Catalogue
from services.executor.tools.target import Target
from services.executor.tools.template import BadTemplateError
from services.executor.tools.tool import Effect, Tool
from services.kit.observability.redaction import redacted
from services.kit.value import Value
from services.knowledge.screening.screening import screen_message
from services.language.deeds import mends, only_finds_out
from services.language.words import stem

MOST_TOOLS = 200
"""Of one import; a catalogue of more is nothing that somebody reads."""
MOST_CHARACTERS = 200
"""Of a description."""
MOST_OF_A_NAME = 60

_CREDENTIAL = re.compile(
    r"(?i)(?:^|_)(?:pass(?:word|wd|phrase)?|secret|tokens?|api_?key|access_?key|private_?key"
    r"|credentials?|authorization|cookie|session_?id|bearer|auth)(?:_|$)"
)


class Imported(Value):
    """Entries as they stand in a file of `tools/`, and what was left out."""

    entries: tuple[Mapping[str, Any], ...]
    left_out: tuple[str, ...]
    """Each with its reason, one line."""

    @property
    def yaml(self) -> str:
        """The file."""
        head = (
            "# Imported: read it, name what pages call these tools, and say what proves a change.\n"
        )
        rest = "".join(f"# Left out: {each}\n" for each in self.left_out)
        told = [dict(each) for each in self.entries]
        return head + rest + yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100)


class Entries:
    """Gathers entries that the catalogue takes; the others are left out, with the reason."""

    def __init__(self, kind: str) -> None:
        """`kind` of the target that all are for."""
        self._kind = kind
        self._entries: dict[str, Mapping[str, Any]] = {}
        self._left_out: list[str] = []

    def add(self, name: str, description: str, entry: Mapping[str, Any], effect: Effect) -> None:
        """`name` as others write it; `entry` has way, parameters and output."""
        if len(self._entries) >= MOST_TOOLS:
            self.leave_out(name, f"an import has {MOST_TOOLS} tools at most")
            return
        free = self._free(name_of(name))
        told = {
            "name": free,
            "description": said(description) or name.replace("_", " "),
            "effect": effect.value,
            "target": self._kind,
            "label": self._kind,
            **{key: value for key, value in entry.items() if value},
        }
        try:
            Catalogue(
                tools=(Tool.model_validate(told),),
                targets=(Target(name="any", kind=self._kind),),
            ).checked()
        except (ValidationError, BadTemplateError, BadCatalogueError, re.error) as error:
            self.leave_out(name, str(error).splitlines()[0])
            return
        self._entries[free] = told

    def leave_out(self, name: str, why: str) -> None:
        """Say what is not there, and why."""
        self._left_out.append(f"{said(name)}: {said(why)}")

    def imported(self) -> Imported:
        """All of it."""
        return Imported(entries=tuple(self._entries.values()), left_out=tuple(self._left_out))

    def _free(self, name: str) -> str:
        numbers = (f"{name}_{number}" for number in range(2, MOST_TOOLS + 2))
        return next(each for each in (name, *numbers) if each not in self._entries)


def effect_of_named(name: str, *, looks: bool) -> Effect:
    """A look only where it is said to be one, and its name tells no deed: `restartNode` does."""
    words = name_of(name).split("_")
    tells_deed = any(mends(stem(word)) for word in words) and not only_finds_out(" ".join(words))
    return Effect.READ if looks and not tells_deed else Effect.CHANGE


def name_of(told: str) -> str:
    """As the catalogue names things: `getNodeState` becomes `get_node_state`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", told)
    plain = re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")[:MOST_OF_A_NAME].strip("_")
    if not re.match(r"[a-z]", plain):
        plain = f"x_{plain}".strip("_")
    return plain if len(plain) > 1 else f"{plain}_tool"


def said(text: str) -> str:
    """Words of others as data: one line, without what speaks to a model, secrets and controls."""
    whole = redacted(screen_message(text[: 20 * MOST_CHARACTERS]).text)
    line = " ".join("".join(c if c.isprintable() else " " for c in whole).split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1].rstrip()}…"


def is_credential(name: str) -> bool:
    """Whether a parameter or a field of that name holds what nobody may see."""
    return _CREDENTIAL.search(name_of(name)) is not None


def without_empty(told: Mapping[str, Any]) -> dict[str, Any]:
    """What says something."""
    return {name: value for name, value in told.items() if value not in ("", None, (), [], {})}


def distinct(names: Iterable[str]) -> bool:
    """Whether no two are the same."""
    listed = list(names)
    return len(listed) == len(set(listed))
