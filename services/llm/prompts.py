"""Prompt files: name, version, declared variables, system and user text.

Untrusted text (tickets, documents) goes only into the user message, between marks that no text can
foresee, so that none can close its own block; it is inserted, never rendered.
"""

import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files
from string import Template

import yaml
from pydantic import BaseModel, ConfigDict

from services.kit.errors import FlowXpertError
from services.llm.chat_model import Message


class PromptError(FlowXpertError):
    """A prompt file contradicts itself, or the values differ from its declared variables."""


class Prompt(BaseModel):
    """One prompt file. A variable is written `$name`; every variable is untrusted text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    version: int
    variables: tuple[str, ...]
    system: str
    user: str

    @property
    def label(self) -> str:
        """Name and version, for logs and records."""
        return f"{self.name}@{self.version}"

    def render(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the messages, with each value in a delimited block of the user message.

        Raises:
            PromptError: A declared variable is missing, or one too many was given.
        """
        if set(values) != set(self.variables):
            raise PromptError(f"{self.label} takes {self.variables!r}, got {sorted(values)!r}")
        delimiter = _delimiter(values)
        blocks = {name: _block(name, text, delimiter) for name, text in values.items()}
        return (
            Message(role="system", content=self.system.strip()),
            Message(role="user", content=Template(self.user).substitute(blocks).strip()),
        )


def load_prompt(package: str, name: str) -> Prompt:
    """Load the prompt `name`.yaml from a service's `prompts/` folder.

    Raises:
        PromptError: Declared and used variables differ, or the system text uses one.
    """
    path = files(package).joinpath("prompts", f"{name}.yaml")
    prompt = Prompt.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    used = set(Template(prompt.user).get_identifiers())
    if used != set(prompt.variables):
        raise PromptError(f"{prompt.label} declares {prompt.variables!r}, uses {sorted(used)!r}")
    if Template(prompt.system).get_identifiers():
        raise PromptError(f"{prompt.label} has a variable in its system text")
    return prompt


def quote_untrusted(name: str, text: str) -> str:
    """Wrap untrusted text in a block that it cannot close, for a model to read."""
    return _block(name, text, _delimiter({name: text}))


def _delimiter(values: Mapping[str, str]) -> str:
    """Return a delimiter that none of the texts contains; equal texts give an equal one.

    A text that contains its own hash would take 2^63 tries to find.
    """
    text = "\0".join(f"{name}\0{values[name]}" for name in sorted(values))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _block(name: str, text: str, delimiter: str) -> str:
    label = re.sub(r"\W", "-", name)
    return f"<{label}-{delimiter}>\n{text}\n</{label}-{delimiter}>"
