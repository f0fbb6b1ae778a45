"""The whole simulation: a world with faults, its switches over SSH, its clock and its log."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml

from services.kit.clock import Clock
from services.simulator.devices import USER, SshDevices
from services.simulator.faults import Broken, Fault
from services.simulator.metrics import MetricsServer, SwitchMetrics
from services.simulator.model import World, healthy
from services.simulator.shell import Shell
from services.simulator.wire_log import Sent, WireLog

PAGES = Path(__file__).parent / "pages"
"""What to do about its alerts."""
READINGS = Path(__file__).parent / "readings.jsonl"
"""These pages as a person has drawn them, to be imported."""
CATALOGUE = Path(__file__).parent / "catalogue"
"""The tools and the policy for these switches."""
METRICS_TOOLS = CATALOGUE / "prometheus" / "metrics.yaml"
"""The tools for a Prometheus that scrapes them."""


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
        """`metrics_port`: where the switches' metrics are scraped, 0 for any; None: nowhere.

        `prometheus` is the address of a server that scrapes them; the catalogue then has it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.clock = clock or Clock()
        self.world = healthy(self.clock.now())
        self.broken = Broken(self.world, self.clock.now)
        self.log = WireLog(folder / "sent.jsonl")
        self.devices = SshDevices(folder, self._shell, self._told)
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
        """Break something."""
        self.broken.inject(fault)

    def heal(self) -> None:
        """A network in which nothing is wrong, and nothing is pending."""
        self.world.devices = healthy(self.clock.now()).devices
        self.broken = Broken(self.world, self.clock.now)

    def write_catalogue(self) -> None:
        """Tools, targets, policy and clock as the executor reads them."""
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
            self.broken.act(self.world.devices[name], kind, what, change)

        return Shell(self.world, self.world.devices[name], self.clock.now, act)

    def _settled(self) -> tuple[World, float]:
        self.broken.run_due()
        now = self.clock.now()
        self.world.settle(now)
        return self.world, now

    def _told(self, device: str, line: str) -> None:
        self.broken.run_due()
        self.log.add(Sent(at=self.clock.now(), device=device, user=USER, line=line))
