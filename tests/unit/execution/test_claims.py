"""What a model says stands in the lines that it cites, or it does not count."""

import pytest

from services.investigation.search.claims import CitedEvidence, Vocabulary, find_unsupported
from tests.unit.execution.carrying import catalogue

WORDS = Vocabulary.of(catalogue().tools, ("leaf-1", "leaf-2", "snmpd"))
SESSION = CitedEvidence(
    ("leaf-1 10.0.11.1", "  BGP state = Idle", "  Administratively shut down: yes"),
    (("bgp_session", "state", "Idle"), ("bgp_session", "shut", "yes")),
)
NOT_SHUT = CitedEvidence(
    ("leaf-1 10.0.11.1", "  Administratively shut down: no"),
    (("bgp_session", "shut", "no"),),
)
CPU = CitedEvidence(("leaf-2", "CPU utilization: 97.4%", "Busiest process: snmpd 93.0%"))
LIGHT = CitedEvidence(
    ("leaf-1 Ethernet1/49", "  Rx power: -17.5 dBm (low alarm, threshold -14.0 dBm)")
)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The session to 10.0.11.1 is Idle", SESSION),
        ("leaf-1's neighbor 10.0.11.1 was administratively shut down.", SESSION),
        ("The session is not Established", SESSION),
        ("F1 and O1, line 3: the neighbor is shut down", SESSION),
        ("10.0.11.1 is not shut: Administratively shut down: no", NOT_SHUT),
        ("snmpd takes 93% of the CPU", CPU),
        ("CPU is above 90 percent, at 97.4", CPU),
        ("CPU is at about 97 percent", CPU),
        ("Rx power of Ethernet1/49 is -17.5 dBm, under -14 dBm", LIGHT),
        ("Rx power is 17.5 dBm below", LIGHT),
        ("The optic's power raised a low alarm", LIGHT),
    ],
)
def test_what_the_lines_say_stands(claim, evidence):
    assert find_unsupported(claim, evidence, WORDS) == ""


@pytest.mark.parametrize(
    ("claim", "evidence", "what"),
    [
        ("The session to 10.0.21.1 is Idle", SESSION, "10.0.21.1"),
        ("The session to 10.0.11.1 is Established", SESSION, "established"),
        ("The neighbor is administratively shut down", NOT_SHUT, "administratively shut down"),
        ("leaf-2 shut it down", SESSION, "leaf-2"),
        ("snmpd takes 95%", CPU, "95"),
        ("CPU is above 98 percent", CPU, "98"),
        ("Ethernet1/4 is dark", LIGHT, "Ethernet1/4"),
        ("`bgp.123.gz` fills it", CPU, "bgp.123.gz"),
        ("Somebody cut the cable outside", CPU, "nothing of it"),
    ],
)
def test_what_they_do_not_say_does_not_and_is_named(claim, evidence, what):
    assert what in find_unsupported(claim, evidence, WORDS)
