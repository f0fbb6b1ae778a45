"""State of a simulated network: six switches, their links, sessions and parts."""

import threading
from collections import deque
from dataclasses import dataclass, field

LEAVES = ("leaf-1", "leaf-2", "leaf-3", "leaf-4")
SPINES = ("spine-1", "spine-2")
GATEWAY = "10.0.254.1"
"""Gateway of the default routes."""
FLASH_MB = 4000
STUCK_CPU = 90.0
"""Percent from which the routing process does not answer its neighbors."""
LOW_RX_DBM = -14.0
"""Received power below which an optic raises an alarm."""


@dataclass
class Interface:
    """A port; its counters are as of `World.settled_at`."""

    name: str
    description: str = ""
    is_shut: bool = False
    rx_dbm: float = -2.5
    crc: float = 0.0
    crc_per_s: float = 0.0
    """Rate of CRC errors while it is up and the cable is bad."""
    flap_every_s: float = 0.0
    flaps: float = 0.0
    is_dark: bool = False
    """True if no light comes in: its optic or fibre is dead."""

    def is_up(self, now: float) -> bool:
        """Return True if the port carries traffic."""
        if self.is_shut or self.is_dark:
            return False
        return not self.flap_every_s or int(now / self.flap_every_s) % 2 == 0


@dataclass
class Session:
    """A BGP session over an interface."""

    neighbor: str
    peer: str
    interface: str
    is_shut: bool = False
    is_hung: bool = False
    """True if it stays idle until somebody clears it."""
    reason: str = ""
    prefixes: int = 120


@dataclass
class SwitchProcess:
    """A process of a switch."""

    name: str
    pid: int
    cpu: float = 2.0


@dataclass
class Device:
    """A switch."""

    name: str
    asn: int
    interfaces: dict[str, Interface] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    default_route: str = GATEWAY
    fans: dict[str, bool] = field(default_factory=dict)
    """True by each fan that runs."""
    processes: dict[str, SwitchProcess] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    """Sizes in megabytes, by path."""
    log: deque[str] = field(default_factory=lambda: deque(maxlen=500))

    @property
    def flash_percent(self) -> int:
        """Share of its flash that is in use, in percent."""
        return round(100 * sum(self.files.values()) / FLASH_MB)

    def state_of(self, session: Session, now: float) -> str:
        """Return the state of a session: `Idle`, `Active` or `Established`.

        A busy routing process lets every session go idle.
        """
        if session.is_shut or session.is_hung or self.processes["bgp"].cpu > STUCK_CPU:
            return "Idle"
        return "Established" if self.interfaces[session.interface].is_up(now) else "Active"


@dataclass
class World:
    """State of the whole network."""

    devices: dict[str, Device]
    settled_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def settle(self, now: float) -> None:
        """Advance the counters to this moment, whenever somebody logs in or scrapes."""
        with self._lock:
            passed = max(0.0, now - self.settled_at) if self.settled_at else 0.0
            self.settled_at = max(now, self.settled_at)
            for device in self.devices.values():
                for port in device.interfaces.values():
                    if port.is_up(now):
                        port.crc += port.crc_per_s * passed
                    if port.flap_every_s and not port.is_shut:
                        port.flaps += passed / port.flap_every_s


def healthy_world(now: float) -> World:
    """Build a network without faults."""
    devices = {}
    for number, name in enumerate((*LEAVES, *SPINES), 1):
        device = Device(name, asn=65000 + number)
        device.fans = {f"Fan{each}": True for each in range(1, 5)}
        names = ("bgp", "stp", "snmpd", "lldp", "sysmgr")
        device.processes = {each: SwitchProcess(each, 1000 + 7 * i) for i, each in enumerate(names)}
        device.files = {"/images/nos-10.3.bin": 1700, "/logs/messages": 120}
        devices[name] = device
    for row, leaf in enumerate(LEAVES, 1):
        for port in range(1, 5):
            name = f"Ethernet1/{port}"
            devices[leaf].interfaces[name] = Interface(name, f"server-{row}{port}")
        for column, spine in enumerate(SPINES, 1):
            up, down = f"Ethernet1/{48 + column}", f"Ethernet1/{row}"
            devices[leaf].interfaces[up] = Interface(up, f"to {spine}")
            devices[spine].interfaces[down] = Interface(down, f"to {leaf}")
            near, far = f"10.0.{column}{row}.2", f"10.0.{column}{row}.1"
            devices[leaf].sessions[far] = Session(far, spine, up)
            devices[spine].sessions[near] = Session(near, leaf, down)
    return World(devices, settled_at=now)
