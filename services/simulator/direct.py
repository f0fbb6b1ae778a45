"""The switches without SSH: their command lines as an adapter for tools, and a clock by hand."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from services.executor.adapters.port import NotSentError
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.target import Target
from services.executor.tools.tool import Effect, SshWay, Tool
from services.simulator.faults import Broken
from services.simulator.model import World, healthy
from services.simulator.shell import Shell


class HandClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        """The time."""
        return self.at

    def real(self, _seconds: float) -> float:
        """Nobody waits: whoever drives it moves it."""
        return 0.0

    def pass_(self, seconds: float) -> None:
        """Move it on."""
        self.at += seconds


class Received(NamedTuple):
    """A call as a device was sent it."""

    device: str
    tool: str
    arguments: dict[str, str]


class DirectDevices:
    """Implements `ToolAdapter` on the shells themselves."""

    def __init__(self, clock: HandClock) -> None:
        self.world: World = healthy(clock.now())
        self.broken = Broken(self.world, clock.now)
        self.clock = clock
        self.sent: list[Received] = []
        self.fails: dict[str, Exception] = {}
        """Errors by the name of a tool: raised after the command was carried out."""
        self.refuses: dict[str, Exception] = {}
        """Errors by the name of a tool: raised before anything is sent."""

    def heal(self) -> None:
        """A network in which nothing is wrong, and nothing is pending."""
        self.world.devices = healthy(self.clock.now()).devices
        self.world.settled_at = self.clock.now()
        self.broken = Broken(self.world, self.clock.now)

    def call(self, tool: Tool, target: Target, arguments: Mapping[str, str]) -> str:
        """See `ToolAdapter.call`."""
        if tool.name in self.refuses:
            raise self.refuses[tool.name]
        self.broken.run_due()
        device = self.world.devices[target.name]

        def act(kind: str, what: str, change: Callable[[], None]) -> None:
            self.broken.act(device, kind, what, change)

        if not isinstance(tool.way, SshWay):
            raise NotSentError(f"{tool.name} does not speak to a command line")
        shell = Shell(self.world, device, self.clock.now, act)
        lines = [" ".join(t.filled(arguments)) for t in tool.way.templates]
        if tool.way.lines:
            shell.run("configure terminal")
        told = "\n".join(shell.run(line) for line in lines)
        self.sent.append(Received(target.name, tool.name, dict(arguments)))
        if tool.name in self.fails:
            raise self.fails[tool.name]
        return told

    def changes(self, known: Catalogue) -> list[Received]:
        """What was sent that changes something."""
        return [each for each in self.sent if known.tool(each.tool).effect is Effect.CHANGE]
