"""Base class of values that are compared by content."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen model, compared by content."""

    model_config = ConfigDict(frozen=True)
