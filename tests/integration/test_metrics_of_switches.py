"""The simulated switches as a real Prometheus scrapes them, and runs that ask it."""

import shutil
import time

import httpx
import pytest
import yaml

from services.contracts.execution import RunOutcome
from services.execution.adapters.http import HttpAdapter
from services.execution.runs.events import QuestionKind, RunEventKind
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.outputs import read_output
from services.kit.clock import Clock
from services.simulator.faults import Fault, RepairEffect
from services.simulator.simulation import Simulation
from tests.integration.test_execution import OverSsh
from tests.servers.prometheus import prometheus
from tests.waiting import eventually

SPEED = 5
CRC = Fault("crc_errors", "leaf-1", "Ethernet1/49")
WHERE = {"device": "leaf-1", "interface": "Ethernet1/49"}

needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None,
    reason="prometheus is not on the path: Debian has it in the package `prometheus`",
)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    clock = Clock(begins_at=time.time(), speed=SPEED)
    folder = tmp_path_factory.mktemp("network")
    with Simulation(folder, clock=clock, metrics_port=0) as simulation:
        yield simulation


def scraped(simulation):
    lines = httpx.get(f"{simulation.metrics.url}/metrics").text.splitlines()
    samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}


def port(name, interface="Ethernet1/49", device="leaf-1"):
    return f'switch_interface_{name}{{device="{device}",interface="{interface}"}}'


def test_what_breaks_shows_in_the_metrics(network):
    network.heal()
    well = scraped(network)
    assert well[port("up")] == 1
    assert well[port("crc_errors_total")] == 0
    assert well['switch_fan_ok{device="leaf-1",fan="Fan2"}'] == 1
    session = 'switch_bgp_session_up{device="leaf-1",neighbor="10.0.11.1"}'
    assert well[session] == 1
    network.inject(CRC)
    network.inject(Fault("fan_failed", "leaf-1", "Fan2"))
    network.inject(Fault("bgp_uplink_dark", "leaf-1", "Ethernet1/49"))
    network.inject(Fault("flash_full", "leaf-1", "/core/bgp.1.gz"))
    network.inject(Fault("process_cpu", "leaf-1", "snmpd"))
    ill = scraped(network)
    assert ill[port("up")] == 0
    assert ill[port("rx_power_dbm")] == -40
    assert ill[port("crc_errors_total")] >= 400
    assert ill[session] == 0
    assert ill['switch_fan_ok{device="leaf-1",fan="Fan2"}'] == 0
    assert ill['switch_flash_used_percent{device="leaf-1"}'] > 90
    assert ill['switch_cpu_percent{device="leaf-1"}'] > 90
    assert ill[port("up", device="leaf-2")] == 1


def test_counters_run_on_alike_however_often_they_are_scraped(network):
    network.heal()
    network.inject(CRC)

    def counted():
        """The counter, and between which times it was read."""
        before = network.clock.now()
        return scraped(network)[port("crc_errors_total")], before, network.clock.now()

    first, first_from, first_to = counted()
    while network.clock.now() < first_to + 10:
        scraped(network)
    last, last_from, last_to = counted()
    assert 3 * (last_from - first_to) - 3 <= last - first <= 3 * (last_to - first_from) + 3


def test_an_address_of_prometheus_brings_its_tools_into_the_catalogue(tmp_path):
    with Simulation(tmp_path / "without"):
        assert "crc_counted" not in Catalogue.of_folder(tmp_path / "without").by_name
    with Simulation(tmp_path / "with", prometheus="http://127.0.0.1:9090"):
        catalogue = Catalogue.of_folder(tmp_path / "with")
    assert {"crc_counted", "sessions_down"} <= catalogue.by_name.keys()
    assert catalogue.target("prometheus").url == "http://127.0.0.1:9090"


# A run that asks it


class InTime(OverSsh):
    """As `OverSsh`, in the time in which Prometheus scrapes."""

    def wait_until(self, at):
        clock = self.simulation.clock
        time.sleep(max(0.0, clock.real_seconds(at - clock.now())))


@pytest.fixture(scope="module")
def monitored(network, tmp_path_factory):
    """The network, with a Prometheus that scrapes it each second in its catalogue."""
    with prometheus(tmp_path_factory.mktemp("prometheus"), network.metrics.url) as server:
        network.prometheus = server.url
        network.write_catalogue()
        tools = network.folder / "tools" / "switch.yaml"
        definitions = yaml.safe_load(tools.read_text())
        for tool in definitions:
            if tool["name"] == "interface_shut":  # shut, it counts no errors any more
                tool["verify"] = {
                    "tool": "crc_counted",
                    "on": "prometheus",
                    "arguments": {"device": "{target}", "interface": "{interface}"},
                    "tests": [{"field": "counted", "comparison": "stayed"}],
                    "within_s": 45,
                    "every_s": 10,
                    "holds_s": 20,
                }
        tools.write_text(yaml.safe_dump(definitions))
        yield network, server


@needs_prometheus
def test_tools_ask_a_prometheus_for_what_it_saw(monitored):
    network, server = monitored
    network.heal()
    network.inject(CRC)
    eventually(lambda: server.ask(port("crc_errors_total") + " >= 400"))
    catalogue = Catalogue.of_folder(network.folder)
    target = catalogue.target("prometheus")

    def read_fields(name, **arguments):
        tool = catalogue.tool(name)
        raw = HttpAdapter().call(tool, target, tool.checked(arguments)).text
        return read_output(tool, raw, "").fields

    assert read_fields("crc_counted", **WHERE)["counted"] >= 400
    assert read_fields("sessions_down", device="leaf-1") == {"down": 0}
    network.inject(Fault("bgp_session_shut", "leaf-1", "10.0.11.1"))
    eventually(lambda: server.ask('switch_bgp_session_up{device="leaf-1"} == 0'))
    assert read_fields("sessions_down", device="leaf-1") == {"down": 1}


@needs_prometheus
@pytest.mark.parametrize("acts", [RepairEffect.WORKS, RepairEffect.NOTHING])
def test_a_change_is_verified_by_a_counter_that_no_longer_rises(monitored, acts):
    network, server = monitored
    network.heal()
    carrying = InTime(network)
    fault = Fault(CRC.kind, CRC.device, CRC.place, acts)
    run = carrying.start("InterfaceCrcErrors", carrying.break_(fault))
    eventually(lambda: server.ask(port("crc_errors_total") + " > 400"))
    state = carrying.go(run)
    assert state.open_approval.tool == "interface_shut", state.question
    state = carrying.approve(run)
    events = carrying.store.load(run).events
    [changed] = [e for e in events if e.kind is RunEventKind.CHANGED]
    looks = [
        e for e in events if e.kind is RunEventKind.OBSERVED and e.facts["purpose"] == "verify"
    ]
    assert {e.facts["target"] for e in looks} == {"prometheus"}
    assert all(e.at >= changed.at for e in looks)
    counted = [e.facts["fields"]["counted"] for e in looks]
    if acts is RepairEffect.NOTHING:
        assert state.question.what is QuestionKind.FAILED
        assert counted == sorted(set(counted)), "it rose from look to look"
        return
    assert len(looks) >= 3
    assert counted[-1] == counted[-2] > 400  # all of it was counted before
    [verified] = [e for e in events if e.kind is RunEventKind.VERIFIED]
    assert verified.at - changed.at >= 20
    assert state.outcome is RunOutcome.RECOVERED or state.question.what is QuestionKind.DO
