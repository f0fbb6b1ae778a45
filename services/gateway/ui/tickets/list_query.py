"""Which tickets the list shows where its address does not say it: open ones, the worst first."""

from typing import Any

from pydantic import field_validator

from services.contracts.gateway import Sort, TicketQuery

ANY = "any"
"""As `resolved=any`: open or over."""


class ListQuery(TicketQuery):
    """As `TicketQuery`, with other defaults."""

    resolved: bool | None = False
    sort: Sort = Sort.SEVERITY

    @field_validator("resolved", mode="before")
    @classmethod
    def _read_any(cls, given: Any) -> Any:  # noqa: ANN401 - as an address says it
        return None if given == ANY else given
