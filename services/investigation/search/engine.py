"""Engine of searches: the model is asked, experts look, and answers are stored before their use."""

from collections.abc import Callable

from services.contracts.execution import Suspended
from services.contracts.retrieval import Retrieval, RetrieveRequest
from services.execution.adapters.port import (
    NotSeenError,
    NotSentError,
    StoppedError,
    UnknownEffectError,
)
from services.execution.engine import LEASE_S, EventEngine, Wait
from services.execution.tool_caller import ToolCaller
from services.execution.tools.outputs import ParsedOutput
from services.execution.tools.tool import BadArgumentError, ToolEffect
from services.investigation.search.events import NewSearchEvent, SearchEventKind
from services.investigation.search.model_questions import PROMPTS, schema_of
from services.investigation.search.moves import (
    Ask,
    Move,
    SearchLook,
    next_move,
)
from services.investigation.search.search import Expert
from services.investigation.search.store import LostSearchError, SearchStore, StoredSearch
from services.kit.clock import Clock
from services.kit.errors import FlowXpertError
from services.kit.observability.redaction import redact
from services.llm.chat_model import (
    BudgetExceededError,
    ChatModel,
    ChatRequest,
    ModelRefusedError,
    estimate_tokens,
)

SUSPENSION_RETRY_S = 30.0
"""Seconds before a search looks again if runs are still suspended."""
LOOKUP_WITHIN_S = 60.0
TOP_CHUNKS = 6
LINES_OF_CHUNK = 25

MOST_OF_ANSWER = 40_000
"""Most characters of a model's answer that are stored; no usable answer has as many."""


class SearchEngine(EventEngine[StoredSearch, Ask | SearchLook]):
    """Engine of searches; it gives others their turn after each answer of the model."""

    def __init__(
        self,
        store: SearchStore,
        calling: ToolCaller,
        retrieval: Retrieval,
        model: ChatModel | None,
        clock: Clock,
        *,
        suspension: Callable[[], Suspended | None] = lambda: None,
    ) -> None:
        """Wire the engine.

        Without a model a search waits, and ends by its limits; `suspension` is that of all runs.
        """
        super().__init__(store, clock, suspension)
        self._store = store
        self._calling = calling
        self._retrieval = retrieval
        self._model = model

    def advance(self, search_id: str) -> None:
        """Carry the search on until the model has answered once, or it waits or ends."""
        self.carry_on(search_id)

    def _next_move(self, stored: StoredSearch, suspension: Suspended | None, now: float) -> Move:
        if suspension:
            why = f"all runs and searches stand still, by {suspension.by}"
            return Wait(now + SUSPENSION_RETRY_S, why)
        return next_move(stored.search, stored.state, now)

    def _carry_out(self, stored: StoredSearch, move: Ask | SearchLook, driver: str) -> bool:
        if isinstance(move, Ask):  # then others get their turn: a model takes its time
            self._ask(stored, move, driver)
            return False
        return self._look(stored, move, driver)

    def _ask(self, stored: StoredSearch, move: Ask, driver: str) -> None:
        limits = stored.search.limits
        request = ChatRequest(
            messages=move.messages,
            temperature=0,
            max_tokens=limits.answer_tokens,
            json_schema=schema_of(move.stage),
            prompt=PROMPTS[move.stage].label,
            timeout_s=limits.answer_within_s,
        )
        facts: dict[str, object] = {"stage": move.stage.value, "prompt": request.prompt}
        has_lease = self._store.leases.acquire(
            stored.search.id, driver, LEASE_S + limits.answer_within_s
        )
        if not has_lease:
            raise LostSearchError(f"another worker drives the search {stored.search.id}")
        try:
            if self._model is None:
                raise ModelRefusedError("no language model is set any more")
            response = self._model.complete(request)
        except FlowXpertError as error:
            is_final = isinstance(error, ModelRefusedError | BudgetExceededError)
            facts |= {"why": str(error)[:300], "is_final": is_final}
            event = NewSearchEvent(SearchEventKind.NOT_ANSWERED, move.node, facts)
        else:
            text = redact(response.samples[0].text[:MOST_OF_ANSWER])
            contents = [message.content for message in request.messages]
            spent = response.usage.total or estimate_tokens([*contents, text])
            facts |= {"after": stored.state.seq, "text": text, "tokens": spent}
            event = NewSearchEvent(SearchEventKind.ANSWERED, move.node, facts)
        self._store.record(stored, event, self._clock.now(), driver=driver, requeues=True)

    def _look(self, stored: StoredSearch, move: SearchLook, driver: str) -> bool:
        """Look; return False if it has to wait for others, which a search by itself does."""
        search, call = stored.search, move.call
        facts = call.facts
        if (
            search.at_once
            and not call.is_lookup
            and (
                reached := self._take_look(
                    stored, driver, search.ticket.id, call.target, self._calling.read_policy
                )
            )
        ):
            if reached.until is not None:
                return False
            facts |= {"why": reached.why}
            event = NewSearchEvent(SearchEventKind.NOT_OBSERVED, move.node, facts)
            self._store.record(stored, event, self._clock.now(), driver=driver)
            return True
        within = LOOKUP_WITHIN_S if call.is_lookup else search.tool_named[call.tool].timeout_s
        if not self._store.leases.acquire(search.id, driver, LEASE_S + within):
            raise LostSearchError(f"another worker drives the search {search.id}")
        try:
            output = self._observe(stored, move)
        except FlowXpertError as error:
            is_of_call = isinstance(
                error, NotSeenError | NotSentError | UnknownEffectError | BadArgumentError
            )
            if not is_of_call and not call.is_lookup:
                raise
            facts |= {"why": str(error)}
            event = NewSearchEvent(SearchEventKind.NOT_OBSERVED, move.node, facts)
        else:
            lines = {"lines": list(output.lines), "is_cut": output.is_cut}
            facts |= {"fields": dict(output.fields), **lines}
            event = NewSearchEvent(SearchEventKind.OBSERVED, move.node, facts)
        self._store.record(stored, event, self._clock.now(), driver=driver)
        return True

    def _observe(self, stored: StoredSearch, move: SearchLook) -> ParsedOutput:
        search, call = stored.search, move.call
        if call.is_lookup:
            expert = search.expert_named[stored.state.nodes[move.node].expert]
            return look_up(self._retrieval, call.arguments["query"], expert)
        tool = search.tool_named[call.tool]
        if (
            tool.effect is not ToolEffect.READ
        ):  # the search's own value says so; nothing else is sent
            raise StoppedError(f"{tool.name} changes something")
        return self._calling.call(tool, call.target, call.arguments, is_whole=True)


def look_up(retrieval: Retrieval, query: str, expert: Expert | None) -> ParsedOutput:
    """Return what documents say, line by line, from those that the expert may read.

    Raises:
        UnavailableError: The knowledge did not answer.
    """
    request = RetrieveRequest(title=query, top_chunks=3 * TOP_CHUNKS, top_nodes=1)
    chunks = [
        each.chunk
        for each in retrieval.retrieve(request).chunks
        if expert is None or expert.may_read(each.chunk.span.document_id)
    ]
    lines: list[str] = []
    for chunk in chunks[:TOP_CHUNKS]:
        span = chunk.span
        heading = " > ".join(chunk.heading_path)
        lines.append(f"[{span.document_id} {span.start_line}-{span.end_line}] {heading}")
        text = [line[:300] for line in chunk.text.splitlines() if line.strip()]
        lines += text[:LINES_OF_CHUNK]
    return ParsedOutput(fields={}, lines=tuple(lines), is_cut=len(chunks) > TOP_CHUNKS)
