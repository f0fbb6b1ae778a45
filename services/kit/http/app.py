"""The app factory: every service answers probes, metrics and errors in the same way."""

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.exceptions import HTTPException

from services.kit.access.access import Access
from services.kit.access.gate import Gate
from services.kit.access.needs import Need, Needs, needs
from services.kit.errors import (
    ConflictError,
    FlowXpertError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PayloadTooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
)
from services.kit.http.edge import Edge, refusal
from services.kit.http.health import AWAY, OK, Check, Health, Probe, run_probes
from services.kit.http.openapi import complete_description, refusals
from services.kit.settings import PlatformSettings

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

SHOWN_ERRORS = 5
SHOWN_CHARACTERS = 200

_NAME_OF_STATUS = {400: InvalidInputError.name} | {
    error.status_code: error.name
    for error in (
        ConflictError,
        ForbiddenError,
        InvalidInputError,
        NotFoundError,
        PayloadTooLargeError,
        TooManyRequestsError,
        UnauthorizedError,
        UnavailableError,
    )
}


class _App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description, with what holds for every operation."""
        return complete_description(super().openapi())


def create_service_app(
    service: str,
    *,
    title: str,
    routers: Iterable[APIRouter],
    settings: PlatformSettings,
    access: Access | None = None,
    checks: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
    gauges: Mapping[str, Check] | None = None,
    body_limits: Mapping[str, int] | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """Create an app with these routers, probes, metrics, and errors as `{"error", "detail"}`.

    `access` authenticates callers; by default without a database's keys. `checks` decide about
    `/readyz`, which reports the `optional` ones too; `gauges` are read before `/metrics` is
    answered, every few seconds at most. `body_limits` sets the body limit for paths with these
    prefixes. Whoever stops the app sets its state's `stopping` first: long polls are answered then.

    Raises:
        UnsafeAddressError: The settings would serve other machines without authentication.
    """
    access = access or Access.of(settings)
    app = _App(
        title=title,
        version="1",
        lifespan=lifespan,
        # The interactive pages load scripts from elsewhere, which our headers forbid.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # it would lead to whatever host the request names
        responses=refusals(InvalidInputError),
    )
    included = [*routers, _probes(Health(checks or {}, optional), gauges or {})]
    for router in included:
        app.include_router(router)
    routes = [*app.routes, *(route for router in included for route in router.routes)]
    app.state.access, app.state.needs = access, Needs(routes)
    app.state.stopping = threading.Event()
    app.add_exception_handler(FlowXpertError, _refusal)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_middleware(
        Edge,
        service=service,
        gate=Gate(access, app.state.needs),
        max_body_bytes=settings.max_body_bytes,
        body_limits=body_limits or {},
        access_log=settings.access_log,
        max_bodies_bytes=settings.max_bodies_bytes,
    )
    return app


GAUGES_HOLD_S = 5.0
"""Seconds for which the gauges are cached between scrapes."""

GAUGES_COST = 50
"""Cache time of the gauges as a multiple of the time to read them: a read of 1 s counts for 50
s.
"""


def _probes(health: Health, gauges: Mapping[str, Check]) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    reading = {
        name: Probe(name, read, holds_s=GAUGES_HOLD_S, costs=GAUGES_COST)
        for name, read in gauges.items()
    }

    @router.get("/healthz")
    @needs(Need.OPEN)
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/readyz")
    @needs(Need.OPEN)
    def readyz() -> Response:
        states = health.states()
        status = health.status(states)
        body = {"status": status, "checks": states}
        if status != AWAY:
            return JSONResponse(body)
        away = ", ".join(f"{name}: {state}" for name, state in states.items() if state != OK)
        error = UnavailableError(away)
        return JSONResponse(error.body() | body, error.status_code, error.headers())

    @router.get("/metrics")
    @needs(Need.READ)
    def metrics() -> Response:
        run_probes(reading)
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return router


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, FlowXpertError)  # noqa: S101 - the class it is registered for
    return refusal(request.scope, error.status_code, error.body(), error.headers())


async def _invalid(request: Request, error: Exception) -> Response:
    """Report what is wrong where, without sending the input back."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    errors = error.errors()
    unreadable = any(item["type"] == "json_invalid" for item in errors)
    shown = []
    for item in errors[:SHOWN_ERRORS]:
        place = ".".join(str(part)[:40] for part in item["loc"][:8])
        # A key of the body may hold a lone surrogate, which no JSON answer can carry.
        text = f"{place}: {item['msg']}".encode("utf-8", "replace").decode()
        shown.append(text[:SHOWN_CHARACTERS])
    detail = "; ".join(shown)
    if len(errors) > SHOWN_ERRORS:
        detail += f"; and {len(errors) - SHOWN_ERRORS} more"
    status = 400 if unreadable else 422
    return refusal(request.scope, status, InvalidInputError(detail).body())


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    name = _NAME_OF_STATUS.get(error.status_code, "HTTPError")
    body = {"error": name, "detail": str(error.detail)[:SHOWN_CHARACTERS]}
    return refusal(request.scope, error.status_code, body, error.headers)
