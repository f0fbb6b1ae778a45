"""Ticket systems: what each body becomes."""

import json

import pytest

from services.integrations.sources.delivery_reader import DeliveryReader, UnrecognisedBodyError
from services.integrations.sources.settings import WebhookSettings
from services.integrations.sources.source import UnreadableTicketError
from services.kit.errors import FlowXpertError
from services.tickets.settings import GatewaySettings

READER = DeliveryReader(GatewaySettings(_env_file=None), WebhookSettings(_env_file=None))


def read(body, source=None):
    return READER.read(json.dumps(body).encode(), source)


def only(body, source=None):
    (draft,) = read(body, source).tickets
    return draft


def test_an_alert_is_known_by_its_fingerprint_and_by_when_it_began(group):
    draft = only(group)
    assert (draft.source, draft.external_id) == ("alertmanager", "5e6f7081a2b3c4d5")
    assert draft.occurrence == "2025-03-12T08:14:51.123000+00:00"


def test_an_alert_keeps_its_name_labels_severity_and_link(group):
    draft = only(group)
    assert draft.title == "Fan 2 of spine-01 failed"
    assert draft.description == "It stands still."
    assert draft.alert_name == "FanFailed"
    assert draft.severity == "critical"
    assert draft.labels["device"] == "spine-01"
    assert draft.url == "http://prometheus.example.net/graph"


def test_the_same_moment_in_another_time_zone_is_the_same_occurrence(group, alert):
    before = only(group).occurrence
    alert["startsAt"] = "2025-03-12T10:14:51.123+02:00"
    assert only(group).occurrence == before


def test_further_annotations_are_told_and_links_are_not(group, alert):
    alert["annotations"] |= {"impact": "Hot switch", "runbook_url": "https://wiki.example/x"}
    assert only(group).description == "It stands still.\nimpact: Hot switch"


def test_the_page_that_an_alert_links_is_kept_with_its_anchor(group, alert):
    alert["annotations"]["runbook_url"] = "https://wiki.example.org/fans#fan-fails"
    assert only(group).runbook_url == "https://wiki.example.org/fans#fan-fails"


def test_a_link_that_leads_nowhere_is_no_page_of_an_alert():
    assert only({"title": "Fan fails", "runbook": "see the wiki"}).runbook_url == ""


@pytest.mark.parametrize(
    ("annotations", "title"),
    [
        ({"title": "Fan\n bad"}, "Fan bad"),
        ({"description": "It stands."}, "FanFailed"),
        ({}, "FanFailed"),
    ],
)
def test_an_alert_without_a_summary_takes_the_next_best_title(group, alert, annotations, title):
    alert["annotations"] = annotations
    assert only(group).title == title


def test_an_alert_without_a_fingerprint_is_known_by_its_labels(group, alert):
    del alert["fingerprint"]
    first = only(group).external_id
    alert["labels"] = dict(reversed(alert["labels"].items()))
    assert only(group).external_id == first
    alert["labels"]["device"] = "spine-02"
    assert only(group).external_id != first


def test_an_alert_that_says_nothing_is_refused(group, alert):
    alert["labels"], alert["annotations"] = {"job": "x"}, {}
    with pytest.raises(UnreadableTicketError, match="alertname"):
        read(group)


@pytest.mark.parametrize("starts_at", ["soon", 9e99, "9999-12-31T23:59:59-23:00", [], True])
def test_a_start_that_is_no_time_is_left_out_and_the_ticket_says_so(group, alert, starts_at):
    alert["startsAt"], alert["labels"]["port"] = starts_at, ["x"]
    ticket = only(group)
    assert (ticket.title, ticket.occurrence) == ("Fan 2 of spine-01 failed", "")
    assert set(ticket.labels["left_out"].split(", ")) == {"startsAt", "labels.port"}
    assert "port" not in ticket.labels


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"annotations": {"summary": "x" * 60_000}}, lambda t: t.title.endswith("… (cut)")),
        ({"fingerprint": "f" * 600}, lambda t: len(t.external_id) == 400),
        ({"generatorURL": "https://x/" + "y" * 9000}, lambda t: t.labels["left_out"] == "url"),
        ({"labels": {"alertname": "A" * 9000}}, lambda t: t.alert_name.endswith("… (cut)")),
        ({"labels": {"alertname": "A"} | dict.fromkeys(map(str, range(900)), "x")}, None),
    ],
)
def test_an_alert_that_is_too_long_is_cut_where_others_come_with_it(group, alert, change, seen):
    group["alerts"].append({**alert, "fingerprint": "another"} | change)
    delivery = read(group)
    assert delivery.rejected == ()
    first, second = delivery.tickets
    assert "left_out" not in first.labels
    assert seen is None or seen(second)


