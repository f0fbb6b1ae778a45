"""Counters of the switches, for Prometheus to scrape on loopback."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from services.simulator.model import World

DARK_DBM = -40.0
"""Reading of an optic without light."""

_PORTS = ("device", "interface")


class SwitchMetrics(Collector):
    """Collector of all switches of a world, as they are when they are scraped."""

    def __init__(self, settled: Callable[[], tuple[World, float]]) -> None:
        """Collect from the world and time that `settled` returns."""
        self._settled = settled

    def collect(self) -> Iterator[Metric]:
        """See `Collector.collect`."""
        world, now = self._settled()
        yield from _of_ports(world, now)
        yield from _of_devices(world)
        up = GaugeMetricFamily(
            "switch_bgp_session_up", "Whether it is established.", labels=("device", "neighbor")
        )
        for name, device in world.devices.items():
            for session in device.sessions.values():
                is_up = device.state_of(session, now) == "Established"
                up.add_metric((name, session.neighbor), float(is_up))
        yield up

    def describe(self) -> list[Metric]:
        """See `Collector.describe`: nothing is read before a scrape."""
        return []


class MetricsServer:
    """Server of the metrics on loopback, until it is stopped."""

    def __init__(self, metrics: SwitchMetrics, port: int) -> None:
        """Start the server; port 0 takes any that is free."""
        registry = CollectorRegistry()
        registry.register(metrics)
        self._server, self._thread = start_http_server(port, "127.0.0.1", registry)

    @property
    def url(self) -> str:
        """Base URL of the server; Prometheus adds `/metrics`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def _of_ports(world: World, now: float) -> Iterator[Metric]:
    up = GaugeMetricFamily("switch_interface_up", "Whether it carries traffic.", labels=_PORTS)
    admin = GaugeMetricFamily("switch_interface_admin_up", "Whether nobody shut it.", labels=_PORTS)
    crc = CounterMetricFamily(
        "switch_interface_crc_errors", "Frames that arrived damaged.", labels=_PORTS
    )
    flaps = CounterMetricFamily(
        "switch_interface_flaps", "Times that it went down and up.", labels=_PORTS
    )
    light = GaugeMetricFamily(
        "switch_interface_rx_power_dbm", "Light that its optic receives.", labels=_PORTS
    )
    for name, device in world.devices.items():
        for port in device.interfaces.values():
            labels = (name, port.name)
            up.add_metric(labels, float(port.is_up(now)))
            admin.add_metric(labels, float(not port.is_shut))
            crc.add_metric(labels, float(int(port.crc)))
            flaps.add_metric(labels, float(int(port.flaps)))
            light.add_metric(labels, DARK_DBM if port.is_dark else port.rx_dbm)
    yield from (up, admin, crc, flaps, light)


def _of_devices(world: World) -> Iterator[Metric]:
    cpu = GaugeMetricFamily(
        "switch_cpu_percent", "CPU that its processes take.", labels=("device",)
    )
    flash = GaugeMetricFamily(
        "switch_flash_used_percent", "How full its flash is.", labels=("device",)
    )
    fans = GaugeMetricFamily("switch_fan_ok", "Whether it runs.", labels=("device", "fan"))
    for name, device in world.devices.items():
        cpu.add_metric((name,), min(100.0, sum(each.cpu for each in device.processes.values())))
        flash.add_metric((name,), float(device.flash_percent))
        for fan, is_ok in device.fans.items():
            fans.add_metric((name, fan), float(is_ok))
    yield from (cpu, flash, fans)
