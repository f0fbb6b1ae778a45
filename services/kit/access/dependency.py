"""The caller as a parameter of an endpoint."""

from typing import Annotated

from fastapi import Depends

from services.kit.access.caller import Caller, current_caller


async def _of_request() -> Caller:
    return current_caller()


RequestCaller = Annotated[Caller, Depends(_of_request)]
"""Who calls the endpoint."""
