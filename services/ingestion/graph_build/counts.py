"""What building the graph counted."""

from typing import Self

from pydantic import BaseModel, ConfigDict


class BuildCounts(BaseModel):
    """Counts of one document or of several together."""

    model_config = ConfigDict(frozen=True)

    chunks: int = 0
    names: int = 0
    """That the model gave, repetitions included."""
    names_unsupported: int = 0
    """Of them, those with words that the passage has not, or that name no incident."""
    sentences: int = 0
    """That the model put into fields, repetitions included."""
    sentences_unsupported: int = 0
    """Of them, those that no line says: dropped."""
    empty: int = 0
    """Incidents without a line of their own: dropped."""
    unreadable: int = 0
    """Answers that could not be read, not even after a correction."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def __add__(self, other: Self) -> Self:
        return self.model_copy(
            update={
                name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields
            }
        )

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out
