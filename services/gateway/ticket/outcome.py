"""How a walk can end."""

from dataclasses import dataclass, field

from services.contracts.gateway import NearestDocument
from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import TicketStatus
from services.contracts.triage import TriageDecision
from services.gateway.ticket.question import Question
from services.gateway.walk.fit import Verdict


@dataclass(frozen=True)
class Planned:
    """Candidates, best first, at least one, each with how surely it is the answer."""

    ranked: tuple[ScoredCandidate, ...]
    verdicts: tuple[Verdict, ...]
    seconds: dict[str, float]
    questions: tuple[Question, ...] = ()
    """What an answer would make it better by, the best question first."""
    degraded: tuple[str, ...] = ()
    """What the walk went on without."""
    status: TicketStatus = field(default=TicketStatus.PLANNED, init=False)


@dataclass(frozen=True)
class Refused:
    """Nothing known fits."""

    reason: str
    nearest: tuple[NearestDocument, ...] = ()
    triage: TriageDecision | None = None
    """The team that it goes to instead."""
    questions: tuple[Question, ...] = ()
    degraded: tuple[str, ...] = ()
    status: TicketStatus = field(default=TicketStatus.REFUSED, init=False)


@dataclass(frozen=True)
class Failed:
    """The walk broke, and would break again."""

    reason: str
    status: TicketStatus = field(default=TicketStatus.FAILED, init=False)


Outcome = Planned | Refused | Failed
