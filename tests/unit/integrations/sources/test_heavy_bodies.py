"""Megabytes of anything in any field: read or refused at once, in bounded memory."""

import json
import time
import tracemalloc

import pytest

from services.integrations.sources.delivery_reader import DeliveryReader
from services.integrations.sources.settings import WebhookSettings
from services.kit.errors import FlowXpertError
from services.tickets.settings import GatewaySettings
from tests.unit.integrations.sources.test_mutated_bodies import MAPPED, NAMES, bodies_of

MEGABYTES_5 = 5_000_000
MEGABYTE = 1_000_000
MOST_S = 2.0
"""Of the processor: the machine may be busy with something else."""
FILLERS = {
    "words": "it still fails ",
    "spaces": " \t",
    "lines": "\n",
    "brackets": "[{(<",
    "markup": "<p>&lt;",
    "labels": "key=value, other: value\n",
    "digits": "9",
    "letters": "a",
    "wide": "ü\u2028",
    "emphasis": "*_`#|",
    "addresses": "http://a.example/",
    "json": '{"a": [',
}
READER = DeliveryReader(
    GatewaySettings(_env_file=None, cut_long_texts=True), WebhookSettings(_env_file=None)
)


def leaves(value):
    """How many texts a body holds."""
    if isinstance(value, dict | list):
        return sum(map(leaves, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str)


def filled(value, text):
    """The body with more text in all of its texts; how they begin may say what it is."""
    if isinstance(value, dict):
        return {key: filled(each, text) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, text) for each in value]
    return value + text if isinstance(value, str) else value


def heavy(body, filler, size):
    each = size // max(1, leaves(body))
    return json.dumps(filled(body, (filler * (each // len(filler) + 1))[:each])).encode()


def read_or_refuse(raw, name):
    """Anything but tickets or a refusal of a few words fails the test."""
    try:
        READER.read(raw, name)
    except FlowXpertError as error:
        refused = error
    else:
        return
    assert refused.status_code in {400, 413, 422}, repr(refused)
    assert len(str(refused)) < 5_000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("filler", FILLERS)
def test_a_heavy_body_is_read_or_refused_at_once(name, filler):
    raw = heavy(bodies_of(name)[0], FILLERS[filler], MEGABYTE if filler != "words" else MEGABYTES_5)
    started = time.process_time()
    read_or_refuse(raw, name)
    assert time.process_time() - started < MOST_S


@pytest.mark.parametrize("name", MAPPED)
def test_a_heavy_body_of_a_mapped_source_is_read_or_refused_at_once(name):
    body = dict.fromkeys(("title", "name", "id", "message", "summary", "description"), "")
    raw = heavy(
        {**body, "incident": dict(body), "data": dict(body), "fields": [body]}, "x: [y] ", MEGABYTE
    )
    started = time.process_time()
    read_or_refuse(raw, name)
    read_or_refuse(raw, None)
    assert time.process_time() - started < MOST_S


@pytest.mark.parametrize("name", NAMES)
def test_many_small_things_are_read_or_refused_at_once(name):
    body = bodies_of(name)[0]
    many = [body] * (2 * MEGABYTE // len(json.dumps(body)))
    labels = {f"label {n}": str(n) for n in range(120_000)}
    wide = {**body, "labels": labels, "tags": list(labels)} if isinstance(body, dict) else many
    for raw in (json.dumps(many).encode(), json.dumps(wide).encode()):
        started = time.process_time()
        read_or_refuse(raw, name)
        assert time.process_time() - started < MOST_S


@pytest.mark.parametrize("name", NAMES)
def test_a_heavy_body_takes_memory_of_its_own_size(name):
    raw = heavy(bodies_of(name)[0], FILLERS["words"], MEGABYTE)
    tracemalloc.start()
    try:
        read_or_refuse(raw, name)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 * len(raw)


def test_a_heavy_discussion_is_stored_and_answered_at_once(make_gateway, monkeypatch):
    monkeypatch.setenv("FLOWXPERT_MAX_BODY_BYTES", "6000000")
    gateway = make_gateway(cut_long_texts=True)
    comments = [{"body": f"{n} " + FILLERS["words"] * 400} for n in range(800)]
    fields = {"summary": "Fan failed", "comment": {"comments": comments}}
    raw = json.dumps({"issue": {"key": "A-1", "fields": fields}}).encode()
    started = time.process_time()
    headers = {"content-type": "application/json"}
    answer = gateway.client.post("/workflow/jira", content=raw, headers=headers)
    assert answer.status_code == 202
    assert time.process_time() - started < MOST_S
