"""Question about lines of a page, with options of which one is right."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum

from services.runbook.evidence.fact import Fact


class OptionKind(StrEnum):
    """Kind of statement that an option makes, whatever the steps."""

    ALWAYS = "always"
    """The step is done whatever is answered."""
    ON_ANSWER = "on an answer"
    CONDITION = "under a condition"
    NEXT = "a step"
    ENDS = "the work ends"
    IS_QUESTION = "it is asked"
    UNSAID = "the lines do not say"


@dataclass(frozen=True)
class Option:
    """Possible answer to a question."""

    kind: OptionKind
    text: str


@dataclass(frozen=True)
class FactClaim:
    """Option that one candidate claims, and the fact by which it does."""

    candidate: int
    """Index of the candidate in the request."""
    fact: Fact
    option: int


@dataclass(frozen=True)
class FactQuestion:
    """Question asked once for all candidates that claim an option of it."""

    lines: str
    """The lines that answer it, numbered as in the page."""
    text: str
    options: tuple[Option, ...]
    claims: tuple[FactClaim, ...]
    weight: float
    """Weight by what depends on the answer."""
    text_hash: str = ""
    """Hash of the page that the lines belong to."""

    def key(self, label: str) -> str:
        """Return a key of question, lines and options under `label`, that of prompt and model."""
        content = [label, self.lines, self.text, [option.text for option in self.options]]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()
