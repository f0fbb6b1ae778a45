"""Refusals say over HTTP what their callers need to go on."""

import importlib
import pkgutil

import pytest

import services
from services.kit.errors import FlowXpertError, TooManyRequestsError
from services.kit.http.openapi import refusals

for _, name, _ in pkgutil.walk_packages(services.__path__, "services."):
    if ".migrations." not in name and not name.endswith("__main__"):
        importlib.import_module(name)  # so that all errors are known


def below(error: type[FlowXpertError]) -> set[type[FlowXpertError]]:
    own = set(error.__subclasses__())
    return own.union(*map(below, own))


TOO_EARLY = sorted(
    (error for error in below(FlowXpertError) if error.status_code in {429, 503}),
    key=lambda error: error.__qualname__,
)


@pytest.mark.parametrize("error", TOO_EARLY)
def test_whoever_comes_too_early_is_told_when_to_come_again(error):
    assert error.retryable
    assert int(error("wait").headers()["retry-after"]) >= 1
    (described,) = refusals(error).values()
    assert described["headers"]["Retry-After"]["required"]


@pytest.mark.parametrize(
    ("seconds", "retry_after"), [(0.0, "1"), (0.2, "1"), (1.2, "2"), (60.0, "60")]
)
def test_the_wait_is_told_in_whole_seconds(seconds, retry_after):
    error = TooManyRequestsError("wait", retry_after_s=seconds)
    assert error.headers() == {"retry-after": retry_after}


def test_a_refusal_has_the_name_of_its_class_unless_it_states_another():
    class _RenamedError(FlowXpertError):
        name = "OldError"

    assert FlowXpertError("so").body()["error"] == "FlowXpertError"
    assert TooManyRequestsError("so").body()["error"] == "TooManyRequestsError"
    assert _RenamedError("so").body()["error"] == "OldError"
