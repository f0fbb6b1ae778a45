"""Why an operation is refused."""

from services.kit.errors import InvalidInputError


class UnusableOperationError(InvalidInputError):
    """An operation cannot be done; the others of its edit are not done either."""

    operation: int | None = None
    """Its place in the edit, from 0."""

    def of(self, operation: int, name: str) -> "UnusableOperationError":
        """The same refusal, which says whose it is."""
        told = type(self)(f"operation {operation} ({name}): {self}")
        told.operation = operation
        return told


class UnknownNodeError(UnusableOperationError):
    """The procedure has nothing of this id."""


class UnknownPlaceError(UnusableOperationError):
    """Nothing can be put where the operation says."""


class WrongKindError(UnusableOperationError):
    """The node is there, and this cannot be done to its kind."""


class IdTakenError(UnusableOperationError):
    """Something new has the id of something that is there."""


class IntoItselfError(UnusableOperationError):
    """A node is moved to a place below itself."""


class NotTogetherError(UnusableOperationError):
    """Nodes that are to go under one condition do not follow one another."""


class JumpToNothingError(UnusableOperationError):
    """A jump would go on at what is not there, or not there any more."""


class NothingChangedError(UnusableOperationError):
    """The operation leaves everything as it was: what it looks for is not there."""
