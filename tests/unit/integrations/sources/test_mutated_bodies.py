"""Bodies of every source, changed at random: what comes is tickets or a refusal, never a defect."""

import copy
import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from services.integrations.sources.delivery_reader import DeliveryReader
from services.integrations.sources.mapped import BUNDLED, read_mappings
from services.integrations.sources.settings import WebhookSettings
from services.integrations.sources.systems import LEAST_PARTICULAR, SOURCES
from services.kit.errors import FlowXpertError
from services.tickets.settings import GatewaySettings

BODIES = Path(__file__).with_name("bodies")
LIMITS = GatewaySettings(_env_file=None)
READER = DeliveryReader(LIMITS, WebhookSettings(_env_file=None))
NAMES = [source.name for source in (*SOURCES, LEAST_PARTICULAR)]
MAPPED = [source.name for source in read_mappings(BUNDLED, taken=frozenset())]
MAPPINGS = {
    each["name"]: each for each in yaml.safe_load(BUNDLED.read_text(encoding="utf-8"))["sources"]
}

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


def spoken_of(name):
    """Values whose keys are the words of a mapping's expressions, at any depth."""
    words = sorted(set(re.findall(r"[A-Za-z_]+", json.dumps(MAPPINGS[name]))))
    some = st.sampled_from(words)
    return st.dictionaries(
        some,
        st.recursive(
            ODD | some,
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(some, inner, max_size=8),
            max_leaves=12,
        ),
        min_size=1,
        max_size=12,
    )


@pytest.mark.parametrize("name", MAPPED)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_body_of_what_a_mapping_speaks_of_is_read_or_refused(name, data):
    raw = json.dumps(data.draw(spoken_of(name))).encode()
    read(raw, name)
    read(raw, None)


PIECES = [
    "NaN", "-Infinity", "1e999", "-0", "9" * 400, "1" * 5000, "0x1F", "01", "'x'", '"', "\\u12",
    '"\\ud800"', '"\\u0000"', "[", "]", "{", "}", ",", ":", "//", "/**/", "None", "\ufeff", "",
    '{"a": 1, "a": [{}], "a": null}', '"\\udc00\\ud800"', "\x00", "\x80", "true", "[[[[]]]]",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_json_that_is_none_or_odd_is_read_or_refused(name, data):
    text = json.dumps(data.draw(st.sampled_from(bodies_of(name))))
    marks = [
        match.span() for match in re.finditer(r'"[^"]*"|-?[0-9.]+|true|false|null|[{}\[\]:,]', text)
    ]
    start, end = data.draw(st.sampled_from(marks))
    piece = data.draw(st.sampled_from(PIECES))
    read((text[:start] + piece + text[end:]).encode("utf-8"), name)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_key_that_comes_twice_is_read_as_one_or_refused(name, data):
    body = data.draw(st.sampled_from(bodies_of(name)))
    text, again = json.dumps(body), json.dumps(mutate(data, body))
    if isinstance(body, dict) and again.startswith("{") and len(again) > 2:
        read(f"{text[:-1]}, {again[1:]}".encode(), name)


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
    reader = DeliveryReader(limits, WebhookSettings(_env_file=None))
    if cut:
        (ticket,) = reader.read(raw).tickets
        assert len(ticket.description) == limits.max_description_characters
        assert ticket.description.startswith("0 it still fails")
    else:
        with pytest.raises(FlowXpertError, match="description") as refused:
            reader.read(raw)
        assert refused.value.status_code == 413
