"""Pages and workflows of the toy world, their text, and the facts that a workflow claims.

A page is numbered lines, each an action under a guard, the last one the end. A workflow has the
same form and cites the line of each step:

    1 drain if_hot 2 restart always 3 end
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

ACTIONS = (
    "drain",
    "restart",
    "swap",
    "clear",
    "reload",
    "patch",
    "rotate",
    "resize",
    "detach",
    "attach",
    "flush",
    "probe",
    "isolate",
    "reseed",
    "rebuild",
    "failover",
)
GUARDS = (
    "always",
    "if_hot",
    "if_full",
    "if_down",
    "if_slow",
    "if_stale",
)
INCIDENTS = (
    "disk_full",
    "link_down",
    "fan_fault",
    "bgp_flap",
    "cpu_high",
    "lease_lost",
)
ALWAYS, END, START = "always", "end", "start"
MOST_STEPS = 6
NUMBERS = tuple(str(number) for number in range(1, MOST_STEPS + 2))


class Step(NamedTuple):
    """An action under a guard, at a line of the page."""

    line: int
    action: str
    guard: str


@dataclass(frozen=True)
class Page:
    """What is right for an incident: steps in order, then the end."""

    steps: tuple[tuple[str, str], ...]

    @property
    def cited(self) -> list[Step]:
        """The steps at their lines."""
        return [Step(line, *step) for line, step in enumerate(self.steps, 1)]

    def reversed(self) -> "Page":
        """The same lines from the last to the first."""
        return Page(self.steps[::-1])


class Fact(NamedTuple):
    """One statement of a workflow that its page decides."""

    kind: str
    """`step`: the action is part of it; `guard`: when it is done; `next`: what comes behind."""
    about: str
    says: str = ""


class Claim(NamedTuple):
    """A fact and the words that make it: their places among the workflow's words."""

    fact: Fact
    words: tuple[int, ...]


def written(steps: Sequence[Step], end: int | None = None) -> str:
    """The text of a workflow; `end` is the line that the end cites, by default the next."""
    last = end if end is not None else (steps[-1].line if steps else 0) + 1
    return " ".join([*(f"{s.line} {s.action} {s.guard}" for s in steps), f"{last} {END}"])


def claims(text: str) -> list[Claim] | None:
    """What a workflow claims, in its order; None where it is not in the form."""
    words = text.split()
    if len(words) % 3 != 2 or words[-1] != END or words[-2] not in NUMBERS:
        return None
    parsed: list[Claim] = []
    before = START
    for place in range(0, len(words) - 2, 3):
        line, action, guard = words[place : place + 3]
        if line not in NUMBERS or action not in ACTIONS or guard not in GUARDS:
            return None
        parsed += [
            Claim(Fact("next", before, action), (place, place + 1)),
            Claim(Fact("step", action), (place + 1,)),
            Claim(Fact("guard", action, guard), (place + 2,)),
        ]
        before = action
    parsed.append(Claim(Fact("next", before, END), (len(words) - 2, len(words) - 1)))
    return parsed


def facts_of(page: Page) -> Counter[Fact]:
    """What is so by a page."""
    return Counter(claim.fact for claim in claims(written(page.cited)) or [])


def expected_f1(chances: Sequence[float], facts: int) -> float:
    """F1 of claims that are right with these chances, where the page tells so many `facts`.

    What is left out lowers it as what is wrong does, so that saying little does not pay.
    """
    return 2 * sum(chances) / (len(chances) + facts) if chances else 0.0


def decided(text: str, page: Page) -> list[float]:
    """1 or 0 for each claim of a workflow, by the page; a second time the same is wrong."""
    left = facts_of(page)
    flags = []
    for claim in claims(text) or []:
        flags.append(float(left[claim.fact] > 0))
        left[claim.fact] -= 1
    return flags


def facts_f1(text: str, page: Page) -> float:
    """How much of what a workflow claims is right and of what is right is claimed: 0 to 1."""
    return expected_f1(decided(text, page), facts_of(page).total())


def marks(text: str, page: Page) -> dict[str, float]:
    """The paper's five marks, 1 to 5, by simple measures; all 1 where it is not in the form."""
    own_claims, facts = claims(text) or [], facts_of(page)
    right = decided(text, page)
    names = [c.fact.about for c in own_claims if c.fact.kind == "step"]
    arrows = [one for c, one in zip(own_claims, right, strict=True) if c.fact.kind == "next"]
    shares = {
        "relevance": _share([name in dict(page.steps) for name in names]),
        "coverage": sum(right) / facts.total(),
        "accuracy": _share(right),
        "coherence": _share(arrows),
        "conciseness": len(set(names)) / max(len(names), len(page.steps)) if names else 0.0,
    }
    return {name: 1 + 4 * (share if own_claims else 0.0) for name, share in shares.items()}


def _share(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
