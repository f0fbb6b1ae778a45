"""Searches: started for tickets that no workflow fits, steered by people."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from services.contracts.gateway import TicketDetail, Tickets
from services.contracts.screened_ticket import screened
from services.contracts.searching import (
    NodeState,
    SearchDetail,
    SearchExpert,
    SearchMeans,
    SearchOutcome,
    SearchPruning,
    SearchRequest,
    SearchSummary,
    StartSearch,
)
from services.executor.search.answering import answer_of
from services.executor.search.events import Kind, NewEvent
from services.executor.search.experts import Expert, experts_of
from services.executor.search.search import Change, Limits, Search, SearchTicket
from services.executor.search.store import SearchMovedError, SearchStore, StoredSearch
from services.executor.search.views import detail_of
from services.executor.settings import SearchSettings
from services.executor.tools.catalogue import BadCatalogueError, Catalogue
from services.executor.tools.tool import Effect
from services.kit.access.caller import current_caller
from services.kit.clock import Clock
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.kit.ids import time_ordered_id
from services.kit.observability.redaction import redacted, redacted_field

_TRIES = 5
"""How often a person's act is tried anew while the search goes on beside it."""
MOST_TEXT = 6_000
"""Characters of a ticket's text that a search knows."""
NO_MODEL = (
    "a search needs a language model, and none is set: FLOWXPERT_MODEL_URL and _NAME, or"
    " FLOWXPERT_MODEL_GGUF"
)


class SearchRefusedError(ConflictError):
    """No search can be started so."""


class SearchOverError(ConflictError):
    """The search is over: it is not steered any more."""


