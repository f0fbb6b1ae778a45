"""The fields of a form whose names are not known beforehand."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Request

ARGUMENT = "argument."
"""Before the name of a parameter that somebody fills in."""


async def _told(request: Request) -> dict[str, str]:
    return {name: str(value)[:500] for name, value in (await request.form()).items()}


Told = Annotated[dict[str, str], Depends(_told)]
"""All of them by their names, each cut at 500 characters."""


def arguments_of(told: Mapping[str, str]) -> dict[str, str]:
    """What was filled in, by the names of parameters."""
    return {
        name.removeprefix(ARGUMENT): value
        for name, value in told.items()
        if name.startswith(ARGUMENT)
    }
