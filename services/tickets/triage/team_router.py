"""Team router: learns from past tickets, and decides which team a ticket goes to."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft
from services.contracts.triage import HandOver, PastTicket, TriageDecision
from services.kit.errors import FlowXpertError
from services.kit.sql.database import Database
from services.kit.teaching.ledger import withdrawals_state, withdrawn_subjects
from services.knowledge.model import Case
from services.knowledge.ports import Embedder, GraphStore
from services.llm.chat_model import ChatModel
from services.tickets.settings import GatewaySettings
from services.tickets.ticket.events import TEAM
from services.tickets.ticket.noise_reduction import reduce_noise
from services.tickets.triage.by_model import TriageModel
from services.tickets.triage.choice import (
    RoutingLimits,
    choose_by_model,
    choose_by_ranker,
)
from services.tickets.triage.routing.cases import case_of
from services.tickets.triage.routing.router import RoutingModel
from services.tickets.triage.teams import Teams

LEARN_TASK = "gateway.learn_cases"
_LEAST_CASES = 2

_log = structlog.get_logger()

WriteNote = Callable[[str], HandOver]
"""Function that writes the hand-over note around the summary of the ticket."""


@dataclass(frozen=True)
class _TrainedModel:
    model: RoutingModel
    state: tuple[object, ...]
    at: float


class TeamRouter:
    """Router of tickets to teams, one per process: threads share the model, one trains it."""

    def __init__(
        self,
        database: Database,
        graph: GraphStore,
        embedder: Embedder,
        settings: GatewaySettings,
        *,
        model: ChatModel | None = None,
    ) -> None:
        self.teams = Teams(database, settings.teams_file)
        self._graph = graph
        self._embedder = embedder
        self._database = database
        self._settings = settings
        self._limits = RoutingLimits(settings.triage_sure_from, settings.triage_abstain_below)
        self._model = TriageModel(model) if model else None
        self._lock = threading.Lock()
        self._trained: _TrainedModel | None = None
        self._past: tuple[object, frozenset[str]] = (None, frozenset())

    def decide(
        self, ticket: ScreenedTicket, note: WriteNote, *, within_s: float = 0.0
    ) -> TriageDecision | None:
        """Decide which team the ticket is for; None if there is nothing to decide by.

        That is so while fewer than two past tickets are learned. A model is asked if one is set and
        `within_s` seconds are left for it. If the graph store does not answer, what was learned
        before counts.
        """
        routing_model = self._current_model()
        if routing_model is None:
            return None
        title, discussion = _texts(ticket)
        model = self._model if within_s > 0 else None
        summary = (
            model.summarise(title, discussion, within_s)
            if model
            else reduce_noise(title, discussion)
        )
        whole = f"{title}\n{discussion}".strip()
        if model is None:
            chosen = choose_by_ranker(routing_model, summary, whole, self._limits)
        else:
            chosen = choose_by_model(
                routing_model,
                model,
                summary,
                whole,
                descriptions={team.name: team.description for team in self.teams.all()},
                limits=self._limits,
                timeout_s=within_s,
            )
        return TriageDecision(
            team=chosen.team,
            chance=chosen.teams[0].chance if chosen.teams else 0.0,
            candidates=chosen.teams,
            by=chosen.by,
            rounds=chosen.rounds,
            note=note(summary),
            at=datetime.now(UTC),
        )

    def team_names(self) -> tuple[str, ...]:
        """List the names of declared teams and of those that took past tickets.

        If the graph store does not answer, the teams read before count.
        """
        try:
            state = self._state()
            if state != self._past[0]:
                self._past = (state, frozenset(case.team for case in self._cases()))
        except FlowXpertError as error:
            _log.warning("gateway.past_teams_not_read", error=error.name)
        declared = {team.name for team in self.teams.all()}
        return tuple(sorted(declared | self._past[1], key=str.casefold))

    def learn_cases(self, cases: Sequence[Mapping[str, Any]]) -> None:
        """Write past tickets into the graph and learn them, so that no walk has to wait.

        `cases` come from `case_arguments`; the same cases again change nothing. Cases that come
        soon after others are learned by the first use after `triage_learn_every_s`.
        """
        self._graph.put_cases([case_of(**case) for case in cases])
        self._current_model()

    def forget_tickets(self, ticket_ids: Sequence[str]) -> None:
        """Remove what was learned of these tickets; the next use learns anew without them."""
        self._graph.remove_cases([case_id(ticket_id) for ticket_id in ticket_ids])
        self._trained = None

    def _current_model(self) -> RoutingModel | None:
        """Return the model, trained anew if graph or teams have changed and it is old enough."""
        trained = self._trained
        if trained and time.monotonic() - trained.at < self._settings.triage_learn_every_s:
            return trained.model
        try:
            with self._lock:
                return self._train()
        except FlowXpertError as error:
            _log.warning("gateway.triage_not_learned", error=error.name)
            return trained.model if trained else None

    def _train(self) -> RoutingModel | None:
        teams = self.teams.all()
        state = (*self._state(), teams)
        trained = self._trained
        if trained is None or trained.state != state:
            cases = self._cases()
            if len(cases) < _LEAST_CASES:
                return None
            trained = _TrainedModel(RoutingModel(cases, teams, self._embedder), state, 0.0)
            _log.info("gateway.triage_learned", cases=len(cases), teams=len(trained.model.teams))
        self._trained = _TrainedModel(trained.model, state, time.monotonic())
        return trained.model

    def _state(self) -> tuple[object, ...]:
        """Return what changes with the past tickets, and with what is taken back of them."""
        with self._database.session() as session:
            return (self._graph.cases_state(), withdrawals_state(session))

    def _cases(self) -> list[Case]:
        """Return the newest past tickets, without those of callers whose teaching is taken back."""
        most = self._settings.triage_history
        with self._database.session() as session:
            withdrawn = withdrawn_subjects(session, TEAM)
        gone = {f"ticket:{each.removeprefix(TEAM)}" for each in withdrawn}
        return [case for case in self._graph.cases(most) if case.id not in gone] if most else []


def case_id(ticket_id: str) -> str:
    """Return the id of the past ticket that a ticket of this platform became."""
    return f"ticket:{ticket_id}"


def case_arguments(past: PastTicket, at: float) -> dict[str, Any]:
    """Return a past ticket, stripped of noise, as the arguments of the learning task."""
    ticket = TicketDraft(
        source="", external_id=past.id, title=past.title, description=past.description
    )
    text = reduce_noise(*_texts(ScreenedTicket(ticket)))
    return {"id_": past.id, "text": text, "team": past.team, "at": at}


def _texts(ticket: ScreenedTicket) -> tuple[str, str]:
    """Return the title and all other text, screened of instructions to a language model."""
    kept = ticket.for_model()
    return kept.title or kept.alert_name, kept.description
