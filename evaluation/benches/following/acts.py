"""What an agent does next: a call of a tool, or something that it says."""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from services.kit.value import Value


def _as_texts(arguments: object) -> object:
    """Numbers and truths of JSON, as the words that a tool takes."""
    if not isinstance(arguments, Mapping):
        return arguments or {}
    return {
        str(name): value if isinstance(value, str) else json.dumps(value)
        for name, value in arguments.items()
    }


class Call(Value):
    """A tool with its arguments."""

    tool: str
    arguments: Annotated[Mapping[str, str], BeforeValidator(_as_texts)] = Field(default={})

    def is_same(self, other: "Call") -> bool:
        """Whether it is the same tool, and every argument says the same but for its case."""
        return self.tool == other.tool and self.pairs() == other.pairs()

    def pairs(self) -> frozenset[tuple[str, str]]:
        """Arguments as they are compared."""
        return frozenset((k, v.strip().casefold()) for k, v in self.arguments.items())


class Act(BaseModel):
    """As an agent answers; what it leaves out is not there."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    thought: str | None = None
    node: str | None = None
    """The node of the chart that it does, where it was shown one."""
    call: Call | None = None
    say: str | None = None
    off_procedure: bool | None = None
    """Whether it tells the person that the page does not cover what was asked."""

    def dump_for_history(self, *, with_node: bool) -> str:
        """Return the act as JSON for a history, its thoughts left out."""
        left_out = {"thought"} if with_node else {"thought", "node"}
        return self.model_dump_json(exclude=left_out, exclude_none=True)


def digest_of(text: str) -> str:
    """Names a prompt: an answer to another one does not count."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
