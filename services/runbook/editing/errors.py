"""Refusals of edit operations."""

from services.kit.errors import InvalidInputError


class UnusableOperationError(InvalidInputError):
    """An operation cannot be done; the others of its edit are not done either."""

    operation: int | None = None
    """The index of the operation in the edit."""

    def of(self, operation: int, name: str) -> "UnusableOperationError":
        """Return the same refusal with the index and name of its operation."""
        named = type(self)(f"operation {operation} ({name}): {self}")
        named.operation = operation
        return named


class UnknownNodeError(UnusableOperationError):
    """The procedure has no node or arm of this id."""


class BlockNotFoundError(UnusableOperationError):
    """The page has no block of this key, or none that this can be done to."""


class UnknownPlaceError(UnusableOperationError):
    """The operation names a place at which nothing can be put."""


class WrongKindError(UnusableOperationError):
    """The node is there, and this cannot be done to its kind."""


class IdTakenError(UnusableOperationError):
    """A new node has the id of an existing one."""


class IntoItselfError(UnusableOperationError):
    """A node is moved to a place below itself."""


class NotTogetherError(UnusableOperationError):
    """Nodes that are to go under one condition do not follow one another."""


class JumpToNothingError(UnusableOperationError):
    """A jump would lead to a target that does not exist, or no longer does."""


class NothingChangedError(UnusableOperationError):
    """The operation changes nothing: what it looks for is not there."""
