"""Searches on the simulated network: by experts over a tree, by a plain loop, or by no look."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

import yaml
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field, field_validator

from evaluation.benches.execution import World
from services.contracts.searching import NodeState, SearchAnswer, StartSearch
from services.deployment.embedded import Embedded
from services.execution.adapters.adapters import all_adapters
from services.execution.adapters.port import NotSentError, UnknownEffectError
from services.execution.settings import SearchSettings
from services.execution.tool_caller import ToolCaller
from services.execution.tools.catalogue import CachedCatalogue
from services.execution.tools.tool import BadArgumentError
from services.investigation.search.answer import build_answer
from services.investigation.search.engine import SearchEngine, look_up
from services.investigation.search.model_questions import (
    ModelClaim,
    ModelSuggestion,
    Plan,
    describe_observation,
    describe_targets,
    describe_ticket,
    describe_tools,
)
from services.investigation.search.search import RETRIEVE, Search
from services.investigation.search.service import SearchService
from services.investigation.search.state import Call, ExpertObservation, SearchState, SubtaskNode
from services.investigation.search.store import SearchStore
from services.investigation.search.views import quote_citations
from services.kit.clock import Clock
from services.kit.errors import FlowXpertError
from services.kit.migrations import ROOMS
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.kit.value import Value
from services.llm.chat_model import ChatModel, ChatRequest, Message, ModelAnswerError, Usage
from services.llm.prompts import load_prompt
from services.llm.structured import correction_turns, parse_answer
from services.simulator.faults import Fault, variants
from services.simulator.simulation import PAGES, Simulation

_LOOP = load_prompt("evaluation.material", "search_loop")
_DIRECT = load_prompt("evaluation.material", "search_direct")
_MOST_MISREAD = 3
_LOOKED_EVERY_S = 0.2
DAY_S = 86_400.0


class Arm(StrEnum):
    """Who searches."""

    OCE = "oce"
    """Experts over a tree, as the executor does."""
    LOOP = "loop"
    """One who acts and observes, with all tools."""
    DIRECT = "direct"
    """One who answers from the ticket alone."""


class Searched(Value):
    """What came of one search."""

    arm: Arm
    fault: str
    injected: str
    """What really broke, and where."""
    ticket: str
    outcome: str
    why: str
    cause: str
    cause_struck: str = ""
    claims: tuple[str, ...] = ()
    evidence: tuple[tuple[str, ...], ...] = ()
    """Of each claim, the lines that it cites."""
    struck: tuple[str, ...] = ()
    """Claims that are not in their lines, with why."""
    ruled_out: tuple[str, ...] = ()
    contradictions: int = 0
    suggestion: str = ""
    calls: int = 0
    """Of tools and into documents."""
    sent: tuple[str, ...] = ()
    """Lines that devices were sent."""
    changes: tuple[str, ...] = ()
    """Of these, what changed a device: none should."""
    questions: int = 0
    tokens: int = 0
    """Estimated: a token for four characters."""
    backtracks: int = 0
    misread: int = 0
    seconds: float = 0.0
    looks: tuple[str, ...] = ()
    """In their order, each with what became of it."""


@dataclass(frozen=True)
class Scene:
    """A broken network with a ticket that no page treats, and who looks into it."""

    world: World
    platform: Embedded
    fault: Fault
    ticket_id: str
    catalogue: CachedCatalogue
    calling: ToolCaller
    clock: Clock


@contextmanager
def scene_in(folder: Path, fault: Fault) -> Iterator[Scene]:
    """The network with this fault beside a platform that knows every page but the fault's own."""
    with Simulation(folder / "network", clock=Clock(begins_at=time.time())) as simulation:
        simulation.inject(fault)
        alert = fault.alert(simulation.world)
        pages = folder / "pages"
        pages.mkdir()
        for page in PAGES.glob("*.md"):
            if page.stem != alert["labels"]["alertname"]:
                (pages / page.name).write_text(page.read_text())
        os.environ["FLOWXPERT_EXECUTOR_CATALOGUE"] = str(simulation.folder)
        try:
            with Embedded(PlatformSettings(data_dir=folder / "data")) as platform:
                platform.ingestion.ingest_here(pages)
                platform.start()
                with TestClient(platform.app, base_url="http://127.0.0.1") as client:
                    world = World(client, simulation)
                    catalogue = CachedCatalogue(simulation.folder)
                    yield Scene(
                        world=world,
                        platform=platform,
                        fault=fault,
                        ticket_id=world.ticket(alert),
                        catalogue=catalogue,
                        calling=ToolCaller(catalogue, all_adapters()),
                        clock=Clock.of_folder(simulation.folder),
                    )
        finally:
            del os.environ["FLOWXPERT_EXECUTOR_CATALOGUE"]


