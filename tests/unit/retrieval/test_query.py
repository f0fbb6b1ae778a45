import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.retrieval import RetrieveRequest
from services.retrieval.query import read_query


def query(**fields):
    return read_query(RetrieveRequest(**fields))


def test_an_alert_name_is_split_into_words_and_kept_as_a_name():
    parsed = query(alert_name="FanTrayFailed", description="A tray stopped.")
    assert parsed.focus == "Fan Tray Failed"
    assert "FanTrayFailed" in parsed.words
    assert parsed.names[0] == "FanTrayFailed"


def test_a_title_that_is_one_identifier_is_an_alert_name():
    assert query(title="FanTrayFailed").focus == "Fan Tray Failed"


def test_a_description_that_begins_with_the_title_says_it_once():
    parsed = query(title="Fan failed", description="Fan failed\nThe inlet is hot.")
    assert parsed.words.count("Fan failed") == 1


def test_quoted_messages_codes_and_identifiers_are_names():
    parsed = query(
        title="Port down", description='It says "link flap limit" and LINK-3-UPDOWN, 0x80AF'
    )
    assert {"link flap limit", "LINK-3-UPDOWN", "0x80AF"} <= set(parsed.names)


def test_addresses_times_and_generated_names_do_not_reach_the_embedder():
    parsed = query(
        title="Session lost",
        description="peer 10.1.2.3 at 2024-05-06T07:08:09Z on agent-7f9dd8b6c4-x2k1l",
    )
    assert "10.1.2.3" not in parsed.meaning
    assert "2024" not in parsed.meaning
    assert "7f9dd8b6c4" not in parsed.meaning
    assert "Session lost" in parsed.meaning


def test_of_pasted_output_the_failing_lines_are_the_focus():
    parsed = query(
        title="$ show interface brief",
        description="$ show interface brief\nEth1   up    10G\nError: optics not supported on Eth2",
    )
    assert "optics not supported" in parsed.focus


def test_labels_help_the_words_and_the_alert_label_is_not_said_twice():
    parsed = query(title="Down", labels={"alertname": "X1Y", "site": "berlin", "severity": "high"})
    assert "berlin" in parsed.words
    assert "high" not in parsed.words
    assert "X1Y" not in parsed.words


def test_nothing_to_look_for_is_empty():
    assert query().is_empty
    assert query(title=" \x00 ").is_empty


@pytest.mark.parametrize(
    "text", ["a b " * 300_000, "x-1-y " * 200_000, "a" * 1_000_000, "a_" * 500_000, '"x ' * 300_000]
)
def test_a_huge_ticket_is_bounded_in_time_and_size(text):
    started = time.thread_time()
    parsed = query(title=text, description=text, alert_name=text)
    assert time.thread_time() - started < 2
    assert len(parsed.words) < 10_000
    assert len(parsed.meaning) < 2_000
    assert len(parsed.names) <= 40


@given(st.text(alphabet=st.characters(), max_size=300), st.text(max_size=50))
def test_any_text_makes_a_query_that_can_be_encoded(text, name):
    parsed = query(title=text, description=text, alert_name=name, labels={"a": text})
    for part in (parsed.meaning, parsed.focus, parsed.words, *parsed.names):
        part.encode()


def test_lone_surrogates_are_replaced():
    query(title="fan \ud800 failed").words.encode()


def test_a_query_knows_whether_it_has_the_name_of_an_alert():
    assert query(alert_name="FanTrayFailed", description="A tray stopped.").is_alert
    assert query(title="FanTrayFailed").is_alert
    assert not query(title="Fan tray of spine 3 stands still").is_alert
