"""Waiting for walks: of a request, never of a thread."""

import asyncio
import threading
import time
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool

from services.gateway.service import GatewayService

FIRST_LOOK_S = 0.02


async def are_over(
    service: GatewayService, ticket_ids: Sequence[str], seconds: float, stopping: threading.Event
) -> bool:
    """Whether every walk is over before the time is up, at most that of the settings."""
    until = time.monotonic() + min(seconds, service.settings.max_wait_s)
    pause = FIRST_LOOK_S
    while not await run_in_threadpool(service.are_final, ticket_ids):
        left = until - time.monotonic()
        if left <= 0 or stopping.is_set():
            return False
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 1.5, service.settings.event_poll_s)
    return True
