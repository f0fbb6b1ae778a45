"""Tools over HTTP: requests to a target's API, and queries to a Prometheus server."""

import json
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote

import httpx

from services.execution.adapters.port import (
    BeforeSending,
    NotSentError,
    StoppedError,
    TargetAnswer,
    UnknownEffectError,
    read_secret,
    send_at_once,
)
from services.execution.tools.target import Target
from services.execution.tools.tool import HttpWay, PrometheusWay, Tool, fill
from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.bounded import BoundedTransport

_NOTICE = re.compile(
    r"link: .*\brel=\"?next\b|warning: 11\d\b|x-next-page: \S|x-has-more: (?:true|1)"
    r"|x-consul-results-filtered-by-acls: true",
    re.IGNORECASE,
)
"""Headers by which an answer may say that it has only a part, or is stale."""
_PARTIAL = {206, 207}
"""Statuses of an answer with only a part, or of several parts of which some may have failed."""


class HttpAdapter:
    """Implements `ToolAdapter`. Neither redirects are followed nor proxies used."""

    def call(
        self,
        tool: Tool,
        target: Target,
        arguments: Mapping[str, str],
        *,
        before_sending: BeforeSending = send_at_once,
    ) -> TargetAnswer:
        """See `ToolAdapter.call`."""
        way = tool.way
        if isinstance(way, PrometheusWay):
            escaped = {name: json.dumps(value)[1:-1] for name, value in arguments.items()}
            query = {"query": fill(way.query, escaped)}
            return _request(
                tool,
                target,
                "GET",
                "/api/v1/query",
                query=query,
                body={},
                before_sending=before_sending,
            )
        if not isinstance(way, HttpWay):
            raise TypeError(tool.name)
        path = re.sub(r"\{(\w+)\}", lambda m: quote(arguments[m.group(1)], safe=""), way.path)
        query = {name: fill(value, arguments) for name, value in way.query.items()}
        body: dict[str, object] = {}
        for name, value in way.body.items():
            alone = re.fullmatch(r"\{(\w+)\}", value)  # the place of a number and nothing else
            text = fill(value, arguments)
            body[name] = tool.parameters[alone.group(1)].typed(text) if alone else text
        return _request(
            tool, target, way.method, path, query=query, body=body, before_sending=before_sending
        )


def _request(
    tool: Tool,
    target: Target,
    method: str,
    path: str,
    *,
    query: Mapping[str, str],
    body: Mapping[str, object],
    before_sending: BeforeSending,
) -> TargetAnswer:
    if not target.url:
        raise StoppedError(f"{target.name} has no address")
    headers = {}
    if target.token_file:
        headers["authorization"] = f"Bearer {read_secret(target.token_file)}"
    url = target.url.rstrip("/") + path
    transport = BoundedTransport(allow_private=True, within_s=tool.timeout_s)
    try:
        with (
            httpx.Client(transport=transport, timeout=tool.timeout_s, trust_env=False) as client,
            client.stream(
                method,
                url,
                params=dict(query),
                json=dict(body) or None,
                headers=headers,
                extensions={"trace": _on_sending(before_sending)},
            ) as answer,
        ):
            text = ""
            for part in answer.iter_text():
                text += part
                if len(text) > tool.most_bytes:
                    break
    except ForbiddenAddressError as error:
        raise StoppedError(f"{target.name} is not called: {error}") from error
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
        raise NotSentError(f"{target.name} cannot be reached: {type(error).__name__}") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        message = f"{target.name} did not answer {tool.name}: {type(error).__name__}"
        raise UnknownEffectError(message) from error
    if answer.status_code in {401, 403, 404, 405}:
        raise StoppedError(f"{target.name} refused {tool.name}: {answer.status_code}")
    if not answer.is_success or answer.status_code in _PARTIAL:
        raise UnknownEffectError(f"{target.name} answered {tool.name} with {answer.status_code}")
    received = (f"{name}: {value}" for name, value in answer.headers.multi_items())
    return TargetAnswer(text, tuple(filter(_NOTICE.match, received)))


def _on_sending(act: BeforeSending) -> Callable[[str, object], None]:
    """Return a trace of the HTTP library that acts before the first byte of a request leaves."""

    def trace(event: str, _facts: object) -> None:
        if event.endswith("send_request_headers.started"):
            act()

    return trace
