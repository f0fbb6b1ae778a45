"""The caller of a request, wherever its work is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

from services.kit.access.scopes import KEY_SCOPES, Role, Scope


class CallerKind(StrEnum):
    """Kind of caller, by its authentication."""

    KEY = "key"
    PERSON = "person"
    """A person, by a bearer token of the configured issuer."""
    SOURCE = "source"
    """A ticket system, by the signature of its delivery."""
    LOCAL = "local"
    """A user of this machine: the command line, or requests while access is off."""
    PLATFORM = "platform"
    """The platform itself: its workers, and calls between its services."""
    NOBODY = "nobody"
    """A request without credentials."""


LOCAL_TEACHER = "local"
"""Teacher that whoever sits at the machine counts as, where nobody signs in."""
PERSON_TEACHER = "person:"
"""Prefix of a teacher that is a person."""


def person_teacher(subject: str) -> str:
    """Return the teacher that a person is, by their subject at the issuer or their name."""
    return f"{PERSON_TEACHER}{subject}"


@dataclass(frozen=True)
class Caller:
    """The caller of a request. `name` is for people, `id` stays the same when names change."""

    name: str
    kind: CallerKind
    id: str = ""
    scopes: frozenset[Scope] = frozenset()
    roles: frozenset[Role] = frozenset()
    credential: str = field(default="", repr=False, compare=False)
    """Credential that it authenticated with, to forward the request within the platform."""
    in_session: bool = field(default=False, compare=False)
    """True if it is a signed-in browser."""
    owner: str = field(default="", compare=False)
    """Subject or name of the person who holds the key; empty if nobody does."""

    @property
    def lasting_id(self) -> str:
        """Id of the caller; the name if it has none."""
        return self.id or self.name

    @property
    def is_platform(self) -> bool:
        """True if it is the platform: within a process, or by the key of its services."""
        return self.kind is CallerKind.PLATFORM or self == PLATFORM_KEY

    @property
    def teacher(self) -> str:
        """Person or source that it counts as where the platform learns; empty for the platform.

        All keys of a person are that person, all that nobody holds are one, and so is a ticket
        system with all authors: it says itself who they are.
        """
        match self.kind:
            case CallerKind.LOCAL:
                return LOCAL_TEACHER
            case CallerKind.PERSON:
                return person_teacher(self.id.partition("#")[2] or self.lasting_id)
            case CallerKind.KEY:
                return person_teacher(self.owner) if self.owner else "keys"
            case CallerKind.SOURCE:
                system = self.lasting_id.removeprefix("source:").partition(":")[0]
                return f"source:{system}"
            case _:
                return ""

    def may(self, scope: Scope) -> bool:
        """Tell whether the caller has the scope."""
        return scope in self.scopes

    def may_vouch(self, scope: Scope = Scope.APPROVE) -> bool:
        """Tell whether it is a person with the scope, or local use without sign-in; never a key."""
        return self.kind in {CallerKind.PERSON, CallerKind.LOCAL} and self.may(scope)


LOCAL = Caller("local", CallerKind.LOCAL, scopes=frozenset(Scope))
PLATFORM = Caller("platform", CallerKind.PLATFORM, scopes=KEY_SCOPES)
NOBODY = Caller("nobody", CallerKind.NOBODY)
PLATFORM_KEY = Caller("api key", CallerKind.KEY, "key:platform", KEY_SCOPES)
"""Holder of FLOWXPERT_API_KEY: an admin, but not a person."""

_current: ContextVar[Caller] = ContextVar("caller", default=PLATFORM)


def current_caller() -> Caller:
    """Return the current caller: an endpoint's dependency, and the audit log's `who`.

    Outside a request it is the platform itself, unless a command says otherwise.
    """
    return _current.get()


@contextmanager
def acting_as(caller: Caller) -> Iterator[None]:
    """Make `caller` the current caller within the block."""
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)
