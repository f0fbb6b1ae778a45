import pytest

from services.execution.bindings.answer_tests import derive_answer_tests
from tests.unit.execution.carrying import catalogue

YES_NO = ("Yes", "No")


def answer_tests(tool, question, conditions=YES_NO):
    answers = derive_answer_tests(question, conditions, catalogue().tool(tool).output.fields)
    return {each.condition: [str(test) for test in each.tests] for each in answers}


@pytest.mark.parametrize(
    ("tool", "question", "yes"),
    [
        ("bgp_session", "Is the session Established?", "state is Established"),
        ("bgp_session", "Is the session not Established?", "state is_not Established"),
        ("bgp_session", "Is the neighbor administratively shut down?", "shut is yes"),
        ("interface_state", "Are there more than 10 link flaps?", "flaps above 10.0"),
        ("interface_state", "Are there any CRC errors?", "crc above 0"),
        ("interface_state", "Are there no CRC errors?", "crc is 0"),
        ("interface_state", "Are the CRC errors still increasing?", "crc rose"),
        ("interface_state", "Have the CRC errors stopped increasing?", "crc stayed"),
        ("interface_light", "Is the receive power below -14 dBm?", "rx power below -14.0"),
        ("cpu", "Does no single process take more than 80 percent?", "busiest at most 80.0"),
        ("cpu", "Is the CPU utilization not above 60 %?", "utilization at most 60.0"),
        ("cpu", "Is the CPU utilization at least 60 %?", "utilization at least 60.0"),
        ("flash", "Is there a core file?", "core is there"),
        ("flash", "Is there no core file?", "core is missing"),
        ("default_route", "Is there no default route at all?", "route is not in table"),
        ("default_route", "Is there a default route?", "route is via"),
        ("default_route", "Is the next hop 192.0.2.1?", "next hop is 192.0.2.1"),
        ("default_route", "Is the next hop 192.0.2.1 now?", "next hop is 192.0.2.1"),
        ("default_route", "Is the next hop not 192.0.2.1?", "next hop is_not 192.0.2.1"),
        ("cpu", "Is bgp the busiest process?", "process is bgp"),
    ],
)
def test_yes_is_what_the_question_asks(tool, question, yes):
    assert answer_tests(tool, question) == {"Yes": [yes.replace("_", " ")], "No": []}


def test_both_halves_of_a_question_must_hold():
    tests = answer_tests("interface_state", "Is the link state down and the admin state up?")
    assert tests == {"Yes": ["state is down", "admin is up"], "No": []}
    tests = answer_tests("interface_state", "Is the admin state up but the link state down?")
    assert tests == {"Yes": ["admin is up", "state is down"], "No": []}


@pytest.mark.parametrize(
    ("tool", "question"),
    [
        ("bgp_session", "Is it raining?"),
        ("interface_state", "Is the link state down or the admin state down?"),
        ("bgp_session", "Is the state Idle, or Active?"),
        ("cpu", "Did that help?"),
    ],
)
def test_what_the_fields_do_not_tell_is_left_to_a_person(tool, question):
    assert answer_tests(tool, question) == {}


def test_answers_that_name_states_are_these_states():
    tests = answer_tests(
        "bgp_session", "What is the state of the session?", ("Idle", "Active", "Established")
    )
    assert tests == {n: [f"state is {n}"] for n in ("Idle", "Active", "Established")}


def test_an_answer_beside_named_states_is_what_is_left():
    tests = answer_tests("bgp_session", "What is the state of the session?", ("Idle", "Otherwise"))
    assert tests == {"Idle": ["state is Idle"], "Otherwise": []}
