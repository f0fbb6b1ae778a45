"""What ticket systems send, in the forms that they have, and what it becomes: a file for each."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from services.integrations.sources.delivery_reader import DeliveryReader
from services.integrations.sources.settings import WebhookSettings
from services.integrations.sources.systems import LEAST_PARTICULAR, SOURCES
from services.tickets.settings import GatewaySettings

BODIES = Path(__file__).with_name("bodies")
READER = DeliveryReader(GatewaySettings(_env_file=None), WebhookSettings(_env_file=None))
CASES = sorted(BODIES.rglob("*.json"))


def ticket_fields(ticket, expected):
    """The fields of the ticket that the case speaks of."""
    return {
        name: value for name, value in ticket.model_dump(mode="json").items() if name in expected
    }


def comment_fields(comment, expected):
    """The fields of the comment that the case speaks of."""
    return {name: value for name, value in asdict(comment).items() if name in expected}


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
@pytest.mark.parametrize("is_named", [False, True], ids=["recognised", "named"])
def test_a_body_becomes_what_its_case_says(path, is_named):
    case = json.loads(path.read_text(encoding="utf-8"))
    source = path.parent.name
    delivery = READER.read(json.dumps(case["body"]).encode(), source if is_named else None)
    expected = case.get("tickets", [])
    assert [
        ticket_fields(t, e) for t, e in zip(delivery.tickets, expected, strict=True)
    ] == expected
    over = [{"external_id": r.external_id, "occurrence": r.occurrence} for r in delivery.resolved]
    assert over == case.get("resolved", [])
    comments = case.get("comments", [])
    assert [
        comment_fields(c, s) for c, s in zip(delivery.comments, comments, strict=True)
    ] == comments
    assert len(delivery.ignored) == case.get("ignored", 0)
    assert delivery.rejected == ()
    read = (*delivery.tickets, *delivery.resolved, *delivery.comments, *delivery.ignored)
    assert {each.source for each in read} == {source}


@pytest.mark.parametrize("source", [s.name for s in (*SOURCES, LEAST_PARTICULAR)])
def test_every_source_has_bodies(source):
    assert len(list((BODIES / source).glob("*.json"))) >= 3
