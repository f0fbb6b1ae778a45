"""The caller of a request, wherever its work is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

from services.kit.access.scopes import KEY_SCOPES, Role, Scope


class Kind(StrEnum):
    """How a caller is known."""

    KEY = "key"
    PERSON = "person"
    """By a bearer token of the configured issuer."""
    SOURCE = "source"
    """A ticket system, by the signature of what it delivered."""
    LOCAL = "local"
    """Whoever sits at this machine: the command line, or requests while access is off."""
    PLATFORM = "platform"
    """The platform itself: its workers, and calls between its services."""
    NOBODY = "nobody"
    """A request that says nothing about who sends it."""


@dataclass(frozen=True)
class Caller:
    """Who calls. `name` is for people, `id` stays the same when names change."""

    name: str
    kind: Kind
    id: str = ""
    scopes: frozenset[Scope] = frozenset()
    roles: frozenset[Role] = frozenset()
    credential: str = field(default="", repr=False, compare=False)
    """What it identified itself with, for passing the request on within the platform."""
    in_session: bool = field(default=False, compare=False)
    """Whether it is a browser that is signed in here."""

    @property
    def lasting_id(self) -> str:
        """What stays the same of them; of those without an id, the name."""
        return self.id or self.name

    def may(self, scope: Scope) -> bool:
        """Whether it has the scope."""
        return scope in self.scopes


LOCAL = Caller("local", Kind.LOCAL, scopes=frozenset(Scope))
PLATFORM = Caller("platform", Kind.PLATFORM, scopes=KEY_SCOPES)
NOBODY = Caller("nobody", Kind.NOBODY)
PLATFORM_KEY = Caller("api key", Kind.KEY, "key:platform", KEY_SCOPES)
"""Whoever holds FLOWXPERT_API_KEY: an admin, but no person."""

_current: ContextVar[Caller] = ContextVar("caller", default=PLATFORM)


def current_caller() -> Caller:
    """Who this is done for: an endpoint's dependency, and what the audit log names.

    Outside a request it is the platform itself, unless a command says otherwise.
    """
    return _current.get()


@contextmanager
def acting_as(caller: Caller) -> Iterator[None]:
    """Let all that is done in the block be done for this caller."""
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)
