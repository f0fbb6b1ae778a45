"""Simulation: a world with faults, its switches over SSH, its clock and its log."""

import json
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml

from services.kit.clock import Clock
from services.kit.value import Value
from services.simulator.devices import USER, SshDevices
from services.simulator.faults import ActiveFaults, Fault
from services.simulator.metrics import MetricsServer, SwitchMetrics
from services.simulator.model import World, healthy_world
from services.simulator.shell import Shell

_CHANGES = re.compile(
    r"clear |delete |restart |(?:no )?shutdown$|(?:no )?neighbor \S+ shutdown$|(?:no )?ip route "
)


class SentLine(Value):
    """A line that a device was sent."""

    at: float
    device: str
    user: str
    line: str

    @property
    def is_change(self) -> bool:
        """True if it changes the device."""
        return _CHANGES.match(self.line) is not None


class WireLog:
    """File of lines, one JSON object each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def add(self, sent: SentLine) -> None:
        """Append a line before it has an effect."""
        with self._lock, self.path.open("a") as file:
            file.write(sent.model_dump_json() + "\n")

    def sent(self) -> list[SentLine]:
        """Return all lines, in order."""
        if not self.path.exists():
            return []
        return [SentLine.model_validate(json.loads(line)) for line in self.path.open()]

    def changes(self) -> list[SentLine]:
        """Return the lines that change something."""
        return [each for each in self.sent() if each.is_change]


PAGES = Path(__file__).parent / "pages"
"""Pages for its alerts."""
READINGS = Path(__file__).parent / "readings.jsonl"
"""Readings of these pages as a person has drawn them, to be imported."""
CATALOGUE = Path(__file__).parent / "catalogue"
"""Tools and policy for these switches."""
METRICS_TOOLS = CATALOGUE / "prometheus" / "metrics.yaml"
"""Tools for a Prometheus that scrapes them."""


class Simulation:
    """Switches that listen while it is entered; `folder` becomes a catalogue for the executor."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        metrics_port: int | None = None,
        prometheus: str = "",
    ) -> None:
        """Prepare the simulation.

        `metrics_port` is where the switches' metrics are scraped, 0 for any; None serves none.
        `prometheus` is the address of a server that scrapes them; the catalogue then has it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.clock = clock or Clock()
        self.world = healthy_world(self.clock.now())
        self.active_faults = ActiveFaults(self.world, self.clock.now)
        self.log = WireLog(folder / "sent.jsonl")
        self.devices = SshDevices(folder, self._shell, self._log_line)
        self.prometheus = prometheus
        self.metrics: MetricsServer | None = None
        self._metrics_port = metrics_port

    def __enter__(self) -> Self:
        self.devices.start(list(self.world.devices))
        if self._metrics_port is not None:
            self.metrics = MetricsServer(SwitchMetrics(self._settled), self._metrics_port)
        self.write_catalogue()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self.metrics is not None:
            self.metrics.stop()
        self.devices.stop()

    def inject(self, fault: Fault) -> None:
        """Inject a fault."""
        self.active_faults.inject(fault)

    def heal(self) -> None:
        """Reset the network to one without faults and pending effects."""
        self.world.devices = healthy_world(self.clock.now()).devices
        self.active_faults = ActiveFaults(self.world, self.clock.now)

    def write_catalogue(self) -> None:
        """Write tools, targets, policy and clock as the executor reads them."""
        (self.folder / "tools").mkdir(exist_ok=True)
        for path in CATALOGUE.glob("*.yaml"):
            where = self.folder / ("tools" if path.name != "policy.yaml" else "")
            (where / path.name).write_text(path.read_text())
        shutil.copytree(PAGES, self.folder / "pages", dirs_exist_ok=True)
        shutil.copy(READINGS, self.folder)
        targets: list[dict[str, object]] = [
            {
                "name": each.name,
                "kind": "switch",
                "platform": "cisco_nxos",
                "host": "127.0.0.1",
                "port": each.port,
                "user": USER,
                "key_file": str(self.devices.key_file),
                "host_key": each.host_key,
                "simulated": True,
            }
            for each in self.devices.listening.values()
        ]
        if self.prometheus:
            (self.folder / "tools" / METRICS_TOOLS.name).write_text(METRICS_TOOLS.read_text())
            targets.append({"name": "prometheus", "kind": "metrics", "url": self.prometheus})
        (self.folder / "targets.yaml").write_text(yaml.safe_dump(targets, sort_keys=False))
        self.clock.write(self.folder)

    def _shell(self, name: str) -> Shell:
        def act(kind: str, what: str, change: Callable[[], None]) -> None:
            self.active_faults.apply_change(self.world.devices[name], kind, what, change)

        return Shell(self.world, self.world.devices[name], self.clock.now, act)

    def _settled(self) -> tuple[World, float]:
        self.active_faults.run_due()
        now = self.clock.now()
        self.world.settle(now)
        return self.world, now

    def _log_line(self, device: str, line: str) -> None:
        self.active_faults.run_due()
        self.log.add(SentLine(at=self.clock.now(), device=device, user=USER, line=line))