@pytest.mark.parametrize("name", ["title", "summary", "subject", "short_description", "name"])
def test_a_generic_title_goes_by_many_names(name):
    assert only({name: "Fan failed"}).title == "Fan failed"


@pytest.mark.parametrize("name", ["description", "body", "text", "message", "details"])
def test_a_generic_description_goes_by_many_names_and_lends_its_first_line(name):
    draft = only({name: "Fan failed\nsince noon"})
    assert (draft.title, draft.description) == ("Fan failed", "Fan failed\nsince noon")


def test_a_long_first_line_is_cut_to_a_title():
    draft = only({"description": "x" * 500})
    assert len(draft.title) == 160
    assert len(draft.description) == 500


@pytest.mark.parametrize("name", ["id", "external_id", "key", "number", "ticket_id"])
@pytest.mark.parametrize("value", ["T-1", 17])
def test_a_generic_id_goes_by_many_names_and_may_be_a_number(name, value):
    assert only({name: value, "title": "x"}).external_id == str(value)


def test_an_empty_field_gives_way_to_the_next_of_its_names():
    assert only({"title": "", "summary": None, "subject": "Fan"}).title == "Fan"


def test_labels_may_hold_numbers_and_booleans():
    draft = only({"title": "x", "labels": {"port": 8080, "up": False, "load": 0.5}})
    assert draft.labels == {"port": "8080", "up": "false", "load": "0.5"}


def test_alert_name_and_severity_are_taken_from_the_labels_when_they_are_nowhere_else():
    draft = only({"title": "x", "labels": {"alertname": "FanFailed", "severity": "high"}})
    assert (draft.alert_name, draft.severity) == ("FanFailed", "high")


def test_terminal_colours_and_control_characters_are_taken_out():
    draft = only({"title": "\x1b[31mFan\x1b[0m\x07 failed", "description": "a\tb\r\nc\x08"})
    assert draft.title == "Fan failed"
    assert draft.description == "a\tb\nc"


def test_a_forced_source_reads_what_would_be_recognised_as_another(group):
    with pytest.raises(UnreadableTicketError):
        read(group, "generic")
    del group["version"]
    assert only(group, "alertmanager").source == "alertmanager"


def test_a_body_of_no_known_shape_is_refused_with_the_list_of_sources():
    with pytest.raises(UnrecognisedBodyError, match=r"alertmanager.*generic"):
        read({"ping": 1})


@pytest.mark.parametrize(
    "body",
    [
        {"title": 5},
        {"title": ["x"]},
        {"title": {"x": 1}},
        {"title": True},
        {"title": "   "},
        {"title": "\x07"},
        {"title": "x", "labels": ["a"]},
        {"title": "x", "labels": {"a": {"b": "c"}}},
        {"title": "x", "labels": {"a": None}},
        {"title": "x", "id": 1.5},
        {"title": "x", "id": True},
        {"title": "x", "url": 1},
        {"title": "nul \0"},
        {"title": "x", "labels": {"nul \0": "y"}},
        {"title": "lone \ud800"},
        {"title": "x", "labels": {"\udfff": "y"}},
        {"version": "4", "alerts": []},
        {"version": "4", "alerts": [None]},
        {"version": "4", "alerts": [{"labels": {"alertname": 3}}]},
        {"version": "4", "alerts": [{"status": "odd", "labels": {"alertname": "x"}}]},
        {"version": "4", "alerts": {"a": 1}},
        [],
        "text",
        None,
        5,
        True,
    ],
)
def test_what_is_no_ticket_is_refused_in_printable_words(body):
    with pytest.raises(FlowXpertError) as refused:
        read(body)
    assert refused.value.status_code == 422
    str(refused.value).encode()


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        ({"title": "x" * 1001}, "1000"),
        ({"title": "x", "description": "y" * 50_001}, "50000"),
        ({"title": "x", "id": "y" * 401}, "400"),
        ({"title": "x", "severity": "y" * 1001}, "1000"),
        ({"title": "x", "alert_name": "y" * 1001}, "1000"),
        ({"title": "x", "url": "y" * 4001}, "4000"),
        ({"title": "x", "labels": {str(n): "" for n in range(201)}}, "200"),
        ({"title": "x", "labels": {"y" * 4001: ""}}, "4000"),
        ({"title": "x", "labels": {"y": "z" * 4001}}, "4000"),
        ({"version": "4", "alerts": [{"labels": {"alertname": "x"}}] * 1001}, "1000"),
    ],
)
def test_what_exceeds_a_limit_is_refused_with_that_limit(body, limit):
    with pytest.raises(FlowXpertError, match=limit) as refused:
        read(body)
    assert refused.value.status_code == 413
