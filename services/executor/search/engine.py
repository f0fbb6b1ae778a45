"""Drives searches: the model is asked, experts look, and each answer is kept before it is used."""

from collections.abc import Callable
from uuid import uuid4

import structlog

from services.contracts.execution import Suspended
from services.contracts.retrieval import Retrieval, RetrieveRequest
from services.executor.adapters.port import NotSentError, StoppedError, UnknownEffectError
from services.executor.calling import Calling
from services.executor.search.asks import label_of, schema_of
from services.executor.search.events import Kind, NewEvent
from services.executor.search.experts import Expert
from services.executor.search.moves import Ask, Look, Rest, Write, next_move
from services.executor.search.store import (
    LostSearchError,
    SearchMovedError,
    SearchStore,
    StoredSearch,
)
from services.executor.tools.outputs import Told
from services.executor.tools.tool import BadArgumentError, Effect
from services.kit.clock import Clock
from services.kit.errors import FlowXpertError
from services.kit.observability.redaction import redacted
from services.llm.chat_model import (
    BudgetExceededError,
    ChatModel,
    ChatRequest,
    ModelRefusedError,
)
from services.llm.tokens import estimated

HELD_FOR_S = 30.0
"""How long a worker counts as driving a search, beside the time that a question may take."""
AGAIN_S = 2.0
"""After which a worker looks again at a search that another one drives."""
STILL_S = 30.0
"""After which a search looks again whether all runs still stand still."""
LOOKUP_WITHIN_S = 60.0
TOP_CHUNKS = 6
LINES_OF_CHUNK = 25

MOST_OF_ANSWER = 40_000
"""Characters of a model's answer that are kept; no answer that can be used has as many."""

_log = structlog.get_logger()


