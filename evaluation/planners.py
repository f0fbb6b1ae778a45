"""Planners that a benchmark can be asked to measure, by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from services.contracts.planner import Planner
from services.kit.errors import InvalidInputError

if TYPE_CHECKING:
    from services.embedded import Embedded

PLANNERS: dict[str, "Callable[[Embedded], Planner]"] = {
    "extractive": lambda platform: platform.planner,
}


def planner_named(name: str, platform: "Embedded") -> Planner:
    """The planner of that name.

    Raises:
        InvalidInputError: No planner has that name.
    """
    if name not in PLANNERS:
        raise InvalidInputError(f"expected one of {', '.join(PLANNERS)} as planner, got {name!r}")
    return PLANNERS[name](platform)
