"""What each route needs of its caller, said on the route. Where nothing is, only an admin may."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from re import Pattern
from typing import TypeVar

from starlette.routing import BaseRoute, Route, compile_path
from starlette.types import Scope as Request

from services.kit.access.caller import Caller, Kind
from services.kit.access.scopes import Scope
from services.kit.errors import ForbiddenError


class ScopeMissingError(ForbiddenError):
    """The caller is known, and may not do this."""


class Need(StrEnum):
    """What a route needs."""

    OPEN = "open"
    """Nothing: an orchestrator's probe carries no key, and a page's style is no secret."""
    SIGN_IN = "sign in"
    """Nothing, and the address is counted: who has no key yet gets one in, from our own page."""
    SIGNED = "signed"
    """`operate`, or a delivery that its source has signed; the endpoint checks the signature."""
    READ = "read"
    INGEST = "ingest"
    OPERATE = "operate"
    RUN = "run"
    APPROVE = "approve"
    ADMIN = "admin"

    @property
    def scope(self) -> Scope | None:
        """The scope that is asked for; None where none is."""
        if self is Need.SIGNED:
            return Scope.OPERATE
        return None if self in {Need.OPEN, Need.SIGN_IN} else Scope(self.value)


_SAID = "__need__"

Endpoint = TypeVar("Endpoint", bound=Callable[..., object])


def needs(need: Need) -> Callable[[Endpoint], Endpoint]:
    """Says on an endpoint what its route needs."""

    def say(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _SAID, need)
        return endpoint

    return say


@dataclass(frozen=True)
class _Rule:
    methods: frozenset[str]
    path: Pattern[str]
    need: Need


class Needs:
    """The needs of an app's routes, in the order in which it tries the routes."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self.declared: dict[str, Need] = {}
        """By method and path as the route states it: `GET /v1/tickets/{ticket_id}`."""
        self.undeclared: list[str] = []
        """Routes whose need is missing; only an admin may call them."""
        self._rules = [rule for route in routes for rule in self._of(route)]

    def of(self, request: Request) -> Need | None:
        """What the request needs; None where no route takes it, so that it is answered 404."""
        for rule in self._rules:
            if request["method"] in rule.methods and rule.path.match(request["path"]):
                return rule.need
        return None

    def _of(self, route: BaseRoute) -> Iterator[_Rule]:
        if not isinstance(route, Route):
            return
        path = compile_path(route.path)[0]
        # The description itself is a route of the library's.
        said = Need.READ if route.path == "/openapi.json" else getattr(route.endpoint, _SAID, None)
        for method in sorted(route.methods or ()):
            name = f"{'GET' if method == 'HEAD' else method} {route.path}"
            if said is None:
                self.undeclared.append(name)
            else:
                self.declared[name] = said
            yield _Rule(frozenset({method}), path, said or Need.ADMIN)


def check_need(caller: Caller, need: Need | None) -> None:
    """Let the caller do what the route needs, or say why not.

    Raises:
        ScopeMissingError: It lacks the scope.
    """
    scope = need.scope if need else None
    if scope is None or caller.may(scope) or (need is Need.SIGNED and caller.kind is Kind.NOBODY):
        return
    raise ScopeMissingError(f"{caller.name} may not do this: it needs `{scope}`, {_has(caller)}")


def require(caller: Caller, scope: Scope) -> None:
    """Insist on a scope within an endpoint; raises as `check_need` does."""
    check_need(caller, Need(scope.value))


def _has(caller: Caller) -> str:
    if caller.kind is Kind.KEY and caller.may(Scope.ADMIN):
        return "and no key has it"
    return f"and has {', '.join(sorted(caller.scopes)) or 'nothing'}"
