"""Inspections of a workflow, whatever their method, and those that only its peers have."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.kit.teaching.teacher import are_enough
from services.kit.value import Value
from services.language.words import tokenise
from services.workflow.model import Citation, StepKind, Workflow
from services.workflow.plain import plain
from services.workflow.read_only import is_read_only_step

_METHOD = re.compile(
    r"\b(?:using|via|with the (?:command|following)|by running|in order to)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_STOP_WORDS = frozenset(
    tokenise(
        "is are was were be been being do does did has have had can could will would should may"
        " must the a an any all each this that these those it its they them there then now still"
        " also please which what whether if when not no yes or and of on in at for to from by with"
        " as check verify confirm ensure inspect examine review look compare determine identify"
        " validate test monitor observe view see find get list show display investigate query read"
        " following command output result issue problem page step up ok good fine bad healthy"
    )
)
"""Words that say how something is looked at, or say nothing of it."""


_LEAST_SUBJECT = 2
"""Words of a check's subject; one alone says too little."""
_NAME = re.compile(r"[A-Za-z][\w./-]*(?:=[A-Za-z][\w./-]*)?")
_LEAST_NAMES = 3
"""Words of a command that say what it looks at: program, verb, object."""
_GENERIC_QUESTION = re.compile(
    r"(?:is (?:this|the problem)\b|which of these\b|does this (?:concern|apply)\b|can\b|see\b"
    r"|(?:is|has|was|did) (?:the |this |that |it )?(?:issue|problem|alert|fault|error)?\s*"
    r"(?:been |still )?(?:resolved|fixed|gone|help|clear|fir)|note\b|refer\b|read\b(?! the log))",
    re.IGNORECASE,
)


class Check(Value):
    """One thing that is looked at."""

    text: str
    """The step or question, as the page has it."""
    citations: tuple[Citation, ...] = ()
    commands: tuple[str, ...] = ()
    """Commands of that step."""
    teacher: str = ""
    """Person or source that made it on a ticket; empty for a page's, which is a source itself."""

    @cached_property
    def subject(self) -> frozenset[str]:
        """Stems of the words that name what is looked at."""
        return frozenset(tokenise(_METHOD.sub("", plain(self.text)))) - _STOP_WORDS

    @cached_property
    def bare_command(self) -> str:
        """The first command without options and placeholders; empty if too little is left."""
        words = self.commands[0].split() if self.commands else []
        names = [word for word in words if _NAME.fullmatch(word)]
        return " ".join(names) if len(names) >= _LEAST_NAMES else ""


def checks_of(workflow: Workflow) -> list[Check]:
    """Return the questions of a workflow, and its steps that only look, in their order.

    Not which of its cases holds, nor whether a remedy helped: every page asks that.
    """
    checks = (
        Check(text=plain(step.text), citations=step.citations, commands=step.commands)
        for step in workflow.steps
        if step.kind is StepKind.DECISION
        or (step.kind is StepKind.PROCESS and is_read_only_step(step))
    )
    return [
        each
        for each in checks
        if (len(each.subject) >= _LEAST_SUBJECT or each.bare_command)
        and not _GENERIC_QUESTION.match(each.text)
    ]


Embed = Callable[[Sequence[str]], NDArray[Any]]
"""A function from texts to rows of unit length, in order."""

LEAST_PEERS, MOST_PEERS = 3, 6
NEAR_PEERS = 0.65
"""The cosine of what two pages treat from which they are of one kind.

With less, more is suggested that does not belong to the fault.
"""
LEAST_SHARE = 0.6
MOST = 5
SAME, NEAR, SHARED = 0.75, 0.5, 0.6
"""Two checks are one from the first cosine on whatever their words, and from the second where so
much of the shorter one's subject is in both; or where they look by the same command."""


@dataclass(frozen=True)
class Peer:
    """Another page, or a past ticket, of the same kind."""

    id: str
    title: str
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class MissingCheck:
    """A check that most peers have."""

    text: str
    """The wording of the first peer that has it."""
    have: int
    of: int
    sources: tuple[tuple[Peer, Check], ...]
    """One check of each peer that has it."""

    @property
    def share(self) -> float:
        """The share of the peers that have it, 0–1."""
        return self.have / self.of


@dataclass
class _CheckGroup:
    """One check in the words of several peers."""

    row: int
    sources: dict[str, tuple[Peer, Check]] = field(default_factory=dict)


def missing_checks(
    own: Sequence[Check], peers: Sequence[Peer], embed: Embed
) -> tuple[MissingCheck, ...]:
    """Return at most `MOST` missing checks, those of the largest share first.

    None with fewer than `LEAST_PEERS` peers, nor what one person alone made on tickets.
    """
    if len(peers) < LEAST_PEERS:
        return ()
    peer_checks = [(peer, check) for peer in peers for check in peer.checks]
    checks = [*(check for _, check in peer_checks), *own]
    if not peer_checks:
        return ()
    vectors = embed([check.text for check in checks])
    likeness = _Likeness(checks, np.asarray(vectors))
    groups: list[_CheckGroup] = []
    for row, (peer, check) in enumerate(peer_checks):
        group = next((k for k in groups if likeness.is_same(k.row, row)), None)
        if group is None:
            groups.append(group := _CheckGroup(row))
        group.sources.setdefault(peer.id, (peer, check))
    enough = max(LEAST_PEERS, LEAST_SHARE * len(peers))
    rows = range(len(peer_checks), len(checks))
    missing = [
        MissingCheck(checks[k.row].text, len(k.sources), len(peers), tuple(k.sources.values()))
        for k in groups
        if len(k.sources) >= enough
        and are_enough(check.teacher or peer.id for peer, check in k.sources.values())
        and not any(likeness.is_same(k.row, own_row) for own_row in rows)
    ]
    return tuple(sorted(missing, key=lambda each: -each.have)[:MOST])


@dataclass(frozen=True)
class _Likeness:
    checks: Sequence[Check]
    vectors: NDArray[Any]

    def is_same(self, one: int, other: int) -> bool:
        a, b = self.checks[one], self.checks[other]
        if a.bare_command and a.bare_command == b.bare_command:
            return True
        cosine = float(self.vectors[one] @ self.vectors[other])
        least = min(len(a.subject), len(b.subject))
        is_shared = least > 0 and len(a.subject & b.subject) >= SHARED * least
        return cosine >= SAME or (cosine >= NEAR and is_shared)


def reason_for_none(peers: Sequence[object], missing: Iterable[object]) -> str:
    """Return the reason why no check is missing; empty if one is."""
    if any(True for _ in missing):
        return ""
    if len(peers) < LEAST_PEERS:
        others = {0: "no other", 1: "only one other"}.get(len(peers), f"only {len(peers)} others")
        return f"{others} of this kind: too few to compare with"
    return f"nothing that most of {len(peers)} others check is missing"
