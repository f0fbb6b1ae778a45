"""Limits of the intake: alerts of one source per minute, and work that waits in all."""

import threading
import time
from collections import Counter
from collections.abc import Callable

from services.kit.access.gate import Buckets
from services.kit.errors import TooManyRequestsError
from services.kit.queue.outbox import Outbox
from services.tickets.intake.delivery import Delivery
from services.tickets.settings import GatewaySettings

_LOOK_EVERY_S = 1.0
_RETRY_AFTER_S = 15.0


class SourceTooFastError(TooManyRequestsError):
    """One ticket system sends more alerts than the settings allow; the others are taken."""


class TooMuchWaitsError(TooManyRequestsError):
    """More tickets wait for their walk than the settings allow; later ones will be taken."""


class Pressure:
    """Admission control for deliveries. Safe to share between threads."""

    def __init__(
        self,
        settings: GatewaySettings,
        outbox: Outbox,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outbox = outbox
        self._most_waiting = settings.max_waiting
        self._per_minute = settings.source_per_minute
        self._own_rates = settings.source_rates
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, Buckets] = {}
        self._waiting, self._looked_at = 0, float("-inf")

    def admit(self, delivery: Delivery) -> None:
        """Count the delivery before it is stored, or refuse it.

        Raises:
            SourceTooFastError: Its source may send no more at present.
            TooMuchWaitsError: There is work enough.
        """
        if not delivery.tickets:  # an end makes nobody work
            return
        with self._lock:
            now = self._clock()
            if now - self._looked_at >= _LOOK_EVERY_S:
                self._waiting, self._looked_at = self._outbox.counts()["waiting"], now
            if self._waiting > self._most_waiting:
                raise TooMuchWaitsError(
                    f"{self._waiting} tasks wait, more than {self._most_waiting}: come again later",
                    retry_after_s=_RETRY_AFTER_S,
                )
            for source, alerts in Counter(draft.source for draft in delivery.tickets).items():
                rate = self._own_rates.get(source, self._per_minute)
                burst = max(1, round(rate))
                bucket = self._buckets.setdefault(
                    source, Buckets(rate / 60, burst, clock=self._clock)
                )
                try:
                    bucket.take(source, alerts)
                except TooManyRequestsError as error:
                    raise SourceTooFastError(
                        f"{source} may send {rate:g} alerts a minute",
                        retry_after_s=error.retry_after_s,
                    ) from None
