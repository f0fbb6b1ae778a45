"""A search on the simulated network without SSH, with a model that answers from a script."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

from services.execution.tool_caller import ToolCaller
from services.execution.tools.tool import ToolEffect
from services.investigation.search.engine import SearchEngine
from services.investigation.search.search import (
    Expert,
    Search,
    SearchLimits,
    SearchTicket,
    SuggestibleTool,
    load_experts,
)
from services.investigation.search.store import SEARCH_TASK, SearchStore
from services.kit.ids import time_ordered_id
from services.knowledge.model import Chunk, RetrievedChunk, Span
from services.llm.scripted import ScriptedChatModel
from services.simulator.faults import Fault
from tests.unit.execution.carrying import Carrying

SHUT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")
SESSION = {"tool": "bgp_session", "target": "leaf-1", "arguments": {"neighbor": "10.0.11.1"}}
LINK = {"tool": "interface_state", "target": "leaf-1", "arguments": {"interface": "Ethernet1/49"}}
SHUT_DOWN = "The neighbor 10.0.11.1 of leaf-1 is administratively shut down"


def look(subtask, *, expert="network", hypothesis="", **more):
    """A plan."""
    plan = {"choice": "look", "expert": expert, "subtask": subtask, "hypothesis": hypothesis}
    return plan | {"why": "it tells most"} | more


def tells(text, *, lines=(), fields=(), supports=(), refutes=()):
    """A reflection of one finding."""
    finding = {"text": text, "lines": [*lines], "fields": [*fields]}
    return {"findings": [finding | {"supports": [*supports], "refutes": [*refutes]}], "why": ""}


def answers(cause, *claims, suggestion=None):
    """An answer; each claim is a text and its evidence."""
    cited = [{"text": text, "evidence": [*evidence]} for text, evidence in claims]
    return {"choice": "answer", "cause": cause, "claims": cited, "suggestion": suggestion}


def of(observation, *, lines=(), fields=()):
    """Evidence."""
    return {"observation": observation, "lines": [*lines], "fields": [*fields]}


NOTHING = {"findings": [], "why": "normal"}
GIVE_UP = {"choice": "give_up", "why": "nobody knows"}
FINDS = (
    look("state of the session", hypothesis="the session was shut down by somebody"),
    SESSION,
    tells(SHUT_DOWN, lines=[3], fields=["shut"], supports=["H1"]),
    answers(
        SHUT_DOWN,
        (SHUT_DOWN, [of("O1", lines=[3], fields=["shut"])]),
        suggestion={"tool": "bgp_session_enable", "target": "leaf-1", "why": "it lets it up"},
    ),
)
"""The shortest way to the cause of `SHUT`."""


class Retrieval:
    """Implements what a search uses of `Retrieval`."""

    def __init__(self):
        self.titles = []
        self.texts = {"net/bgp.md": "A neighbor is shut down on purpose.", "host/fan.md": "Fans."}

    def retrieve(self, request):
        self.titles.append(request.title)
        chunks = [
            Chunk(
                id=id_,
                span=Span(document_id=id_, start_line=1, end_line=3),
                heading_path=("Page",),
                text=text,
            )
            for id_, text in self.texts.items()
        ]
        retrieved = tuple(RetrievedChunk(chunk=each, score=0.5) for each in chunks)
        return SimpleNamespace(chunks=retrieved)


class Seeking:
    """Searches, driven by hand."""

    def __init__(self, *script, fault=SHUT, experts=None, **policy):
        self.carrying = Carrying(**policy)
        self.clock = self.carrying.clock
        self.devices = self.carrying.devices
        self.labels = self.carrying.break_(fault)
        self.database, self.outbox = self.carrying.database, self.carrying.outbox
        self.catalogue = self.carrying.catalogue
        self.store = SearchStore(self.database, self.outbox)
        self.retrieval = Retrieval()
        self.script = [json.dumps(each) if isinstance(each, dict) else each for each in script]
        self.replies = 0
        self.model = ScriptedChatModel(self._answer)
        self.experts = experts or load_experts(None, self.catalogue)
        self.suspension = None
        self.engine = self.new_engine()
        self.outbox.register(SEARCH_TASK, self.engine.advance)

    def _answer(self, request):
        """The next of the script, as often as it is asked; what follows depends on what is kept."""
        reply = self.script[min(self.kept, len(self.script) - 1)]
        if isinstance(reply, Exception):
            raise reply
        return [reply]

    @property
    def kept(self):
        """How many answers are in the events."""
        search_ids = [s.id for s in self.store.latest()]
        events = [e for id_ in search_ids for e in self.store.load(id_).events]
        return sum(e.kind.value in {"answered", "not_answered"} for e in events)

    def new_engine(self):
        return SearchEngine(
            self.store,
            ToolCaller(lambda: self.catalogue, {"ssh": self.devices}),
            self.retrieval,
            self.model,
            self.clock,
            suspension=lambda: self.suspension,
        )

    def start(
        self,
        *,
        title="BGP session to 10.0.11.1 on leaf-1 is down",
        text="",
        at_once=False,
        **limits,
    ):
        names = {name for expert in self.experts for name in expert.tools}
        search = Search(
            id=time_ordered_id(),
            ticket=SearchTicket(id="t", title=title, text=text, labels=self.labels),
            experts=self.experts,
            tools=tuple(t for t in self.catalogue.tools if t.name in names),
            changes=tuple(
                SuggestibleTool(
                    name=t.name,
                    description=t.description,
                    target=t.target,
                    parameters=tuple(t.parameters),
                )
                for t in self.catalogue.tools
                if t.effect is ToolEffect.CHANGE
            ),
            targets={t.name: t.kind for t in self.catalogue.targets},
            limits=SearchLimits(**limits),
            started_by="ann",
            started_at=datetime.fromtimestamp(self.clock.now(), UTC),
            at_once=at_once,
        )
        self.store.start(search, self.clock.now())
        return search.id

    def go(self, search_id, *, most=50):
        """Until it is over or waits for a person; time passes where it waits for it."""
        for _ in range(most):
            self.engine.advance(search_id)
            stored = self.store.load(search_id)
            if stored.state.outcome or stored.state.paused_by:
                return stored.state
            self.clock.at = max(self.clock.at, stored.waits_until or 0)
        raise AssertionError("it does not come to rest")

    def events(self, search_id, *kinds):
        return [e for e in self.store.load(search_id).events if e.kind.value in kinds]

    @property
    def sent(self):
        return self.devices.sent


def expert(name, *tools, knowledge=()):
    return Expert(name=name, role=f"knows {name}", tools=tools, knowledge=knowledge)
