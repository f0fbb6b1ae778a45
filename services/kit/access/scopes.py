"""What may be done, and which roles of people may do it."""

from enum import StrEnum


class Scope(StrEnum):
    """A kind of work. A caller has some of them, a route needs one."""

    READ = "read"
    """Look at tickets, workflows, documents and readings."""
    INGEST = "ingest"
    """Bring documents and readings in, and take documents out."""
    OPERATE = "operate"
    """Bring tickets in and work on them; who has it by a key or a role has `read` too."""
    RUN = "run"
    """Carry workflows out as far as nothing is changed, and ask for leave to change something."""
    APPROVE = "approve"
    """Vouch for a reading, answer its doubts, replace it, let something be changed: what a person
    says, and no key."""
    ADMIN = "admin"
    """Read the audit log; it includes the scopes before, but for `approve`."""


class Role(StrEnum):
    """What a person is, by the roles of its bearer token."""

    VIEWER = "viewer"
    RESPONDER = "responder"
    APPROVER = "approver"
    ADMIN = "admin"


KEY_SCOPES = frozenset({Scope.READ, Scope.INGEST, Scope.OPERATE, Scope.RUN, Scope.ADMIN})
"""What a key may have."""

SCOPES_OF_ROLE = {
    Role.VIEWER: frozenset({Scope.READ}),
    Role.RESPONDER: frozenset({Scope.READ, Scope.OPERATE, Scope.RUN}),
    Role.APPROVER: frozenset({Scope.READ, Scope.OPERATE, Scope.INGEST, Scope.RUN, Scope.APPROVE}),
    Role.ADMIN: frozenset(Scope),
}


def scopes_of_key(given: frozenset[Scope]) -> frozenset[Scope]:
    """What a key of these scopes may do; nothing makes it a person."""
    if Scope.ADMIN in given:
        return KEY_SCOPES
    included = {Scope.READ} if given & {Scope.OPERATE, Scope.RUN} else set()
    return (given & KEY_SCOPES) | included


def scopes_of(roles: frozenset[Role]) -> frozenset[Scope]:
    """What a person of these roles may do."""
    return frozenset(scope for role in roles for scope in SCOPES_OF_ROLE[role])
