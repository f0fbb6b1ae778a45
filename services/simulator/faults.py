"""Faults: what breaks, what repairs it, and the effect of a repair."""

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from services.simulator.model import GATEWAY, LEAVES, Device, World

LATE_S = 45.0
"""Seconds until a late change has its effect."""
RED_HERRINGS = (
    "%ENV-3-FAN: Fan2 speed out of range, recovered",
    "%BGP-5-ADJCHANGE: neighbor 10.9.9.9 Down, peer removed by operator",
    "%PLATFORM-4-CPU: utilization 97 percent for 5 seconds",
    "%FLASH-4-USAGE: 91 percent in use, logs rotated",
    "%ETHPORT-5-IF_DOWN: Ethernet1/3 is down (administratively down)",
)

_KINDS: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "faults.yaml").read_text()
)


class RepairEffect(StrEnum):
    """Effect of the change that should repair a fault."""

    WORKS = "works"
    LATE = "late"
    NOTHING = "nothing"
    WORSE = "worse"


@dataclass(frozen=True)
class Fault:
    """A fault at a place of a device."""

    kind: str
    device: str
    place: str
    acts: RepairEffect = RepairEffect.WORKS
    herrings: tuple[str, ...] = ()

    @property
    def mended_by(self) -> str:
        """Kind of change that repairs it; empty if that takes hands."""
        return str(_KINDS[self.kind].get("mended_by", ""))

    def alert(self, world: World) -> dict[str, Any]:
        """Return the alert, in the format of Alertmanager."""
        kind = _KINDS[self.kind]
        labels = {"alertname": kind["alert"], "device": self.device, "severity": kind["severity"]}
        device = world.devices[self.device]
        neighbor = self.place
        if kind["place"] == "uplink":
            on = (s.neighbor for s in device.sessions.values() if s.interface == self.place)
            neighbor = next(on, "")
        if kind["alert"] == "BgpSessionDown":
            labels["neighbor"] = neighbor
        elif kind["place"] in {"uplink", "port"}:
            labels["interface"] = self.place
        words = {"device": self.device, "place": self.place, "neighbor": neighbor}
        summary = str(kind["summary"]).format(**words)
        return {"status": "firing", "labels": labels, "annotations": {"summary": summary}}


def kinds() -> tuple[str, ...]:
    """List every kind of fault."""
    return tuple(_KINDS)


def alert_of(kind: str) -> str:
    """Return the name of the alert that a kind of fault raises."""
    return str(_KINDS[kind]["alert"])


def variants(kind: str, *, most: int = 5, seed: int = 0) -> list[Fault]:
    """Generate faults of one kind that differ in device, place and effect of the repair."""
    chance = random.Random(f"{kind}/{seed}")  # noqa: S311 - the same each time
    acts = (
        RepairEffect.WORKS,
        RepairEffect.WORKS,
        RepairEffect.LATE,
        RepairEffect.WORKS,
        RepairEffect.NOTHING,
    )
    made = []
    for number in range(most):
        leaf = LEAVES[(number + chance.randrange(4)) % 4]
        herrings = tuple(chance.sample(RED_HERRINGS, number % 3))
        does = acts[number % len(acts)] if _KINDS[kind].get("mended_by") else RepairEffect.WORKS
        made.append(Fault(kind, leaf, _place(kind, leaf, chance), does, herrings))
    return made


def _place(kind: str, leaf: str, chance: random.Random) -> str:
    row, column = LEAVES.index(leaf) + 1, chance.choice((1, 2))
    return {
        "neighbor": f"10.0.{column}{row}.1",
        "uplink": f"Ethernet1/{48 + column}",
        "fan": f"Fan{chance.randint(1, 4)}",
        "process": chance.choice(("snmpd", "lldp", "stp")),
        "file": f"/core/bgp.{chance.randint(100, 999)}.gz",
        "port": f"Ethernet1/{row}",
        "routing": "bgp",
        "image": f"/images/nos-9.{row}.bin",
        "device": leaf,
    }[str(_KINDS[kind]["place"])]


