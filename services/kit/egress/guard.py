"""HTTP to allowed hosts only, protected against server-side request forgery.

No redirect is followed and no proxy is used.
"""

import hashlib
import hmac
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlsplit

import httpx

from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.bounded import BoundedTransport
from services.kit.errors import FlowXpertError


class NotDeliveredError(FlowXpertError):
    """The host did not accept the request; trying again may help."""


class NotAnsweredError(NotDeliveredError):
    """The host did not answer in time; it may have accepted the request all the same."""


class RefusedRequestError(NotDeliveredError):
    """The host answered that this request may not be made, or leads nowhere."""


@dataclass(frozen=True)
class OutgoingRequest:
    """A request to send."""

    url: str
    headers: dict[str, str]
    body: bytes
    method: str = "POST"

    def signed(self, secret: str) -> "OutgoingRequest":
        """Return it signed over the time and its body, so that a kept copy cannot be sent later."""
        seconds = str(int(time.time()))
        digest = hmac.new(secret.encode(), seconds.encode() + b"." + self.body, hashlib.sha256)
        proof = {
            "x-flowxpert-timestamp": seconds,
            "x-flowxpert-signature": f"v1={digest.hexdigest()}",
        }
        return replace(self, headers=self.headers | proof)


class EgressGuard:
    """Sender of requests to allowed hosts; thread-safe."""

    def __init__(
        self,
        allowed_hosts: Iterable[str],
        *,
        allow_private: bool,
        timeout_s: float,
        setting: str = "FLOWXPERT_WRITEBACK_ALLOWED_HOSTS",
    ) -> None:
        """Take the allowed hosts; `allow_private` admits private addresses and plain HTTP.

        `timeout_s` is for a request as a whole.

        `setting` is the setting of the hosts, for error messages.
        """
        self._setting = setting
        self._allowed = frozenset(host.lower() for host in allowed_hosts)
        self._allow_private = allow_private
        self._timeout_s = timeout_s

    @cached_property
    def _client(self) -> httpx.Client:
        transport = BoundedTransport(allow_private=self._allow_private, within_s=self._timeout_s)
        return httpx.Client(transport=transport, timeout=self._timeout_s, trust_env=False)

    def check(self, url: str) -> None:
        """Check that the settings allow a URL.

        Raises:
            ForbiddenAddressError: They do not.
        """
        parts = urlsplit(url)
        if (parts.hostname or "").lower() not in self._allowed:
            raise ForbiddenAddressError(f"{parts.hostname!a} is not in {self._setting}")
        if parts.scheme != "https" and not self._allow_private:
            raise ForbiddenAddressError(f"{parts.hostname!a}: only https is written to")

    def send(self, request: OutgoingRequest, *, most_bytes: int = 0) -> bytes:
        """Send the request; return the answer up to so many bytes, or nothing.

        Raises:
            ForbiddenAddressError: The host, or an address of it, is not allowed.
            NotAnsweredError: It did not answer in time.
            RefusedRequestError: It answered 400 to 499.
            NotDeliveredError: It did not answer with a success.
        """
        content = b""
        self.check(request.url)
        host = urlsplit(request.url).hostname
        try:
            with self._client.stream(
                request.method, request.url, headers=request.headers, content=request.body
            ) as answer:
                status = answer.status_code
                for part in answer.iter_raw() if most_bytes else ():
                    content += part
                    if len(content) >= most_bytes:
                        break
        except httpx.TimeoutException as error:
            raise NotAnsweredError(f"{host} did not answer within {self._timeout_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NotDeliveredError(f"{host}: {type(error).__name__}") from error
        if not 200 <= status < 300:
            is_refused = 400 <= status < 500 and status not in {408, 429}
            error_class = RefusedRequestError if is_refused else NotDeliveredError
            raise error_class(f"{host} answered {status}")
        return content
