"""Checks that others of the same kind have and one has not: by the share of the others."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.procedure.checks.check import Check

Embed = Callable[[Sequence[str]], NDArray[Any]]
"""Texts to rows of unit length, in order."""

LEAST_PEERS, MOST_PEERS = 3, 6
NEAR_PEERS = 0.65
"""Cosine of what two pages treat from which they are of a kind: with less, more is told that does
not belong to the fault."""
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
    """As the first of them says it."""
    have: int
    of: int
    sources: tuple[tuple[Peer, Check], ...]
    """One of each peer that has it."""

    @property
    def share(self) -> float:
        """Of the peers that have it, 0–1."""
        return self.have / self.of


@dataclass
class _Kind:
    """One check in the words of several."""

    row: int
    sources: dict[str, tuple[Peer, Check]] = field(default_factory=dict)


def missing_checks(
    own: Sequence[Check], peers: Sequence[Peer], embed: Embed
) -> tuple[MissingCheck, ...]:
    """At most `MOST`, those of the largest share first; none with fewer than `LEAST_PEERS`."""
    if len(peers) < LEAST_PEERS:
        return ()
    told = [(peer, check) for peer in peers for check in peer.checks]
    checks = [*(check for _, check in told), *own]
    if not told:
        return ()
    vectors = embed([check.text for check in checks])
    alike = _Alike(checks, np.asarray(vectors))
    kinds: list[_Kind] = []
    for row, (peer, check) in enumerate(told):
        kind = next((k for k in kinds if alike.are_one(k.row, row)), None)
        if kind is None:
            kinds.append(kind := _Kind(row))
        kind.sources.setdefault(peer.id, (peer, check))
    enough = max(LEAST_PEERS, LEAST_SHARE * len(peers))
    rows = range(len(told), len(checks))
    found = [
        MissingCheck(checks[k.row].text, len(k.sources), len(peers), tuple(k.sources.values()))
        for k in kinds
        if len(k.sources) >= enough and not any(alike.are_one(k.row, own_row) for own_row in rows)
    ]
    return tuple(sorted(found, key=lambda each: -each.have)[:MOST])


@dataclass(frozen=True)
class _Alike:
    checks: Sequence[Check]
    vectors: NDArray[Any]

    def are_one(self, one: int, other: int) -> bool:
        a, b = self.checks[one], self.checks[other]
        if a.look and a.look == b.look:
            return True
        cosine = float(self.vectors[one] @ self.vectors[other])
        least = min(len(a.subject), len(b.subject))
        is_shared = least > 0 and len(a.subject & b.subject) >= SHARED * least
        return cosine >= SAME or (cosine >= NEAR and is_shared)


def why_none(peers: Sequence[object], found: Iterable[object]) -> str:
    """Why nothing is told; empty where something is."""
    if any(True for _ in found):
        return ""
    if len(peers) < LEAST_PEERS:
        others = {0: "no other", 1: "only one other"}.get(len(peers), f"only {len(peers)} others")
        return f"{others} of this kind: too few to compare with"
    return f"nothing that most of {len(peers)} others check is missing"
