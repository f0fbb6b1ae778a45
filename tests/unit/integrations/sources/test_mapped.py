"""A YAML file describes a ticket system; what is wrong with it is said with its line."""

import json

import pytest

from services.integrations.sources.delivery_reader import DeliveryReader
from services.integrations.sources.mapped import MappingError
from services.integrations.sources.settings import WebhookSettings
from services.integrations.sources.source import UnreadableTicketError
from services.tickets.settings import GatewaySettings

TOWER = """\
sources:
  - name: tower
    when: "tower && events"
    items: events
    ticket:
      external_id: id
      occurrence: to_string(since)
      title: headline
      description: "join('\\n', notes || `[]`)"
      severity: level
      severities: {red: critical, amber: warning}
      service: crane.name
      teams: crews[].name
      labels: "{site: site, rack: position.rack}"
      url: link
    resolved: "state == 'clear'"
    resolved_occurrence: to_string(since)
    ignored: "state == 'test'"
"""
EVENT = {
    "id": 12,
    "since": 1700000000,
    "headline": "Crane 3 sways",
    "notes": ["Wind 20 m/s", "Load 2 t"],
    "level": "red",
    "crane": {"name": "Crane 3"},
    "crews": [{"name": "Riggers"}, {"name": "Yard"}],
    "site": "north",
    "position": {"rack": "R7"},
    "link": "https://tower.example.org/12",
}


@pytest.fixture
def reader_of(tmp_path):
    def make(text, **settings):
        file = tmp_path / "mappings.yaml"
        file.write_text(text, encoding="utf-8")
        webhooks = WebhookSettings(_env_file=None, mappings=file, **settings)
        return DeliveryReader(GatewaySettings(_env_file=None), webhooks)

    return make


def read(reader, *events, source=None):
    return reader.read(json.dumps({"tower": "t", "events": events}).encode(), source)


@pytest.mark.parametrize("source", [None, "tower"])
def test_a_mapped_body_becomes_tickets(reader_of, source):
    (ticket,) = read(reader_of(TOWER), EVENT, source=source).tickets
    assert ticket.model_dump() == {
        "source": "tower",
        "external_id": "12",
        "occurrence": "1700000000",
        "title": "Crane 3 sways",
        "description": "Wind 20 m/s\nLoad 2 t",
        "labels": {"site": "north", "rack": "R7"},
        "alert_name": "",
        "severity": "critical",
        "url": "https://tower.example.org/12",
        "runbook_url": "",
        "service": "Crane 3",
        "teams": ("Riggers", "Yard"),
    }


def test_a_mapped_end_ends_its_ticket_and_a_test_is_let_go(reader_of):
    delivery = read(reader_of(TOWER), EVENT | {"state": "clear"}, EVENT | {"state": "test"})
    (over,) = delivery.resolved
    assert (over.source, over.external_id, over.occurrence) == ("tower", "12", "1700000000")
    assert len(delivery.ignored) == 1
    assert delivery.tickets == ()


def test_a_mapped_comment_is_one_of_its_ticket(reader_of):
    at = '{when: note, text: note.words, author: note.by, id: "to_string(note.no)"}'
    reader = reader_of(TOWER.replace("    resolved:", f"    comment: {at}\n    resolved:", 1))
    note = {"words": "answer: 2", "by": "Mila", "no": 5}
    delivery = read(reader, {**EVENT, "note": note}, EVENT)
    (comment,) = delivery.comments
    assert (comment.source, comment.external_id, comment.text) == ("tower", "12", "answer: 2")
    assert (comment.author, comment.id) == ("Mila", "5")
    assert [ticket.external_id for ticket in delivery.tickets] == ["12"]


def test_an_end_that_does_not_say_of_which_time_ends_them_all(reader_of):
    text = TOWER.replace("    resolved_occurrence: to_string(since)\n", "")
    (over,) = read(reader_of(text), EVENT | {"state": "clear"}).resolved
    assert (over.external_id, over.occurrence) == ("12", "")


def test_a_field_whose_expression_does_not_suit_a_body_is_left_out_and_named(reader_of):
    (ticket,) = read(reader_of(TOWER), EVENT | {"notes": 5}).tickets
    assert (ticket.title, ticket.description) == (EVENT["headline"], "")
    assert ticket.labels["left_out"] == "description"
    (ticket,) = read(reader_of(TOWER), {k: EVENT[k] for k in EVENT if k != "notes"}).tickets
    assert "left_out" not in ticket.labels
    text = "sources: [{name: rootly, when: 'rootly', ticket: {title: 'join(`,`, rootly)'}}]"
    with pytest.raises(UnreadableTicketError, match=r"rootly\.title"):
        reader_of(text).read(b'{"rootly": 5}')


def test_a_mapping_may_describe_anew_what_comes_along(reader_of):
    text = "sources: [{name: rootly, when: 'rootly', ticket: {title: 'rootly'}}]"
    (ticket,) = reader_of(text).read(b'{"rootly": "Crane 3 sways"}').tickets
    assert (ticket.source, ticket.title) == ("rootly", "Crane 3 sways")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("headline", "headline ["), r"mappings\.yaml:8: sources\.0\.ticket\.title: .*JMESPath"),
        (("title: headline", "titel: headline"), r":6: sources\.0\.ticket\.title: Field required"),
        (("red: critical", "red: awful"), r":11: sources\.0\.ticket\.severities\.red"),
        (("name: tower", "name: Tower 1"), r":2: sources\.0\.name"),
        (("name: tower", "name: jira"), r":2: sources\.0\.name: another source"),
        (("items: events", "items: 7"), r":4: sources\.0\.items"),
        (("sources:", "sources: ["), r"mappings\.yaml"),
        (("sources:", "systems:"), r"mappings\.yaml:1: sources"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_key(reader_of, change, message):
    with pytest.raises(MappingError, match=message):
        reader_of(TOWER.replace(*change))


@pytest.mark.parametrize("text", ["", "5", "- a", "sources: 5", "sources: [5]", "\x00", "a: *b"])
def test_a_file_of_another_shape_is_refused(reader_of, text):
    with pytest.raises(MappingError):
        reader_of(text)


def test_a_file_that_is_not_there_is_reported(tmp_path):
    webhooks = WebhookSettings(_env_file=None, mappings=tmp_path / "none.yaml")
    with pytest.raises(MappingError, match=r"none\.yaml"):
        DeliveryReader(GatewaySettings(_env_file=None), webhooks)


def test_a_secret_for_a_source_that_nobody_describes_is_reported(reader_of):
    secret = {"mapped_secrets": {"towr": "a secret of the source"}}
    with pytest.raises(MappingError, match="towr"):
        reader_of(TOWER, **secret)
