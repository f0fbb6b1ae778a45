"""Bodies of every source, changed at random: what comes is tickets or a refusal, never a defect."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.settings import GatewaySettings
from services.gateway.sources import LEAST_PARTICULAR, SOURCES
from services.gateway.sources.mapped import BUNDLED, read_mappings
from services.gateway.sources.reading import Reader
from services.gateway.sources.settings import WebhookSettings
from services.kit.errors import FlowXpertError

BODIES = Path(__file__).with_name("bodies")
LIMITS = GatewaySettings(_env_file=None)
READER = Reader(LIMITS, WebhookSettings(_env_file=None))
NAMES = [source.name for source in (*SOURCES, LEAST_PARTICULAR)]
MAPPED = [source.name for source in read_mappings(BUNDLED, taken=frozenset())]

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(
        ["", "\0", "\ud800", "\x1b[31m", "x" * 5000, "resolved", "[{", '{"a": [', "%", "{{7*7}}"]
    ),
    st.just([]),
    st.just({}),
    st.lists(st.none() | st.text(max_size=3) | st.just({}), max_size=3),
    st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.just([]), max_size=3),
    st.just({"id": {"id": {"id": {}}}}),
    st.just(10**300),
)


def bodies_of(name):
    return [
        json.loads(p.read_text("utf-8"))["body"] for p in sorted((BODIES / name).glob("*.json"))
    ]


def places(value, path=()):
    """The way to everything in a body, the body itself first."""
    yield path
    children = dict(enumerate(value)) if isinstance(value, list) else value
    for key, child in children.items() if isinstance(children, dict) else ():
        yield from places(child, (*path, key))


def mutate(data, body):
    """The body with some of its parts taken out, replaced, doubled or put under other names."""
    body = copy.deepcopy(body)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(body))))
        if not path:
            return copy.deepcopy(data.draw(ODD))
        *way, last = path
        holder = body
        for step in way:
            holder = holder[step]
        change = data.draw(st.sampled_from(["replace", "remove", "rename", "wrap", "double"]))
        if change == "replace":
            holder[last] = copy.deepcopy(data.draw(ODD))
        elif change == "wrap":
            holder[last] = [holder[last]]
        elif change == "double" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        else:
            taken = holder.pop(last)
            if change == "rename" and isinstance(holder, dict):
                holder[data.draw(st.text(max_size=4))] = taken
    return body


def read_or_refusal(raw, name):
    try:
        return READER.read(raw, name)
    except FlowXpertError as refused:
        return refused


def read(raw, name):
    """What the reader makes of it; anything but tickets or a refusal fails the test."""
    delivery = read_or_refusal(raw, name)
    if isinstance(delivery, FlowXpertError):
        assert delivery.status_code in {400, 403, 413, 422}, repr(delivery)
        str(delivery).encode()
        return
    for ticket in delivery.tickets:
        ticket.model_dump_json().encode()
        assert ticket.title.strip()
        assert "\0" not in ticket.model_dump_json()
        assert len(ticket.description) <= LIMITS.max_description_characters
        assert len(ticket.occurrence) <= 100
    json.dumps([over.external_id for over in delivery.resolved]).encode()


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "recognised"])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_mutated_body_is_read_or_refused(name, is_named, data):
    body = mutate(data, data.draw(st.sampled_from(bodies_of(name))))
    read(json.dumps(body).encode(), name if is_named else None)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_truncated_body_is_refused_or_read(name, data):
    raw = json.dumps(data.draw(st.sampled_from(bodies_of(name)))).encode()
    read(raw[: data.draw(st.integers(0, len(raw)))], name)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), name=st.sampled_from(NAMES + MAPPED))
def test_a_body_of_one_source_sent_to_another_is_read_or_refused(data, name):
    other = data.draw(st.sampled_from(NAMES))
    body = mutate(data, data.draw(st.sampled_from(bodies_of(other))))
    read(json.dumps(body).encode(), name)


@pytest.mark.parametrize("name", NAMES + MAPPED)
def test_deep_nesting_is_read_or_refused(name):
    for opening, closing in (("[", "]"), ('{"data": ', "}"), ('{"content": [', "]}")):
        deep = opening * 450 + "1" + closing * 450
        for key in ("title", "issue", "event", "alert", "data", "tags", "alerts", "Message"):
            read(f'{{"title": "x", "{key}": {deep}}}'.encode(), name)


@pytest.mark.parametrize("cut", [False, True])
def test_a_huge_discussion_is_refused_or_cut_as_the_settings_say(cut):
    comments = [{"body": f"{n} " + "it still fails " * 400} for n in range(800)]
    fields = {"summary": "Fan failed", "comment": {"comments": comments}}
    raw = json.dumps({"issue": {"key": "A-1", "fields": fields}}).encode()
    assert len(raw) > 4_500_000
    limits = GatewaySettings(_env_file=None, cut_long_texts=cut)
    reader = Reader(limits, WebhookSettings(_env_file=None))
    if cut:
        (ticket,) = reader.read(raw).tickets
        assert len(ticket.description) == limits.max_description_characters
        assert ticket.description.startswith("0 it still fails")
    else:
        with pytest.raises(FlowXpertError, match="description") as refused:
            reader.read(raw)
        assert refused.value.status_code == 413
