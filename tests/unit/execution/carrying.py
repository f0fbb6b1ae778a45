"""A run on the simulated network without SSH: the devices' command lines, a database, a clock."""

from datetime import UTC, datetime

import yaml

from services.contracts.execution import RunMode, RunPhase
from services.execution.adapters.port import UnknownEffectError
from services.execution.bindings.proposer import BindingProposer
from services.execution.bindings.targets import choose_target
from services.execution.runs.engine import RunEngine
from services.execution.runs.events import NewEvent, RunEventKind
from services.execution.runs.revisions import Revisions
from services.execution.runs.run import Confirmation, Limits, Run, RunTicket
from services.execution.runs.store import ADVANCE_TASK, RunStore
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.policy import Policy
from services.execution.tools.target import Target
from services.execution.tools.tool import Tool
from services.kit.access.caller import PLATFORM, current_caller
from services.kit.ids import time_ordered_id
from services.kit.migrations import ROOMS
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.runbook.lowering import lower
from services.simulator.direct import DirectDevices, ManualClock
from services.simulator.faults import Fault
from services.simulator.model import LEAVES, SPINES
from services.simulator.simulation import CATALOGUE
from tests.readings import simulated_reading


def catalogue(**policy):
    entries = yaml.safe_load((CATALOGUE / "switch.yaml").read_text())
    rules = yaml.safe_load((CATALOGUE / "policy.yaml").read_text()) | policy
    return Catalogue(
        tools=tuple(Tool.model_validate(each) for each in entries),
        targets=tuple(
            Target(name=n, kind="switch", host="127.0.0.1", simulated=True)
            for n in (*LEAVES, *SPINES)
        ),
        policy=Policy.model_validate(rules),
    ).checked()


def workflow_of(page):
    return lower(simulated_reading(f"{page}.md").procedures[0], f"{page}.md")


class Carrying:
    """Runs, driven by hand."""

    def is_approved(self, _workflow, _step):
        """Whether a step still is; `House` asks the readings."""
        return True

    def __init__(self, **policy):
        self.clock = ManualClock()
        self.devices = DirectDevices(self.clock)
        self.catalogue = catalogue(**policy)
        self.database = Database.memory()
        self.database.migrate(*ROOMS)
        self.outbox = Outbox(self.database)
        self.store = RunStore(self.database, self.outbox)
        self.labels = {}
        """Labels of tickets as they are now, by id."""
        self.revisions = Revisions(
            lambda: self.catalogue,
            lambda id_: RunTicket(id=id_, title="", labels=self.labels[id_]),
            None,
            lambda _keys: {},
        )
        self.engine = self.new_engine()
        self.outbox.register(ADVANCE_TASK, self.engine.advance)

    def new_engine(self):
        return RunEngine(
            self.store,
            lambda: self.catalogue,
            {"ssh": self.devices},
            self.clock,
            revisions=self.revisions,
            is_approved=self.is_approved,
        )

    def verify(self, name, **verification):
        """Let a change be verified otherwise."""
        before = self.catalogue
        tools = tuple(
            Tool.model_validate({**t.model_dump(), "verify": verification}) if t.name == name else t
            for t in before.tools
        )
        self.catalogue = Catalogue(tools=tools, targets=before.targets, policy=before.policy)

    def break_(self, fault: Fault):
        self.devices.active_faults.inject(fault)
        return fault.alert(self.devices.world)["labels"]

    def start(self, page, labels, mode=RunMode.SUPERVISED, not_changing=None, ticket="t", **limits):
        workflow = workflow_of(page)
        bindings = BindingProposer(self.catalogue).propose(workflow, labels)
        targets = {
            b.step: t.name
            for b in bindings
            if b.tool and (t := choose_target(b, self.catalogue, labels).target)
        }
        at, caller = datetime.fromtimestamp(self.clock.now(), UTC), current_caller()
        run = Run(
            id=time_ordered_id(),
            ticket=RunTicket(id=ticket, title=page, labels=labels),
            workflow_id="w",
            workflow=workflow,
            bindings=bindings,
            tools=self.catalogue.tools,
            targets=targets,
            target_digests={t.name: t.digest for t in self.catalogue.targets},
            not_changing=not_changing or {},
            mode=mode,
            limits=Limits(**limits),
            requested_by="ann" if caller == PLATFORM else caller.name,
            requested_by_id=caller.id,
            requested_at=at,
            confirmation=Confirmation(by="ann", at=at),
        )
        self.labels[ticket] = labels
        self.store.start(run, self.clock.now())
        return run.id

    def go(self, run_id, *, most=200, moves=True):
        """Until somebody is needed or it is over; time passes where the run waits for it."""
        for _ in range(most):
            self.engine.advance(run_id)
            stored = self.store.load(run_id)
            state = stored.state
            if state.outcome or state.question or state.open_approval or not moves:
                return state
            if stored.waits_until is None or state.phase is RunPhase.PAUSED:
                return state
            self.clock.at = max(self.clock.at, stored.waits_until)
        raise AssertionError("it does not come to rest")

    def approve(self, run_id, by="bea"):
        stored = self.store.load(run_id)
        approval = stored.state.open_approval
        event = NewEvent(
            RunEventKind.APPROVED, approval.place, {"digest": approval.digest, "kind": "person"}, by
        )
        self.store.append(stored, [event], self.clock.now())
        return self.go(run_id)

    def answer(self, run_id, option, **arguments):
        stored = self.store.load(run_id)
        facts = {"option": option, "arguments": arguments, "word": ""}
        event = NewEvent(RunEventKind.ANSWERED, stored.state.question.place, facts, "bea")
        self.store.append(stored, [event], self.clock.now())
        return self.go(run_id)

    def kinds(self, run_id):
        return [event.kind for event in self.store.load(run_id).events]


UNKNOWN = UnknownEffectError("the connection broke")