class SearchService:
    """Implements `Searching`."""

    def __init__(
        self,
        store: SearchStore,
        *,
        tickets: Tickets,
        catalogue: Callable[[], Catalogue],
        folder: Path | None,
        clock: Clock,
        settings: SearchSettings,
        has_model: bool,
    ) -> None:
        """`folder`: of the catalogue, with the experts' files."""
        self._store = store
        self._tickets = tickets
        self._catalogue = catalogue
        self._folder = folder
        self._clock = clock
        self._settings = settings
        self._has_model = has_model

    def means(self) -> SearchMeans:
        """See `Searching.means`."""
        try:
            catalogue = self._catalogue()
            experts = experts_of(self._folder, catalogue)
        except BadCatalogueError as error:
            return SearchMeans(has_model=self._has_model, problem=str(error))
        return SearchMeans(
            has_model=self._has_model,
            experts=tuple(SearchExpert(**each.model_dump()) for each in experts),
            problem=self._problem(experts),
            at_once=catalogue.policy.searches.at_once,
        )

    def start(self, wanted: StartSearch) -> SearchDetail:
        """See `Searching.start`."""
        catalogue = self._catalogue()
        experts = experts_of(self._folder, catalogue)
        if why := self._problem(experts):
            raise SearchRefusedError(why)
        if wanted.at_once and not catalogue.policy.searches.at_once:
            raise SearchRefusedError("the policy lets no search begin by itself")
        ticket = self._tickets.ticket(wanted.ticket_id)
        if not ticket.status.is_final:
            raise SearchRefusedError("the ticket's walk is not over: it may get a workflow yet")
        search = self._made(ticket, experts, catalogue)
        self._store.start(search, self._clock.now())
        return self.search(search.id)

    def search(self, search_id: str) -> SearchDetail:
        """See `Searching.search`."""
        return detail_of(self._store.load(search_id), self._clock.now())

    def searches(self, ticket_id: str = "") -> list[SearchSummary]:
        """See `Searching.searches`."""
        return self._store.of_ticket(ticket_id) if ticket_id else self._store.latest()

    def prune(self, search_id: str, pruning: SearchPruning) -> SearchDetail:
        """See `Searching.prune`."""

        def event(stored: StoredSearch) -> NewEvent | None:
            node = stored.state.nodes.get(pruning.node)
            if node is None:
                raise NotFoundError(f"the search has no node {pruning.node}")
            if node.state is NodeState.PRUNED:
                return None
            return NewEvent(Kind.PRUNED, node.id, by=current_caller().name)

        return self._add(search_id, event)

    def ask_for(self, search_id: str, request: SearchRequest) -> SearchDetail:
        """See `Searching.ask_for`."""

        def event(stored: StoredSearch) -> NewEvent:
            if request.expert and request.expert not in stored.search.expert_named:
                known = ", ".join(stored.search.expert_named)
                raise InvalidInputError(f"there is no expert {request.expert!r}: {known}")
            what = redacted(" ".join(request.what.split()))
            facts = {"what": what, "expert": request.expert}
            return NewEvent(Kind.REQUESTED, facts=facts, by=current_caller().name)

        return self._add(search_id, event)

    def pause(self, search_id: str) -> SearchDetail:
        """See `Searching.pause`."""
        return self._act(search_id, Kind.PAUSED)

    def resume(self, search_id: str) -> SearchDetail:
        """See `Searching.resume`."""
        return self._act(search_id, Kind.RESUMED)

    def take_over(self, search_id: str) -> SearchDetail:
        """See `Searching.take_over`."""
        return self._act(search_id, Kind.TAKEN_OVER)

    def cancel(self, search_id: str) -> SearchDetail:
        """See `Searching.cancel`."""
        by = current_caller().name

        def event(stored: StoredSearch) -> NewEvent:
            answer = answer_of(stored.search, stored.state, None)
            facts = {
                "outcome": SearchOutcome.CANCELLED.value,
                "why": f"ended by {by}",
                "answer": answer.model_dump(mode="json"),
            }
            return NewEvent(Kind.ENDED, facts=facts, by=by)

        return self._add(search_id, event)

    def _problem(self, experts: tuple[Expert, ...]) -> str:
        if not self._has_model:
            return NO_MODEL
        if not experts:
            return "no expert has a tool: the executor's catalogue has none that only looks"
        return ""

    def _made(
        self, ticket: TicketDetail, experts: tuple[Expert, ...], catalogue: Catalogue
    ) -> Search:
        caller, settings = current_caller(), self._settings
        names = {name for expert in experts for name in expert.tools}
        denied = set(catalogue.policy.denied_targets)
        return Search(
            id=time_ordered_id(),
            ticket=ticket_of(ticket),
            experts=experts,
            tools=tuple(tool for tool in catalogue.tools if tool.name in names),
            changes=tuple(
                Change(
                    name=tool.name,
                    description=tool.description,
                    target=tool.target,
                    parameters=tuple(tool.parameters),
                )
                for tool in catalogue.tools
                if tool.effect is Effect.CHANGE
            ),
            targets={each.name: each.kind for each in catalogue.targets if each.name not in denied},
            limits=Limits(
                depth=settings.depth,
                width=settings.width,
                calls=settings.calls,
                questions=settings.questions,
                tokens=settings.tokens,
                within_s=settings.within_s,
                silences=settings.silences,
                answer_within_s=settings.answer_within_s,
                answer_tokens=settings.answer_tokens,
            ),
            started_by=caller.name,
            started_at=datetime.fromtimestamp(self._clock.now(), UTC),
        )

    def _act(self, search_id: str, kind: Kind) -> SearchDetail:
        return self._add(search_id, lambda _: NewEvent(kind, by=current_caller().name))

    def _add(self, search_id: str, make: Callable[[StoredSearch], NewEvent | None]) -> SearchDetail:
        """Add what a person does, though the search may go on beside it; None: it is so already."""
        for last in range(_TRIES - 1, -1, -1):
            stored = self._store.load(search_id)
            if stored.state.outcome is not None:
                raise SearchOverError("the search is over")
            event = make(stored)
            try:
                if event is not None:
                    self._store.append(stored, [event], self._clock.now())
                break
            except SearchMovedError:
                if not last:
                    raise
        return self.search(search_id)


def ticket_of(ticket: TicketDetail) -> SearchTicket:
    """What a search may know of a ticket: no secrets, and nothing that speaks to a model."""
    told = screened(ticket).ticket
    text = redacted(told.description)
    return SearchTicket(
        id=ticket.id,
        title=redacted(told.title)[:400],
        text=text[:MOST_TEXT],
        labels={name: str(redacted_field(name, value)) for name, value in told.labels.items()},
    )
