"""Searches: started for tickets that no workflow fits, and steered by people."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from services.contracts.gateway import TicketDetail, Tickets
from services.contracts.screened_ticket import ScreenedTicket
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
from services.execution.settings import SearchSettings
from services.execution.tools.catalogue import BadCatalogueError, Catalogue
from services.execution.tools.tool import ToolEffect
from services.investigation.search.answer import build_answer
from services.investigation.search.events import NewSearchEvent, SearchEventKind
from services.investigation.search.search import (
    Expert,
    Search,
    SearchLimits,
    SearchTicket,
    SuggestibleTool,
    load_experts,
)
from services.investigation.search.store import SearchStore, StoredSearch
from services.investigation.search.views import detail_of
from services.kit.access.caller import current_caller
from services.kit.clock import Clock
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.kit.ids import time_ordered_id
from services.kit.observability.redaction import redact, redact_field

MOST_TEXT = 6_000
"""Most characters of a ticket's text in a search."""
NO_MODEL = (
    "a search needs a language model, and none is set: FLOWXPERT_MODEL_URL and _NAME, or"
    " FLOWXPERT_MODEL_GGUF"
)


class SearchRefusedError(ConflictError):
    """Error of a search that cannot be started so."""


class SearchOverError(ConflictError):
    """Error of steering a search that is over."""


class SearchService:
    """Implements `Searches`."""

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
        """Wire the service; `folder` is the catalogue's, with the experts' files."""
        self._store = store
        self._tickets = tickets
        self._catalogue = catalogue
        self._folder = folder
        self._clock = clock
        self._settings = settings
        self._has_model = has_model

    def means(self) -> SearchMeans:
        """See `Searches.means`."""
        try:
            catalogue = self._catalogue()
            experts = load_experts(self._folder, catalogue)
        except BadCatalogueError as error:
            return SearchMeans(has_model=self._has_model, problem=str(error))
        return SearchMeans(
            has_model=self._has_model,
            experts=tuple(SearchExpert(**each.model_dump()) for each in experts),
            problem=self._problem(experts),
            at_once=catalogue.policy.searches.at_once,
        )

    def start(self, wanted: StartSearch) -> SearchDetail:
        """See `Searches.start`."""
        ticket = self._tickets.ticket(wanted.ticket_id)
        catalogue = self._catalogue()
        experts = load_experts(self._folder, catalogue)
        if why := self._problem(experts):
            raise SearchRefusedError(why)
        if wanted.at_once and not catalogue.policy.searches.at_once:
            raise SearchRefusedError("the policy lets no search begin by itself")
        if not ticket.status.is_final:
            raise SearchRefusedError("the ticket's walk is not over: it may get a workflow yet")
        search = self._build_search(ticket, experts, catalogue)
        search = search.model_copy(update={"at_once": wanted.at_once})
        self._store.start(search, self._clock.now())
        return self.search(search.id)

    def search(self, search_id: str) -> SearchDetail:
        """See `Searches.search`."""
        return detail_of(self._store.load(search_id), self._clock.now())

    def searches(self, ticket_id: str = "") -> list[SearchSummary]:
        """See `Searches.searches`."""
        return self._store.of_ticket(ticket_id) if ticket_id else self._store.latest()

    def prune(self, search_id: str, pruning: SearchPruning) -> SearchDetail:
        """See `Searches.prune`."""

        def event(stored: StoredSearch) -> NewSearchEvent | None:
            node = stored.state.nodes.get(pruning.node)
            if node is None:
                raise NotFoundError(f"the search has no node {pruning.node}")
            if node.state is NodeState.PRUNED:
                return None
            return NewSearchEvent(SearchEventKind.PRUNED, node.id, by=current_caller().name)

        return self._add(search_id, event)

    def ask_for(self, search_id: str, request: SearchRequest) -> SearchDetail:
        """See `Searches.ask_for`."""

        def event(stored: StoredSearch) -> NewSearchEvent:
            if request.expert and request.expert not in stored.search.expert_named:
                names = ", ".join(stored.search.expert_named)
                raise InvalidInputError(f"there is no expert {request.expert!r}: {names}")
            what = redact(" ".join(request.what.split()))
            facts = {"what": what, "expert": request.expert}
            return NewSearchEvent(SearchEventKind.REQUESTED, facts=facts, by=current_caller().name)

        return self._add(search_id, event)

    def pause(self, search_id: str) -> SearchDetail:
        """See `Searches.pause`."""
        return self._act(search_id, SearchEventKind.PAUSED)

    def resume(self, search_id: str) -> SearchDetail:
        """See `Searches.resume`."""
        return self._act(search_id, SearchEventKind.RESUMED)

    def take_over(self, search_id: str) -> SearchDetail:
        """See `Searches.take_over`."""
        return self._act(search_id, SearchEventKind.TAKEN_OVER)

    def cancel(self, search_id: str) -> SearchDetail:
        """See `Searches.cancel`."""
        by = current_caller().name

        def event(stored: StoredSearch) -> NewSearchEvent:
            answer = build_answer(stored.search, stored.state, None)
            facts = {
                "outcome": SearchOutcome.CANCELLED.value,
                "why": f"ended by {by}",
                "answer": answer.model_dump(mode="json"),
            }
            return NewSearchEvent(SearchEventKind.ENDED, facts=facts, by=by)

        return self._add(search_id, event)

    def _problem(self, experts: tuple[Expert, ...]) -> str:
        if not self._has_model:
            return NO_MODEL
        if not experts:
            return "no expert has a tool: the executor's catalogue has none that only looks"
        return ""

    def _build_search(
        self, ticket: TicketDetail, experts: tuple[Expert, ...], catalogue: Catalogue
    ) -> Search:
        names = {name for expert in experts for name in expert.tools}
        denied = set(catalogue.policy.denied_targets)
        return Search(
            id=time_ordered_id(),
            ticket=ticket_of(ticket),
            experts=experts,
            tools=tuple(tool for tool in catalogue.tools if tool.name in names),
            changes=tuple(
                SuggestibleTool(
                    name=tool.name,
                    description=tool.description,
                    target=tool.target,
                    parameters=tuple(tool.parameters),
                )
                for tool in catalogue.tools
                if tool.effect is ToolEffect.CHANGE
            ),
            targets={each.name: each.kind for each in catalogue.targets if each.name not in denied},
            limits=SearchLimits.model_validate(self._settings, from_attributes=True),
            started_by=current_caller().name,
            started_at=datetime.fromtimestamp(self._clock.now(), UTC),
        )

    def _act(self, search_id: str, kind: SearchEventKind) -> SearchDetail:
        return self._add(search_id, lambda _: NewSearchEvent(kind, by=current_caller().name))

    def _add(
        self, search_id: str, make: Callable[[StoredSearch], NewSearchEvent | None]
    ) -> SearchDetail:
        def event(stored: StoredSearch) -> NewSearchEvent | None:
            if stored.state.outcome is not None:
                raise SearchOverError("the search is over")
            return make(stored)

        self._store.add_act(search_id, event, self._clock.now())
        return self.search(search_id)


def ticket_of(ticket: TicketDetail) -> SearchTicket:
    """Return what a search may use of a ticket: no secrets, no instructions to a model."""
    safe_ticket = ScreenedTicket(ticket).for_model()
    text = redact(safe_ticket.description)
    return SearchTicket(
        id=ticket.id,
        title=redact(safe_ticket.title)[:400],
        text=text[:MOST_TEXT],
        labels={name: str(redact_field(name, value)) for name, value in safe_ticket.labels.items()},
    )
