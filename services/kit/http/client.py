"""The HTTP client for calls between services."""

import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, BinaryIO, Self

import httpx
from pydantic import BaseModel, SecretStr

from services.kit.access.caller import current_caller
from services.kit.access.credentials import ON_BEHALF_HEADER
from services.kit.errors import FlowXpertError, UnavailableError
from services.kit.http.health import DEGRADED, DegradedError
from services.kit.observability import tracing

RETRY_PAUSES_S = (0.1, 0.4, 1.0)
"""Pauses before a call is repeated after 503 or a refused connection: 1.5 s in all."""

_READY_WITHIN_S = 1.5


class ServiceUnavailableError(UnavailableError):
    """The other service did not answer, in several attempts."""


class UnexpectedAnswerError(FlowXpertError):
    """The other service failed, or answered against its contract."""


class ServiceClient:
    """JSON over HTTP to one service; thread-safe.

    A refusal is raised as the class that the service raised, or its nearest known base. A call is
    repeated only if the server cannot have acted: refused connections and 503.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: SecretStr | None = None,
        timeout_s: float = 30.0,
        internal: bool = False,
        passes_on: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Take the base URL and how to authenticate.

        Within the platform (`internal`) a key that is not accepted is an error of its setup. With
        `passes_on`, a caller's requests are forwarded in that caller's name.
        """
        self._internal = internal
        self._passes_on = passes_on
        headers = {"x-api-key": api_key.get_secret_value()} if api_key else {}
        self._client = httpx.Client(
            base_url=base_url,
            headers=headers,
            timeout=httpx.Timeout(timeout_s, connect=2.0),
            transport=transport,
        )

    def get(self, path: str, **params: Any) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON at a path.

        Raises:
            ServiceUnavailableError: No answer in several tries.
            FlowXpertError: The refusal that the service sent.
        """
        return self._json("GET", path, params=params)

    def post(self, path: str, body: BaseModel | object, **params: Any) -> Any:  # noqa: ANN401 - JSON
        """Send a message, or JSON, and return the JSON answer.

        Raises as `get` does.
        """
        message = body.model_dump(mode="json") if isinstance(body, BaseModel) else body
        return self._json("POST", path, json=message, params=params)

    def put(self, path: str, body: BaseModel | object, **params: Any) -> Any:  # noqa: ANN401 - JSON
        """Replace what is at a path; otherwise as `post`."""
        message = body.model_dump(mode="json") if isinstance(body, BaseModel) else body
        return self._json("PUT", path, json=message, params=params)

    def delete(self, path: str) -> None:
        """Delete what is at a path; otherwise as `post`."""
        self._send("DELETE", path)

    def post_for_lines(self, path: str, body: BaseModel) -> Iterator[str]:
        """Send a message and yield each line of the answer as it comes; nothing is repeated.

        Raises:
            ServiceUnavailableError: No answer, or it broke off.
            FlowXpertError: The refusal that the service sent.
        """
        message, headers = body.model_dump(mode="json"), self._headers()
        try:
            with self._client.stream("POST", path, json=message, headers=headers) as response:
                if response.is_error:
                    response.read()
                    raise self._error(response)
                yield from filter(None, response.iter_lines())
        except httpx.TransportError as error:
            raise ServiceUnavailableError(f"{path} at {self._client.base_url}: {error}") from error

    def get_text(self, path: str, **params: Any) -> str:  # noqa: ANN401 - JSON
        """Return the text at a path; raises as `get` does."""
        return self._send("GET", path, params=params).text

    def get_file(self, path: str, **params: Any) -> tuple[bytes, str]:  # noqa: ANN401 - JSON
        """Return the bytes at a path and their media type; raises as `get` does."""
        response = self._send("GET", path, params=params)
        return response.content, response.headers.get("content-type", "")

    def post_files(self, path: str, field: str, files: Sequence[tuple[str, BinaryIO]]) -> Any:  # noqa: ANN401 - JSON
        """Send named files as a form and return the JSON answer; raises as `get` does."""
        return self._json("POST", path, files=[(field, file) for file in files])

    def check(self) -> None:
        """Check once that the service is ready.

        Raises:
            ServiceUnavailableError: It is not, or does not answer.
            DegradedError: It is, without something.
        """
        try:
            answer = self._client.get("/readyz", timeout=_READY_WITHIN_S)
        except httpx.TransportError as error:
            raise ServiceUnavailableError(f"{self._client.base_url}: {error}") from error
        if answer.status_code != 200:
            raise ServiceUnavailableError(f"{self._client.base_url}: {answer.status_code}")
        if answer.json().get("status") == DEGRADED:
            raise DegradedError(f"{self._client.base_url} goes on without something")

    def close(self) -> None:
        """Release the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _headers(self) -> dict[str, str]:
        return tracing.headers() | ({ON_BEHALF_HEADER: self._behalf} if self._behalf else {})

    def _error(self, response: httpx.Response) -> FlowXpertError:
        """Return the refusal; a wrong platform key is retried like an unavailable service."""
        if response.status_code == 401 and self._internal and not self._behalf:
            return ServiceUnavailableError(
                f"{self._client.base_url} does not take this platform's key: FLOWXPERT_API_KEY "
                "must be set, and the same for all services"
            )
        return error_of(response)

    @property
    def _behalf(self) -> str:
        return current_caller().credential if self._passes_on else ""

    def _json(self, method: str, path: str, **arguments: Any) -> Any:  # noqa: ANN401 - JSON
        response = self._send(method, path, **arguments)
        try:
            return response.json()
        except ValueError as error:
            raise UnexpectedAnswerError(f"{method} {path} did not answer JSON") from error

    def _send(self, method: str, path: str, **arguments: Any) -> httpx.Response:  # noqa: ANN401
        # Paths hold ids; the service's own span names the route.
        with tracing.span(f"call {self._client.base_url.host}", kind="client") as span:
            response = self._send_with_retries(method, path, **arguments)
            span.set_attributes(status=response.status_code)
        if response.is_error:
            raise self._error(response)
        return response

    def _send_with_retries(self, method: str, path: str, **arguments: Any) -> httpx.Response:  # noqa: ANN401
        headers = self._headers()
        reason = ""
        for pause in (*RETRY_PAUSES_S, None):
            try:
                response = self._client.request(method, path, headers=headers, **arguments)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                reason = str(error)
            except httpx.TransportError as error:
                raise ServiceUnavailableError(f"{method} {path}: {error}") from error
            else:
                if response.status_code != 503 or pause is None:
                    return response
                reason = "503"
            if pause is not None:
                time.sleep(pause)
        raise ServiceUnavailableError(f"{method} {path} got no answer: {reason}")


def error_of(response: httpx.Response) -> FlowXpertError:
    """Return the refusal that an answer carries."""
    try:
        body = response.json()
        name, detail = str(body["error"]), str(body["detail"])
    except (ValueError, KeyError, TypeError):
        name, detail = "", response.text[:200]
    for cls in _subclasses(FlowXpertError):
        if cls.name == name:
            return cls(detail)
    for cls in _subclasses(FlowXpertError):
        if cls.status_code == response.status_code and response.status_code != 500:
            return cls(detail)
    return UnexpectedAnswerError(f"status {response.status_code}: {detail}")


def _subclasses(cls: type[FlowXpertError]) -> list[type[FlowXpertError]]:
    """Return all subclasses, the general before the special."""
    below = cls.__subclasses__()
    return below + [deeper for child in below for deeper in _subclasses(child)]
