"""Command line of a simulated switch: its output follows from the state."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

from services.simulator.model import LOW_RX_DBM, Device, Interface, World

INVALID = "% Invalid command"

ChangeHandler = Callable[[str, str, Callable[[], None]], None]
"""Handler of a change, by its `kind` and `what`; a fault decides its effect."""


class Shell:
    """One session on one switch."""

    def __init__(
        self, world: World, device: Device, clock: Callable[[], float], act: ChangeHandler
    ) -> None:
        self._world = world
        self._device = device
        self._clock = clock
        self._act = act
        self._mode: tuple[str, ...] = ()
        """Configuration mode: empty, `config`, then perhaps an interface or the routing process."""

    @property
    def prompt(self) -> str:
        """Prompt before the next line."""
        modes = {0: "", 1: "(config)"}
        mode = modes.get(len(self._mode)) or (
            "(config-if)" if self._is_in_port else "(config-router)"
        )
        return f"{self._device.name}{mode if self._mode else ''}# "

    @property
    def _is_in_port(self) -> bool:
        return len(self._mode) > 1 and self._mode[1].startswith("Ethernet")

    def run(self, line: str) -> str:
        """Carry a line out and return its output."""
        words = " ".join(line.split())
        self._world.settle(self._clock())
        if not words or words.startswith(("terminal ", "!")):
            return ""
        if words in {"end", "exit"}:
            self._mode = () if words == "end" else self._mode[:-1]
            return ""
        if words in {"configure terminal", "conf t"}:
            self._mode = ("config",)
            return ""
        table = _CONFIG if self._mode else _EXEC
        for pattern, method in table:
            match = re.fullmatch(pattern, words)
            if match:
                return method(self, *match.groups())
        return INVALID

    # Looks

    def show_bgp_summary(self) -> str:
        """Show a line for each neighbor."""
        now = self._clock()
        lines = [
            f"{s.neighbor:<16} {65000:>6} {s.peer:<10} {self._device.state_of(s, now):<12} "
            f"{s.prefixes if self._device.state_of(s, now) == 'Established' else 0:>6}"
            for s in self._device.sessions.values()
        ]
        return "\n".join(["Neighbor             AS Peer       State        Prefixes", *lines])

    def show_bgp_neighbor(self, neighbor: str) -> str:
        """Show one session."""
        session = self._device.sessions.get(neighbor)
        if session is None:
            return f"% No such neighbor {neighbor}"
        state = self._device.state_of(session, self._clock())
        shut = "yes" if session.is_shut else "no"
        return "\n".join(
            (
                f"BGP neighbor is {neighbor}, {session.peer}, local AS {self._device.asn}",
                f"  BGP state = {state}",
                f"  Administratively shut down: {shut}",
                f"  Update source: {session.interface}",
                f"  Prefixes received: {session.prefixes if state == 'Established' else 0}",
                f"  Last reset reason: {session.reason or 'none'}",
            )
        )

    def show_interface(self, name: str) -> str:
        """Show one port."""
        port = self._device.interfaces.get(name)
        if port is None:
            return f"% No such interface {name}"
        state = "up" if port.is_up(self._clock()) else "down"
        admin = "down" if port.is_shut else "up"
        return "\n".join(
            (
                f"{name} is {state}",
                f"  admin state is {admin}",
                f"  Description: {port.description}",
                f"  CRC errors: {int(port.crc)}",
                f"  Link flaps in the last hour: {int(port.flaps)}",
            )
        )

    def show_transceiver(self, name: str) -> str:
        """Show the light that one port receives."""
        port = self._device.interfaces.get(name)
        if port is None:
            return f"% No such interface {name}"
        rx = -40.0 if port.is_dark else port.rx_dbm
        low = "low alarm" if rx < LOW_RX_DBM else "ok"
        return f"{name}\n  Rx power: {rx:.1f} dBm ({low}, threshold {LOW_RX_DBM} dBm)"

    def show_status(self) -> str:
        """Show a line for each port."""
        now = self._clock()

        def state(port: Interface) -> str:
            return "disabled" if port.is_shut else "connected" if port.is_up(now) else "notconnect"

        ports = self._device.interfaces.values()
        return "\n".join(f"{p.name:<16} {p.description:<14} {state(p)}" for p in ports)

    def show_default_route(self) -> str:
        """Show the default route."""
        if not self._device.default_route:
            return "% Route 0.0.0.0/0 not in table"
        return f"0.0.0.0/0 via {self._device.default_route}, static"

    def show_fans(self) -> str:
        """Show a line for each fan, and the failed ones together."""
        lines = [f"{n:<8} {'ok' if ok else 'failed'}" for n, ok in self._device.fans.items()]
        failed = [name for name, ok in self._device.fans.items() if not ok]
        return "\n".join([*lines, f"Failed fans: {len(failed)} {', '.join(failed)}".rstrip()])

    def show_cpu(self) -> str:
        """Show processes, the busiest first."""
        busiest = sorted(self._device.processes.values(), key=lambda each: -each.cpu)
        total = min(100.0, sum(each.cpu for each in busiest))
        lines = [f"{each.pid:>6} {each.cpu:>5.1f}% {each.name}" for each in busiest]
        first = busiest[0]
        head = [f"CPU utilization: {total:.1f}%", f"Busiest process: {first.name} {first.cpu:.1f}%"]
        return "\n".join([*head, *lines])

    def show_flash(self) -> str:
        """Show files with their megabytes."""
        files = sorted(self._device.files.items(), key=lambda each: -each[1])
        lines = [f"{size:>6} MB {path}" for path, size in files]
        return "\n".join([*lines, f"Usage: {self._device.flash_percent}% of flash"])

    def show_log(self, most: str) -> str:
        """Show the last lines of the log."""
        return "\n".join([*self._device.log][-int(most) :])

    def show_version(self) -> str:
        """Show the software version."""
        return f"{self._device.name} nos 10.3, up since the last start"

    def show_clock(self) -> str:
        """Show the time."""
        return datetime.fromtimestamp(self._clock(), UTC).strftime("%H:%M:%S UTC %b %d %Y")

    def ping(self, address: str, count: str) -> str:
        """Return the success rate; an address behind a session that is down does not answer."""
        now = self._clock()
        session = self._device.sessions.get(address)
        ok = bool(self._device.default_route) if session is None else (
            self._device.interfaces[session.interface].is_up(now)
        )  # fmt: skip
        return f"{count} packets sent, success rate is {100 if ok else 0} percent"

    # Changes

    def clear_bgp(self, neighbor: str) -> str:
        """Reset a session."""
        session = self._device.sessions.get(neighbor)
        if session is None:
            return f"% No such neighbor {neighbor}"

        def reset() -> None:
            session.is_hung = False
            session.reason = "session cleared"

        self._act("clear", neighbor, reset)
        return ""

    def clear_counters(self, name: str) -> str:
        """Reset the counters of a port."""
        port = self._device.interfaces.get(name)
        if port is None:
            return f"% No such interface {name}"

        def clear() -> None:
            port.crc, port.flaps = 0.0, 0.0

        self._act("counters", name, clear)
        return ""

    def delete_file(self, path: str) -> str:
        """Delete a file."""
        if path not in self._device.files:
            return f"% No such file {path}"

        def remove() -> None:
            self._device.files.pop(path, None)

        self._act("delete", path, remove)
        return ""

    def restart_process(self, name: str) -> str:
        """Restart a process."""
        process = self._device.processes.get(name)
        if process is None:
            return f"% No such process {name}"

        def restart() -> None:
            process.cpu, process.pid = 2.0, process.pid + 1

        self._act("restart", name, restart)
        return f"{name} restarted"

    def enter_interface(self, name: str) -> str:
        """Enter the configuration of a port."""
        if name not in self._device.interfaces:
            return f"% No such interface {name}"
        self._mode = ("config", name)
        return ""

    def enter_bgp(self, asn: str) -> str:
        """Enter the configuration of the routing process."""
        if int(asn) != self._device.asn:
            return f"% BGP runs as {self._device.asn}"
        self._mode = ("config", "bgp")
        return ""

    def shut(self, no: str | None) -> str:
        """Shut a port, or bring it up."""
        if not self._is_in_port:
            return INVALID
        port = self._device.interfaces[self._mode[1]]

        def change() -> None:
            port.is_shut = no is None

        self._act("no shutdown" if no else "shutdown", port.name, change)
        return ""

    def shut_neighbor(self, no: str | None, neighbor: str) -> str:
        """Shut a session, or bring it up."""
        session = self._device.sessions.get(neighbor)
        if session is None or self._is_in_port or len(self._mode) < 2:
            return INVALID if session else f"% No such neighbor {neighbor}"

        def change() -> None:
            session.is_shut = no is None

        self._act("no neighbor shutdown" if no else "neighbor shutdown", neighbor, change)
        return ""

    def route(self, no: str | None, gateway: str) -> str:
        """Set the default route, or remove it."""

        def change() -> None:
            self._device.default_route = "" if no else gateway

        self._act("no route" if no else "route", gateway, change)
        return ""


_NAME = r"(Ethernet1/\d+)"
_IP = r"(\d+\.\d+\.\d+\.\d+)"
_EXEC: tuple[tuple[str, Callable[..., str]], ...] = (
    (r"show ip bgp summary", Shell.show_bgp_summary),
    (rf"show ip bgp neighbors {_IP}", Shell.show_bgp_neighbor),
    (rf"show interface {_NAME}", Shell.show_interface),
    (rf"show interface {_NAME} transceiver", Shell.show_transceiver),
    (r"show interface status", Shell.show_status),
    (r"show ip route 0\.0\.0\.0/0", Shell.show_default_route),
    (r"show environment fan", Shell.show_fans),
    (r"show processes cpu", Shell.show_cpu),
    (r"dir bootflash:", Shell.show_flash),
    (r"show logging last (\d{1,3})", Shell.show_log),
    (r"show version", Shell.show_version),
    (r"show clock", Shell.show_clock),
    (rf"ping {_IP} count (\d{{1,2}})", Shell.ping),
    (rf"clear ip bgp {_IP}", Shell.clear_bgp),
    (rf"clear counters interface {_NAME}", Shell.clear_counters),
    (r"delete bootflash:(/\S+) no-prompt", Shell.delete_file),
    (r"restart process (\w+)", Shell.restart_process),
)
_CONFIG: tuple[tuple[str, Callable[..., str]], ...] = (
    (rf"interface {_NAME}", Shell.enter_interface),
    (r"router bgp (\d+)", Shell.enter_bgp),
    (r"(no )?shutdown", Shell.shut),
    (rf"(no )?neighbor {_IP} shutdown", Shell.shut_neighbor),
    (rf"(no )?ip route 0\.0\.0\.0/0 {_IP}", Shell.route),
)
