"""The base of what is compared by content."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Compared by content and never changed in place."""

    model_config = ConfigDict(frozen=True)
