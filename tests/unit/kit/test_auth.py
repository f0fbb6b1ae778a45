import pytest
from pydantic import SecretStr
from starlette.datastructures import Headers

from services.kit.auth import (
    ForeignHostError,
    MissingKeyError,
    UnsafeAddressError,
    check_address,
    check_request,
)

KEY = SecretStr("0123456789abcdef")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "example.org", "127.0.0.1.evil.org"])
def test_other_addresses_than_loopback_need_a_key(host):
    with pytest.raises(UnsafeAddressError):
        check_address(host, None)
    check_address(host, KEY)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"])
def test_loopback_needs_none(host):
    check_address(host, None)


@pytest.mark.parametrize(
    "host", ["localhost:8080", "127.0.0.1:1", "127.0.0.1", "[::1]:80", "[::1]"]
)
def test_without_a_key_loopback_names_are_answered(host):
    check_request("/v1/tickets", Headers({"host": host}), None)


@pytest.mark.parametrize(
    "host", ["evil.org", "evil.org:8080", "", "localhost.evil.org", "10.0.0.1"]
)
def test_without_a_key_a_foreign_host_name_is_refused(host):
    with pytest.raises(ForeignHostError):
        check_request("/v1/tickets", Headers({"host": host}), None)


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer 0123456789abcdef"},
        {"authorization": "bearer  0123456789abcdef"},
        {"x-api-key": "0123456789abcdef"},
    ],
)
def test_either_header_carries_the_key(headers):
    check_request("/v1/tickets", Headers(headers), KEY)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": ""},
        {"x-api-key": "0123456789abcdeF"},
        {"authorization": "Basic 0123456789abcdef"},
        {"authorization": "Bearer"},
        {"x-api-key": "\xff"},
    ],
)
def test_a_missing_or_wrong_key_is_refused(headers):
    with pytest.raises(MissingKeyError):
        check_request("/v1/tickets", Headers(headers), KEY)


def test_probes_are_open():
    check_request("/healthz", Headers({}), KEY)
    check_request("/readyz", Headers({}), KEY)