def fault_of(kind: str, variant: int) -> Fault:
    """A fault of that kind; raises `KeyError` of an unknown one."""
    return variants(kind)[variant]


def search_in(
    scene: Scene, arm: Arm, model: ChatModel, *, answer_within_s: float, say: Callable[[str], None]
) -> Searched:
    """Search for what broke."""
    before, begun = len(scene.world.simulation.log.sent()), time.monotonic()
    service, store, engine = _house(scene, model, answer_within_s)
    search_id = service.start(StartSearch(ticket_id=scene.ticket_id)).id
    search = store.load(search_id).search
    say(f"{arm}: {search.ticket.title}")
    if arm is Arm.OCE:
        record = _by_experts(store, engine, search_id)
    elif arm is Arm.LOOP:
        record = _Loop(scene, search, model, answer_within_s, say).run()
    else:
        record = _from_ticket(search, model, answer_within_s)
    sent = scene.world.simulation.log.sent()[before:]
    at = f"{scene.fault.kind} at {scene.fault.place} of {scene.fault.device}"
    return record.model_copy(
        update={
            "arm": arm,
            "fault": scene.fault.kind,
            "injected": at,
            "ticket": search.ticket.title,
            "sent": tuple(f"{each.device}: {each.line}" for each in sent if each.line),
            "changes": tuple(f"{each.device}: {each.line}" for each in sent if each.is_change),
            "seconds": time.monotonic() - begun,
        }
    )


def _house(
    scene: Scene, model: ChatModel, answer_within_s: float
) -> tuple[SearchService, SearchStore, SearchEngine]:
    """The executor's own search, on a database that no worker of the platform looks at."""
    database = Database.memory()
    database.migrate(*ROOMS)
    store = SearchStore(database, Outbox(database))
    settings = SearchSettings(within_s=DAY_S, answer_within_s=answer_within_s)
    service = SearchService(
        store,
        tickets=scene.platform.gateway.run_notes,
        catalogue=scene.catalogue,
        folder=scene.world.simulation.folder,
        clock=scene.clock,
        settings=settings,
        has_model=True,
    )
    retrieval = scene.platform.retrieval
    engine = SearchEngine(store, scene.calling, retrieval, model, scene.clock)
    return service, store, engine


def _by_experts(store: SearchStore, engine: SearchEngine, search_id: str) -> Searched:
    while store.load(search_id).state.outcome is None:
        engine.advance(search_id)
        time.sleep(_LOOKED_EVERY_S)
    stored = store.load(search_id)
    state = stored.state
    looks = [
        f"{'  ' * (n.depth - 1)}{n.id}. {n.expert}: {n.subtask} |"
        f" {n.call.shown if n.call else '-'} | {n.state.value}"
        for n in state.nodes.values()
    ]
    record = Searched(
        arm=Arm.OCE,
        fault="",
        injected="",
        ticket="",
        outcome=state.outcome.value if state.outcome else "",
        why=state.why,
        cause="",
        calls=state.calls,
        questions=state.questions,
        tokens=state.tokens,
        backtracks=state.backtracks,
        misread=sum(event.kind.value == "misread" for event in stored.events),
        looks=tuple(looks),
    )
    return _with_answer(record, state, state.answer)


