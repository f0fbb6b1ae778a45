"""The caller's permission that each route needs, declared on the route; admin by default."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from re import Pattern
from typing import Annotated, TypeVar

from fastapi import Depends
from starlette.routing import BaseRoute, Route, compile_path
from starlette.types import Scope as Request

from services.kit.access.caller import Caller, CallerKind, current_caller
from services.kit.access.scopes import Scope
from services.kit.errors import ForbiddenError


class ScopeMissingError(ForbiddenError):
    """The caller is known, and may not do this."""


class Need(StrEnum):
    """Permission that a route needs."""

    OPEN = "open"
    """No permission: an orchestrator's probe carries no key, and a page's style is no secret."""
    SIGN_IN = "sign in"
    """No permission, but a limit by address: for requests that bring a key in from our own page."""
    SIGNED = "signed"
    """`operate`, or a delivery that its source has signed; the endpoint checks the signature."""
    PLATFORM = "platform"
    """The platform itself: nobody else writes what it alone knows, in anybody's name."""
    READ = "read"
    INGEST = "ingest"
    OPERATE = "operate"
    RUN = "run"
    APPROVE = "approve"
    ADMIN = "admin"

    @property
    def scope(self) -> Scope | None:
        """Required scope; None if there is none."""
        if self is Need.SIGNED:
            return Scope.OPERATE
        is_scope = self not in {Need.OPEN, Need.SIGN_IN, Need.PLATFORM}
        return Scope(self.value) if is_scope else None


_ATTRIBUTE = "__need__"

Endpoint = TypeVar("Endpoint", bound=Callable[..., object])


def needs(need: Need) -> Callable[[Endpoint], Endpoint]:
    """Declare the permission that an endpoint's route needs."""

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _ATTRIBUTE, need)
        return endpoint

    return mark


@dataclass(frozen=True)
class _Rule:
    methods: frozenset[str]
    path: Pattern[str]
    need: Need


class Needs:
    """The needs of an app's routes, in the order in which it tries the routes."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self.declared: dict[str, Need] = {}
        """Needs by method and path as the route states it: `GET /v1/tickets/{ticket_id}`."""
        self.undeclared: list[str] = []
        """Routes whose need is missing; only an admin may call them."""
        self._rules = [rule for route in routes for rule in self._of(route)]

    def of(self, request: Request) -> Need | None:
        """Return the need of a request; None if no route matches, so that it is answered 404."""
        for rule in self._rules:
            if request["method"] in rule.methods and rule.path.match(request["path"]):
                return rule.need
        return None

    def _of(self, route: BaseRoute) -> Iterator[_Rule]:
        if not isinstance(route, Route):
            return
        path = compile_path(route.path)[0]
        # The description itself is a route of the library's.
        need = (
            Need.READ
            if route.path == "/openapi.json"
            else getattr(route.endpoint, _ATTRIBUTE, None)
        )
        for method in sorted(route.methods or ()):
            name = f"{'GET' if method == 'HEAD' else method} {route.path}"
            if need is None:
                self.undeclared.append(name)
            else:
                self.declared[name] = need
            yield _Rule(frozenset({method}), path, need or Need.ADMIN)


def check_need(caller: Caller, need: Need | None) -> None:
    """Check that the caller has the permission that the route needs.

    Raises:
        ScopeMissingError: It lacks the scope, or is not the platform.
    """
    if need is Need.PLATFORM and not caller.is_platform and caller.kind is not CallerKind.LOCAL:
        raise ScopeMissingError(f"{caller.name} may not do this: only the platform itself does")
    scope = need.scope if need else None
    if (
        scope is None
        or caller.may(scope)
        or (need is Need.SIGNED and caller.kind is CallerKind.NOBODY)
    ):
        return
    has = f"and has {', '.join(sorted(caller.scopes)) or 'nothing'}"
    if caller.kind is CallerKind.KEY and caller.may(Scope.ADMIN):
        has = "and no key has it"
    raise ScopeMissingError(f"{caller.name} may not do this: it needs `{scope}`, {has}")


def require(caller: Caller, scope: Scope) -> None:
    """Require a scope within an endpoint; raises as `check_need` does."""
    check_need(caller, Need(scope.value))


async def _of_request() -> Caller:
    return current_caller()


RequestCaller = Annotated[Caller, Depends(_of_request)]
"""Caller of the endpoint."""
