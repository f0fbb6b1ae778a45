"""Answers of an issuer at addresses that are configured, or that its own document names."""

import json
from collections.abc import Mapping
from typing import Any

import httpx

from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.bounded import BoundedTransport

_TIMEOUT_S = 5.0
_LARGEST = 1_000_000


class IssuerAnswers:
    """HTTP client for an issuer's JSON; thread-safe."""

    def __init__(self, transport: httpx.BaseTransport | None = None) -> None:
        # A redirect would lead to an address that nobody configured.
        self._client = httpx.Client(
            transport=transport or BoundedTransport(allow_private=True, within_s=_TIMEOUT_S),
            timeout=_TIMEOUT_S,
            follow_redirects=False,
            trust_env=False,
        )

    def get(self, url: str) -> Any:  # noqa: ANN401 - JSON
        """Fetch the JSON of a URL.

        Raises:
            httpx.HTTPError: It did not answer.
            ValueError: Its address may not be called, or it answered no JSON, or not with 200.
        """
        status, body = self._ask("GET", url)
        if status != 200:
            raise ValueError(f"it answered {status}")
        return body

    def post(
        self, url: str, form: Mapping[str, str], *, user: tuple[str, str] | None = None
    ) -> tuple[int, Any]:
        """Post a form, as `user` with a password, and return status and JSON; raises as `get`."""
        auth = httpx.BasicAuth(*user) if user else None
        return self._ask("POST", url, data=dict(form), auth=auth)

    def _ask(self, method: str, url: str, **more: Any) -> tuple[int, Any]:  # noqa: ANN401 - as httpx has them
        headers = {"accept": "application/json"}
        try:
            with self._client.stream(method, url, headers=headers, **more) as response:
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if len(body) > _LARGEST:
                        raise ValueError(f"it answered more than {_LARGEST} bytes")
        except ForbiddenAddressError as error:
            raise ValueError(str(error)) from error
        is_json = body.lstrip()[:1] in {b"{", b"["}
        return response.status_code, json.loads(body) if is_json else None
