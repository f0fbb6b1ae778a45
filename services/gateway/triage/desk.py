"""The triage desk: learns from past tickets, and says which team a ticket is for."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from services.contracts.screened_ticket import screened
from services.contracts.ticket import TicketDraft
from services.contracts.triage import HandOver, PastTicket, TriageDecision
from services.gateway.settings import GatewaySettings
from services.gateway.ticket.noise_reduction import reduce_noise
from services.gateway.triage.by_model import TriageModel
from services.gateway.triage.choice import Chosen, Limits, choose, choose_by_model
from services.gateway.triage.routing.cases import case_of
from services.gateway.triage.routing.router import Router
from services.gateway.triage.teams import Teams
from services.kit.errors import FlowXpertError
from services.kit.sql.database import Database
from services.knowledge.model import Case
from services.knowledge.ports import Embedder, GraphStore
from services.llm.chat_model import ChatModel

LEARN_TASK = "gateway.learn_cases"
_LEAST_CASES = 2

_log = structlog.get_logger()

Note = Callable[[str], HandOver]
"""Writes the note around the summary of the ticket."""


@dataclass(frozen=True)
class _Learned:
    router: Router
    state: tuple[object, ...]
    at: float


class TriageDesk:
    """One per process. Threads share what was learned; one at a time learns anew."""

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
        self._settings = settings
        self._limits = Limits(settings.triage_sure_from, settings.triage_abstain_below)
        self._model = TriageModel(model) if model else None
        self._turn = threading.Lock()
        self._learned: _Learned | None = None
        self._past: tuple[object, frozenset[str]] = (None, frozenset())

    def decide(
        self, ticket: TicketDraft, note: Note, *, within_s: float = 0.0
    ) -> TriageDecision | None:
        """Which team the ticket is for; None when no ticket was learned from and none is known.

        A model is asked where one is set and `within_s` seconds are left for it. A graph store that
        does not answer is answered by what was learned before.
        """
        router = self._router()
        if router is None:
            return None
        title, discussion = _texts(ticket)
        model = self._model if within_s > 0 else None
        summary = (
            model.summary(title, discussion, within_s) if model else reduce_noise(title, discussion)
        )
        chosen = self._chosen(router, summary, f"{title}\n{discussion}".strip(), model, within_s)
        return TriageDecision(
            team=chosen.team,
            chance=chosen.teams[0].chance if chosen.teams else 0.0,
            candidates=chosen.teams,
            by=chosen.by,
            rounds=chosen.rounds,
            note=note(summary),
            at=datetime.now(UTC),
        )

    def known_teams(self) -> tuple[str, ...]:
        """Names of the teams that are declared, and of those that took past tickets.

        A graph store that does not answer is answered by what was known before.
        """
        try:
            state = self._graph.cases_state()
            if state != self._past[0]:
                self._past = (state, frozenset(case.team for case in self._cases()))
        except FlowXpertError as error:
            _log.warning("gateway.past_teams_not_read", error=type(error).__name__)
        declared = {team.name for team in self.teams.all()}
        return tuple(sorted(declared | self._past[1], key=str.casefold))

    def take_in(self, cases: Sequence[Mapping[str, Any]]) -> None:
        """The job: write past tickets into the graph, and learn them, so that no walk has to wait.

        `cases` as `case_arguments` gives them; the same cases again change nothing. What comes soon
        after is learned when `triage_learn_every_s` is over, by whoever looks first.
        """
        self._graph.put_cases([case_of(**case) for case in cases])
        self._router()

    def _chosen(
        self, router: Router, summary: str, whole: str, model: TriageModel | None, within_s: float
    ) -> Chosen:
        if model is None:
            return choose(router, summary, whole, self._limits)
        return choose_by_model(
            router,
            model,
            summary,
            whole,
            descriptions={team.name: team.description for team in self.teams.all()},
            limits=self._limits,
            timeout_s=within_s,
        )

    def _router(self) -> Router | None:
        """What is learned, anew when the graph or the teams have changed and some time is over."""
        learned = self._learned
        if learned and time.monotonic() - learned.at < self._settings.triage_learn_every_s:
            return learned.router
        try:
            with self._turn:
                return self._learn()
        except FlowXpertError as error:
            _log.warning("gateway.triage_not_learned", error=type(error).__name__)
            return learned.router if learned else None

    def _learn(self) -> Router | None:
        teams = self.teams.all()
        state = (self._graph.cases_state(), teams)
        learned = self._learned
        if learned is None or learned.state != state:
            cases = self._cases()
            if len(cases) < _LEAST_CASES:
                return None
            learned = _Learned(Router(cases, teams, self._embedder), state, 0.0)
            _log.info("gateway.triage_learned", cases=len(cases), teams=len(learned.router.teams))
        self._learned = _Learned(learned.router, state, time.monotonic())
        return learned.router

    def _cases(self) -> list[Case]:
        most = self._settings.triage_history
        return self._graph.cases(most) if most else []


def case_arguments(past: PastTicket, at: float) -> dict[str, Any]:
    """A past ticket without its noise, as the job takes it in."""
    ticket = TicketDraft(
        source="", external_id=past.id, title=past.title, description=past.description
    )
    text = reduce_noise(*_texts(ticket))
    return {"id_": past.id, "text": text, "team": past.team, "at": at}


def _texts(ticket: TicketDraft) -> tuple[str, str]:
    """Title, and everything else that was said, without what speaks to a language model."""
    kept = screened(ticket).ticket
    return kept.title or kept.alert_name, kept.description