def _with_answer(record: Searched, state: SearchState, answer: SearchAnswer | None) -> Searched:
    if answer is None:
        return record
    kept_claims = [claim for claim in answer.claims if not claim.struck]
    suggested = answer.suggestion
    return record.model_copy(
        update={
            "cause": answer.cause,
            "cause_struck": answer.cause_struck,
            "claims": tuple(claim.text for claim in kept_claims),
            "evidence": tuple(
                tuple(line.strip() for line in quote_citations(state, claim.cited))
                for claim in kept_claims
            ),
            "struck": tuple(f"{c.text} ({c.struck})" for c in answer.claims if c.struck),
            "ruled_out": tuple(state.hypotheses[id_] for id_ in answer.ruled_out),
            "contradictions": len(answer.contradictions),
            "suggestion": f"{suggested.tool} on {suggested.target}" if suggested else "",
        }
    )


class _Turn(BaseModel):
    """What the plain loop may answer."""

    choice: Literal["look", "answer", "give_up"]
    tool: str = ""
    target: str = ""
    arguments: dict[str, str] = Field(default={})
    cause: str = ""
    claims: list[ModelClaim] = Field(default=[])
    suggestion: ModelSuggestion | None = None
    why: str = ""

    @field_validator("arguments", mode="before")
    @classmethod
    def _as_text(cls, arguments: object) -> object:
        return {str(k): str(v) for k, v in arguments.items()} if isinstance(arguments, dict) else {}


