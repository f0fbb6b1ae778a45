"""A question about lines of a page, with options of which one is right."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum

from services.procedure.evidence.fact import Fact


class OptionKind(StrEnum):
    """What an option says, whatever the steps."""

    ALWAYS = "always"
    """It is done whatever is answered."""
    ON_ANSWER = "on an answer"
    CONDITION = "under a condition"
    NEXT = "a step"
    ENDS = "the work ends"
    ASKED = "it is asked"
    UNSAID = "the lines do not say"


@dataclass(frozen=True)
class Option:
    """One of the answers that may be given."""

    kind: OptionKind
    text: str


@dataclass(frozen=True)
class FactClaim:
    """What one candidate says to the question."""

    candidate: int
    """Its place in the request."""
    fact: Fact
    option: int


@dataclass(frozen=True)
class FactQuestion:
    """Asked once for all candidates that say something to it."""

    lines: str
    """The lines that answer it, numbered as in the page."""
    text: str
    options: tuple[Option, ...]
    claims: tuple[FactClaim, ...]
    weight: float
    """How much hangs on it."""
    text_hash: str = ""
    """Of the page that the lines are of."""

    def key(self, asked_with: str) -> str:
        """The same for the same question about the same lines; `asked_with`: prompt and model."""
        content = [asked_with, self.lines, self.text, [option.text for option in self.options]]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()
