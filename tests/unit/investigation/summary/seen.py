"""Traces by hand, of the simulated network's own tools."""

from services.contracts.execution import RunOutcome
from services.execution.tools.tool import ToolEffect
from services.investigation.summary.trace import Call, Trace
from tests.unit.execution.carrying import catalogue

TOOLS = catalogue()


def look(at, tool, fields, **arguments):
    return Call(
        tool=tool,
        effect=ToolEffect.READ,
        kind="switch",
        target="",
        arguments=arguments,
        fields=fields,
        at=at,
    )


def change(at, tool, *, verified=True, undone=False, undoes=False, succeeded=True, **arguments):
    return Call(
        tool=tool,
        effect=ToolEffect.CHANGE,
        kind="switch",
        target="",
        arguments=arguments,
        at=at,
        verified=verified,
        undone=undone,
        undoes=undoes,
        succeeded=succeeded,
    )


def trace(id_, labels, *calls, ended=RunOutcome.RECOVERED, **more):
    device = labels["device"]
    return Trace(
        id=id_,
        ticket=more.pop("ticket", id_),
        labels=labels,
        calls=tuple(c.model_copy(update={"target": c.target or device}) for c in calls),
        ended=ended,
        **more,
    )


def session(
    at, neighbor, *, state="Idle", shut="yes", reason="admin shutdown", asn="65001", **more
):
    fields = {
        "state": state,
        "shut": shut,
        "asn": asn,
        "interface": "Ethernet1/49",
        "prefixes": 120 if state == "Established" else 0,
        "reason": reason,
    }
    return look(at, "bgp_session", fields | more, neighbor=neighbor)


def port(at, interface="Ethernet1/49", *, state="up", admin="up", crc=0, flaps=0):
    fields = {"state": state, "admin": admin, "crc": crc, "flaps": flaps}
    return look(at, "interface_state", fields, interface=interface)


def bgp_labels(row):
    return {
        "alertname": "BgpSessionDown",
        "device": f"leaf-{row}",
        "neighbor": f"10.0.1{row}.1",
        "severity": "critical",
    }


def shut(row, *before, verified=True, ended=RunOutcome.RECOVERED, **seen):
    """A session that was shut, and let up."""
    neighbor, asn = f"10.0.1{row}.1", f"6500{row}"
    return trace(
        f"shut-{row}",
        bgp_labels(row),
        *before,
        session(10, neighbor, asn=asn, **seen),
        change(20, "bgp_session_enable", asn=asn, neighbor=neighbor, verified=verified),
        session(30, neighbor, asn=asn, shut="no", state="Established" if verified else "Idle"),
        ended=ended,
    )


def hung(row, *, ended=RunOutcome.RECOVERED, verified=True, **seen):
    """A session that hung, and was cleared."""
    neighbor, asn = f"10.0.1{row}.1", f"6500{row}"
    fields = {"shut": "no", "reason": "hold timer expired"} | seen
    return trace(
        f"hung-{row}",
        bgp_labels(row),
        session(10, neighbor, asn=asn, **fields),
        change(20, "bgp_session_clear", neighbor=neighbor, verified=verified),
        session(30, neighbor, asn=asn, shut="no", state="Established", reason="session cleared"),
        ended=ended,
    )


def crc(row, *, counts=(400, 520), interface="Ethernet1/49"):
    """Errors that rise, and a port that was taken out."""
    labels = {
        "alertname": "InterfaceCrcErrors",
        "device": f"leaf-{row}",
        "interface": interface,
    }
    return trace(
        f"crc-{row}",
        labels,
        port(10, interface, crc=counts[0]),
        port(50, interface, crc=counts[1]),
        change(60, "interface_shut", interface=interface),
        port(70, interface, state="down", admin="down", crc=counts[1] + 10),
    )


def questions_of(learned):
    """Its questions, in order."""
    return [step.text for step in learned.workflow().steps if step.kind == "decision"]


def bound(learned, tool):
    """The first binding of a tool."""
    return next(each for each in learned.bindings() if each.tool == tool)
