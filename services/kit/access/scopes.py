"""Scopes, and the roles of people that include them."""

from enum import StrEnum


class Scope(StrEnum):
    """Scope of a caller's permissions; a caller has some of them, a route needs one."""

    READ = "read"
    """Read tickets, workflows, documents and readings."""
    INGEST = "ingest"
    """Ingest documents and readings, and remove documents."""
    OPERATE = "operate"
    """Deliver tickets and work on them; by a key or a role it includes `read`."""
    RUN = "run"
    """Run workflows read-only, request approval for changes; by a key or a role with `read`."""
    APPROVE = "approve"
    """Approve readings and changes, answer doubts, replace readings: for people, never for keys."""
    ADMIN = "admin"
    """Read the audit log; includes all scopes above except `approve`."""


class Role(StrEnum):
    """Role of a person, from the roles of its bearer token."""

    VIEWER = "viewer"
    RESPONDER = "responder"
    APPROVER = "approver"
    ADMIN = "admin"


KEY_SCOPES = frozenset({Scope.READ, Scope.INGEST, Scope.OPERATE, Scope.RUN, Scope.ADMIN})
"""Scopes that a key may have."""

SCOPES_OF_ROLE = {
    Role.VIEWER: frozenset({Scope.READ}),
    Role.RESPONDER: frozenset({Scope.READ, Scope.OPERATE, Scope.RUN}),
    Role.APPROVER: frozenset({Scope.READ, Scope.OPERATE, Scope.INGEST, Scope.RUN, Scope.APPROVE}),
    Role.ADMIN: frozenset(Scope),
}


def scopes_of_key(scopes: frozenset[Scope]) -> frozenset[Scope]:
    """Return the effective scopes of a key; no scope makes it a person."""
    if Scope.ADMIN in scopes:
        return KEY_SCOPES
    included = {Scope.READ} if scopes & {Scope.OPERATE, Scope.RUN} else set()
    return (scopes & KEY_SCOPES) | included


def scopes_of_roles(roles: frozenset[Role]) -> frozenset[Scope]:
    """Return the scopes of a person with these roles."""
    return frozenset(scope for role in roles for scope in SCOPES_OF_ROLE[role])