class ActiveFaults:
    """Faults of a world, and the effects of changes while they last."""

    def __init__(self, world: World, clock: Callable[[], float]) -> None:
        self._world = world
        self._clock = clock
        self.faults: list[Fault] = []
        self._due: list[tuple[float, Callable[[], None]]] = []
        self._lock = threading.Lock()

    def inject(self, fault: Fault) -> None:
        """Inject a fault."""
        self._world.settle(self._clock())
        device = self._world.devices[fault.device]
        device.log.extend(fault.herrings)
        self.faults.append(fault)
        _BREAK[fault.kind](device, fault.place)
        if fault.kind in _LOGGED:
            device.log.append(_LOGGED[fault.kind].format(fault.place))

    def run_due(self) -> None:
        """Apply the late effects that are due."""
        now = self._clock()
        with self._lock:
            ready = [each for each in self._due if each[0] <= now]
            self._due = [each for each in self._due if each[0] > now]
        for _, change in ready:
            change()

    def apply_change(
        self, device: Device, kind: str, what: str, change: Callable[[], None]
    ) -> None:
        """Apply a change as the fault that it should repair lets it."""
        fault = next(
            (
                each
                for each in self.faults
                if each.device == device.name
                and each.mended_by == kind
                and (what == each.place or kind == "route")
            ),
            None,
        )
        acts = fault.acts if fault else RepairEffect.WORKS
        if acts is RepairEffect.LATE:
            with self._lock:
                self._due.append((self._clock() + LATE_S, change))
        elif acts is RepairEffect.WORKS:
            change()
        elif acts is RepairEffect.WORSE:
            for session in device.sessions.values():
                session.is_hung, session.reason = True, "hold timer expired"

    def is_mended(self, fault: Fault) -> bool:
        """Return True if the fault is repaired, or its harm averted."""
        self.run_due()
        return _IS_MENDED[fault.kind](self._world.devices[fault.device], fault.place, self._clock())


def _set(part: object, **values: object) -> None:
    for name, value in values.items():
        setattr(part, name, value)


_BREAK: Mapping[str, Callable[[Device, str], None]] = {
    "bgp_session_shut": lambda d, p: _set(d.sessions[p], is_shut=True, reason="admin shutdown"),
    "bgp_session_hung": lambda d, p: _set(d.sessions[p], is_hung=True, reason="hold timer expired"),
    "bgp_uplink_shut": lambda d, p: _set(d.interfaces[p], is_shut=True),
    "bgp_uplink_dark": lambda d, p: _set(d.interfaces[p], is_dark=True),
    "default_route_deleted": lambda d, _p: _set(d, default_route=""),
    "fan_failed": lambda d, p: d.fans.update({p: False}),
    "optic_weak": lambda d, p: _set(d.interfaces[p], rx_dbm=-17.5),
    "crc_errors": lambda d, p: _set(d.interfaces[p], crc=400.0, crc_per_s=3.0),
    "link_flapping": lambda d, p: _set(d.interfaces[p], flap_every_s=20.0, flaps=60.0),
    "process_cpu": lambda d, p: _set(d.processes[p], cpu=93.0),
    "flash_full": lambda d, p: d.files.update({p: 2000}),
    "false_alarm": lambda _d, _p: None,
    "server_port_shut": lambda d, p: _set(d.interfaces[p], is_shut=True),
    "routing_stuck": lambda d, p: _set(d.processes[p], cpu=93.0),
    "default_route_wrong": lambda d, _p: _set(d, default_route="10.0.254.9"),
    "image_left": lambda d, p: d.files.update({p: 2000}),
}
_LOGGED = {
    "fan_failed": "%ENV-2-FAN: {} has failed",
    "false_alarm": "%ENV-3-FAN: Fan1 speed out of range, recovered",
    "routing_stuck": "%SYSMGR-2-SERVICE: {} does not answer",
    "default_route_wrong": "%RIB-6-ROUTE: 0.0.0.0/0 via 10.0.254.9 set by ztp",
}
"""Lines that faults leave in the log of their device, with a gap for their place."""


def _is_established(device: Device, place: str, now: float) -> bool:
    """Return True if the session with a neighbor is, or those over an interface are."""
    sessions = [s for s in device.sessions.values() if place in {s.neighbor, s.interface}]
    return all(device.state_of(each, now) == "Established" for each in sessions)


_IS_MENDED: Mapping[str, Callable[[Device, str, float], bool]] = {
    "bgp_session_shut": _is_established,
    "bgp_session_hung": _is_established,
    "bgp_uplink_shut": _is_established,
    "bgp_uplink_dark": lambda d, p, _now: not d.interfaces[p].is_dark,
    "default_route_deleted": lambda d, _p, _now: d.default_route == GATEWAY,
    "fan_failed": lambda d, p, _now: d.fans[p],
    "optic_weak": lambda d, p, _now: d.interfaces[p].rx_dbm > -14,
    "crc_errors": lambda d, p, _now: d.interfaces[p].is_shut,
    "link_flapping": lambda d, p, _now: d.interfaces[p].is_shut,
    "process_cpu": lambda d, p, _now: d.processes[p].cpu < 50,
    "server_port_shut": lambda d, p, _now: not d.interfaces[p].is_shut,
    "routing_stuck": lambda d, p, _now: d.processes[p].cpu < 50,
    "default_route_wrong": lambda d, _p, _now: d.default_route == GATEWAY,
    "image_left": lambda d, p, _now: p not in d.files,
    "flash_full": lambda d, p, _now: p not in d.files,
    "false_alarm": lambda _d, _p, _now: True,
}