class _Loop:
    """Acts and observes until it answers: no experts, no tree, the same tools and bounds."""

    def __init__(
        self,
        scene: Scene,
        search: Search,
        model: ChatModel,
        within_s: float,
        say: Callable[[str], None],
    ) -> None:
        self._scene = scene
        self._search = search
        self._model = model
        self._within_s = within_s
        self._say = say
        self._state = SearchState()
        self._looks: list[str] = []
        self._seen: list[str] = []
        self._usage = Usage()
        self._questions = 0
        self._misread = 0

    def run(self) -> Searched:
        """Until it answers, gives up, or its bounds are reached."""
        turns: list[Message] = []
        while True:
            spent = self._usage.total
            limits = self._search.limits
            if self._questions >= limits.questions or spent >= limits.tokens:
                return self._over("its bounds are reached")
            text = self._ask(turns)
            try:
                turn = parse_answer(text, _Turn)
                if turn.choice == "look":
                    self._look(turn)
                    turns = []
                    continue
            except (ModelAnswerError, BadArgumentError) as error:
                self._misread += 1
                if len(turns) >= 2 * (_MOST_MISREAD - 1):
                    return self._over(f"nothing that can be used: {error}")
                turns += correction_turns(text, error)
                continue
            if turn.choice == "give_up":
                return self._over(f"gave up: {turn.why}")
            return self._answered(turn)

    def _ask(self, turns: list[Message]) -> str:
        search = self._search
        left = search.limits.calls - self._state.calls
        tools = [*search.tools]
        prompt = _LOOP.render(
            {
                "ticket": describe_ticket(search),
                "tools": "\n".join(
                    [
                        describe_tools(tools),
                        "Tools that change something; they can be suggested with an answer:",
                        *(f"  {c.name}: {c.description}" for c in search.changes),
                    ]
                ),
                "targets": describe_targets(search, {tool.target for tool in tools}),
                "seen": "\n".join(self._seen) or "nothing yet",
                "left": f"{left} looks" if left else "nothing: answer, or give up",
            }
        )
        request = ChatRequest(
            messages=(*prompt, *turns),
            temperature=0,
            max_tokens=search.limits.answer_tokens,
            json_schema=_Turn.model_json_schema(),
            prompt=_LOOP.label,
            timeout_s=self._within_s,
        )
        response = self._model.complete(request)
        self._questions += 1
        self._usage += response.usage
        return response.samples[0].text

    def _look(self, turn: _Turn) -> None:
        """Raises `BadArgumentError` where there is no such look."""
        state, search = self._state, self._search
        if state.calls >= search.limits.calls:
            raise BadArgumentError("no look is left: answer, or give up")
        if turn.tool == RETRIEVE:
            query = turn.arguments.get("query", "")
            call = Call(RETRIEVE, "", {"query": query}, f"documents: {query}")
        else:
            tool = search.tool_named.get(turn.tool)
            if tool is None or search.targets.get(turn.target) != tool.target:
                raise BadArgumentError(f"there is no {turn.tool!r} of {turn.target!r}")
            arguments = tool.checked(turn.arguments)
            call = Call(tool.name, turn.target, arguments, tool.shown(arguments))
        state.calls += 1
        try:
            if call.is_lookup:
                output = look_up(self._scene.platform.retrieval, call.arguments["query"], None)
            else:
                tool = search.tool_named[call.tool]
                output = self._scene.calling.call(tool, call.target, call.arguments, is_whole=True)
        except (NotSentError, UnknownEffectError, FlowXpertError) as error:
            self._seen.append(f"{call.shown}{call.on_target}: failed: {error}")
            self._looks.append(f"{call.shown}{call.on_target} | failed")
            return
        id_, number = f"O{len(state.observations) + 1}", state.calls
        at = time.time()
        seen = ExpertObservation(
            id_, number, at, number, call, output.fields, output.lines, output.is_cut
        )
        state.observations[id_] = seen
        state.nodes[number] = SubtaskNode(number, 0, 1, "", "", "", "", "", NodeState.INFORMATIVE)
        self._seen.append(describe_observation(seen, range(1, len(seen.lines) + 1)))
        self._looks.append(f"{call.shown}{call.on_target}")
        self._say(f"  {call.shown}{call.on_target}")

    def _answered(self, turn: _Turn) -> Searched:
        plan = Plan(
            choice="answer", cause=turn.cause, claims=turn.claims, suggestion=turn.suggestion
        )
        answer = build_answer(self._search, self._state, plan)
        record = self._over(turn.why, outcome="found" if answer.cause else "not_found")
        return _with_answer(record, self._state, answer)

    def _over(self, why: str, *, outcome: str = "not_found") -> Searched:
        return Searched(
            arm=Arm.LOOP,
            fault="",
            injected="",
            ticket="",
            outcome=outcome,
            why=why,
            cause="",
            calls=self._state.calls,
            questions=self._questions,
            tokens=self._usage.total,
            misread=self._misread,
            looks=tuple(self._looks),
        )


class _DirectAnswer(BaseModel):
    """What is answered from the ticket alone."""

    cause: str
    why: str = ""


def _from_ticket(search: Search, model: ChatModel, within_s: float) -> Searched:
    request = ChatRequest(
        messages=_DIRECT.render({"ticket": describe_ticket(search)}),
        temperature=0,
        max_tokens=search.limits.answer_tokens,
        json_schema=_DirectAnswer.model_json_schema(),
        prompt=_DIRECT.label,
        timeout_s=within_s,
    )
    response = model.complete(request)
    answer = parse_answer(response.samples[0].text, _DirectAnswer)
    return Searched(
        arm=Arm.DIRECT,
        fault="",
        injected="",
        ticket="",
        outcome="found",
        why=answer.why,
        cause=answer.cause,
        questions=1,
        tokens=response.usage.total,
    )


def to_yaml(searched: Searched) -> str:
    """Return a search as YAML for people, without the lines that were sent."""
    return yaml.safe_dump(
        searched.model_dump(mode="json", exclude={"sent"}), sort_keys=False, allow_unicode=True
    )