class SearchEngine:
    """Carries searches on, on events in SQL, driven by the outbox."""

    def __init__(
        self,
        store: SearchStore,
        calling: Calling,
        retrieval: Retrieval,
        model: ChatModel | None,
        clock: Clock,
        *,
        suspension: Callable[[], Suspended | None] = lambda: None,
    ) -> None:
        """Without a model a search waits, and ends by its bounds; `suspension` of all runs."""
        self._store = store
        self._calling = calling
        self._retrieval = retrieval
        self._model = model
        self._clock = clock
        self._suspension = suspension

    def advance(self, search_id: str) -> None:
        """Carry it on until the model has answered once, it waits or ends.

        Called again, it goes on from its events.
        """
        driver, driving = str(uuid4()), self._store.driving
        if not driving.drive(search_id, driver, HELD_FOR_S):
            driving.come_again(search_id, AGAIN_S)
            return
        try:
            while self._goes_on(search_id, driver):
                pass
        except LostSearchError:
            _log.warning("executor.search_lost", search=search_id)
        finally:  # whatever went wrong, the task that is tried again finds it free
            driving.leave(search_id, driver)

    def _goes_on(self, search_id: str, driver: str) -> bool:
        """One move; False where the search waits."""
        stored, now = self._store.load(search_id), self._clock.now()
        if stored.state.outcome is None and (suspension := self._suspension()):
            why = f"all runs and searches stand still, by {suspension.by}"
            self._rest(stored, driver, now + STILL_S, why)
            return False
        move = next_move(stored.search, stored.state, now)
        try:
            match move:
                case Rest():
                    self._rest(stored, driver, move.until, move.why)
                    return False
                case Write():
                    self._store.append(stored, move.events, now, driver=driver)
                case Ask():  # then others get their turn: a model takes its time
                    self._ask(stored, move, driver)
                    return False
                case Look():
                    self._look(stored, move, driver)
        except SearchMovedError:
            return True
        return True

    def _rest(self, stored: StoredSearch, driver: str, until: float | None, why: str) -> None:
        after = self._clock.real(until - self._clock.now()) if until is not None else 0.0
        why = why or stored.waits_for
        self._store.driving.rest(stored.search.id, driver, until=until, why=why, after_s=after)

    def _ask(self, stored: StoredSearch, move: Ask, driver: str) -> None:
        limits = stored.search.limits
        request = ChatRequest(
            messages=move.messages,
            temperature=0,
            max_tokens=limits.answer_tokens,
            json_schema=schema_of(move.stage),
            prompt=label_of(move.stage),
            timeout_s=limits.answer_within_s,
        )
        facts: dict[str, object] = {"stage": move.stage.value, "prompt": request.prompt}
        held = self._store.driving.drive(
            stored.search.id, driver, HELD_FOR_S + limits.answer_within_s
        )
        if not held:
            raise LostSearchError(f"another worker drives the search {stored.search.id}")
        try:
            if self._model is None:
                raise ModelRefusedError("no language model is set any more")
            response = self._model.complete(request)
        except FlowXpertError as error:
            is_final = isinstance(error, ModelRefusedError | BudgetExceededError)
            facts |= {"why": str(error)[:300], "is_final": is_final}
            event = NewEvent(Kind.NOT_ANSWERED, move.node, facts)
        else:
            text = redacted(response.samples[0].text[:MOST_OF_ANSWER])
            asked = [message.content for message in request.messages]
            spent = response.usage.total or estimated([*asked, text])
            facts |= {"after": stored.state.seq, "text": text, "tokens": spent}
            event = NewEvent(Kind.ANSWERED, move.node, facts)
        self._store.record(stored.search, event, self._clock.now(), driver=driver, gives_back=True)

    def _look(self, stored: StoredSearch, move: Look, driver: str) -> None:
        search, call = stored.search, move.call
        facts = call.facts
        within = LOOKUP_WITHIN_S if call.is_lookup else search.tool_named[call.tool].timeout_s
        if not self._store.driving.drive(search.id, driver, HELD_FOR_S + within):
            raise LostSearchError(f"another worker drives the search {search.id}")
        try:
            told = self._told(stored, move)
        except (NotSentError, UnknownEffectError, BadArgumentError) as error:
            event = NewEvent(Kind.NOT_OBSERVED, move.node, {**facts, "why": str(error)})
        except FlowXpertError as error:
            if not call.is_lookup:
                raise
            event = NewEvent(Kind.NOT_OBSERVED, move.node, {**facts, "why": str(error)})
        else:
            facts |= {"fields": dict(told.fields), "lines": list(told.lines)}
            event = NewEvent(Kind.OBSERVED, move.node, {**facts, "is_cut": told.is_cut})
        self._store.record(search, event, self._clock.now(), driver=driver)

    def _told(self, stored: StoredSearch, move: Look) -> Told:
        search, call = stored.search, move.call
        if call.is_lookup:
            expert = search.expert_named[stored.state.nodes[move.node].expert]
            return looked_up(self._retrieval, call.arguments["query"], expert)
        tool = search.tool_named[call.tool]
        if tool.effect is not Effect.READ:  # the search's own value says so; nothing else is sent
            raise StoppedError(f"{tool.name} changes something")
        return self._calling.call(tool, call.target, call.arguments, is_whole=True)


def looked_up(retrieval: Retrieval, query: str, expert: Expert | None) -> Told:
    """What documents say, line by line, those that the expert may look into.

    Raises:
        UnavailableError: The knowledge did not answer.
    """
    request = RetrieveRequest(title=query, top_chunks=3 * TOP_CHUNKS, top_nodes=1)
    found = [
        each.chunk
        for each in retrieval.retrieve(request).chunks
        if expert is None or expert.may_read(each.chunk.span.document_id)
    ]
    lines: list[str] = []
    for chunk in found[:TOP_CHUNKS]:
        span = chunk.span
        heading = " > ".join(chunk.heading_path)
        lines.append(f"[{span.document_id} {span.start_line}-{span.end_line}] {heading}")
        text = [line[:300] for line in chunk.text.splitlines() if line.strip()]
        lines += text[:LINES_OF_CHUNK]
    return Told(fields={}, lines=tuple(lines), is_cut=len(found) > TOP_CHUNKS)
