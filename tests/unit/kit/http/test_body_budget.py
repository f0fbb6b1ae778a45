"""The bound on what request bodies take together."""

import pytest
from starlette.datastructures import Headers

from services.kit.errors import TooManyRequestsError
from services.kit.http.edge import BodyBudget, UnprovenBodies, body_size


def test_bodies_are_counted_until_they_are_released():
    room = BodyBudget(100)
    with room.hold(60):
        with pytest.raises(TooManyRequestsError), room.hold(50):
            pass
        with room.hold(40):
            pass
    with room.hold(90):
        pass


def test_requests_without_a_body_need_no_room():
    room = BodyBudget(100)
    with room.hold(100), room.hold(0):
        pass


def test_one_large_body_is_let_in_when_it_is_alone():
    room = BodyBudget(100)
    with room.hold(500), pytest.raises(TooManyRequestsError), room.hold(1):
        pass


def test_bodies_of_unknown_callers_are_counted_as_they_come_and_by_address():
    room = UnprovenBodies(100)
    with room.hold("a") as first, room.hold("a") as second, room.hold("b") as other:
        first(20)
        other(20)
        with pytest.raises(TooManyRequestsError):
            second(6)
        second(5)
    with room.hold("a") as alone:
        alone(500)


@pytest.mark.parametrize(
    ("headers", "size"),
    [
        ({"content-length": "7"}, 7),
        ({"content-length": "999999"}, 1000),
        ({"content-length": "-3", "transfer-encoding": "chunked"}, 1000),
        ({"transfer-encoding": "chunked"}, 1000),
        ({}, 0),
    ],
)
def test_a_body_takes_what_it_says_or_may(headers, size):
    assert body_size(Headers(headers), 1000) == size
