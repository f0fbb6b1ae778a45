"""Simulated switches without SSH: an adapter for tools, and a clock that is moved by hand."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from services.execution.adapters.port import (
    BeforeSending,
    NotSentError,
    TargetAnswer,
    send_at_once,
)
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.target import Target
from services.execution.tools.tool import SshWay, Tool, ToolEffect
from services.simulator.faults import ActiveFaults
from services.simulator.model import World, healthy_world
from services.simulator.shell import Shell


class ManualClock:
    """Clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        """Return the time."""
        return self.at

    def real_seconds(self, _seconds: float) -> float:
        """Return 0: nobody waits, since whoever drives the clock moves it."""
        return 0.0

    def advance(self, seconds: float) -> None:
        """Move the clock on."""
        self.at += seconds


class ReceivedCall(NamedTuple):
    """A call that a device received."""

    device: str
    tool: str
    arguments: dict[str, str]


class DirectDevices:
    """Implements `ToolAdapter` on the shells themselves."""

    def __init__(self, clock: ManualClock) -> None:
        self.world: World = healthy_world(clock.now())
        self.active_faults = ActiveFaults(self.world, clock.now)
        self.clock = clock
        self.sent: list[ReceivedCall] = []
        self.fails: dict[str, Exception] = {}
        """Errors by the name of a tool, raised after the command was carried out."""
        self.refuses: dict[str, Exception] = {}
        """Errors by the name of a tool, raised before anything is sent."""

    def heal(self) -> None:
        """Reset the network to one without faults and pending effects."""
        self.world.devices = healthy_world(self.clock.now()).devices
        self.world.settled_at = self.clock.now()
        self.active_faults = ActiveFaults(self.world, self.clock.now)

    def call(
        self,
        tool: Tool,
        target: Target,
        arguments: Mapping[str, str],
        *,
        before_sending: BeforeSending = send_at_once,
    ) -> TargetAnswer:
        """See `ToolAdapter.call`."""
        if tool.name in self.refuses:
            raise self.refuses[tool.name]
        self.active_faults.run_due()
        device = self.world.devices[target.name]

        def act(kind: str, what: str, change: Callable[[], None]) -> None:
            self.active_faults.apply_change(device, kind, what, change)

        if not isinstance(tool.way, SshWay):
            raise NotSentError(f"{tool.name} does not speak to a command line")
        shell = Shell(self.world, device, self.clock.now, act)
        lines = [" ".join(t.filled(arguments)) for t in tool.way.templates]
        before_sending()
        if tool.way.lines:
            shell.run("configure terminal")
        output = "\n".join(shell.run(line) for line in lines)
        self.sent.append(ReceivedCall(target.name, tool.name, dict(arguments)))
        if tool.name in self.fails:
            raise self.fails[tool.name]
        return TargetAnswer(output)

    def changes(self, catalogue: Catalogue) -> list[ReceivedCall]:
        """Return the received calls that change something."""
        return [each for each in self.sent if catalogue.tool(each.tool).effect is ToolEffect.CHANGE]
