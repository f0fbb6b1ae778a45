"""The gate before every request: authentication, rate limits, authorisation."""

import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.types import Scope as Request

from services.kit.access.access import Access
from services.kit.access.caller import NOBODY, Caller, CallerKind
from services.kit.access.needs import Need, Needs, check_need
from services.kit.errors import TooManyRequestsError

_MOST_BUCKETS = 20_000
"""Most buckets; the least recently used one is dropped first, as a full one equals none."""


class Buckets:
    """A token bucket for each name. Not thread-safe: the event loop uses it."""

    def __init__(
        self, per_s: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the rate, 0 for no limit, and the number of requests that may come at once."""
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, count: int = 1) -> None:
        """Count one or several requests; more than fit into the bucket need a full one.

        Raises:
            TooManyRequestsError: They are too many.
        """
        if not self._per_s:
            return
        now = self._clock()
        left, at = self._left.pop(name, (float(self._burst), now))
        left = min(self._burst, left + (now - at) * self._per_s)
        wanted = min(count, self._burst)
        fits = left >= wanted
        self._left[name] = (left - count if fits else left, now)
        if len(self._left) > _MOST_BUCKETS:
            self._left.popitem(last=False)
        if not fits:
            raise TooManyRequestsError(
                f"more than {self._per_s:g} requests a second: wait",
                retry_after_s=(wanted - left) / self._per_s,
            )


_SIGN_INS_PER_S = 5.0
_SIGN_INS_AT_ONCE = 100
"""Burst of sign-ins from one address, which a whole team may share; each leaves a row for ten
minutes.
"""


class Gate:
    """Gate of one app, called by the event loop."""

    def __init__(self, access: Access, needs: Needs) -> None:
        limits = access.settings
        self._access = access
        self._needs = needs
        self._callers = Buckets(limits.requests_per_s, limits.burst)
        self._addresses = Buckets(limits.address_requests_per_s, limits.address_burst)
        self._sign_ins = Buckets(_SIGN_INS_PER_S, _SIGN_INS_AT_ONCE)

    async def admit(self, request: Request) -> Caller:
        """Return the caller if it may send this request now.

        Raises:
            UnauthorizedError: Its credential is missing or wrong.
            ForbiddenError: It may not do this, or another site's page makes the request.
            TooManyRequestsError: It sends too many requests.
            UnavailableError: The database or the issuer did not answer.
        """
        need = self._needs.of(request)
        if need is Need.OPEN:
            return NOBODY
        if need is Need.SIGN_IN:
            self._sign_ins.take(client_address(request))
            return self._access.caller(request, need)
        credential = self._access.credential(request)
        is_ours = self._access.is_from_platform(credential)
        if credential is not None and not is_ours:  # before it is looked at: it may be a guess
            self._addresses.take(client_address(request))
        if self._access.can_answer_from_memory(request):
            caller = self._access.caller(request, need)
        else:
            caller = await run_in_threadpool(self._access.caller, request, need)
        if caller.kind is CallerKind.NOBODY:
            self._addresses.take(client_address(request))
        elif caller.id and not is_ours:
            self._callers.take(caller.id)
        check_need(caller, need)
        return caller


def client_address(request: Request) -> str:
    """Return the address that a request comes from; behind a proxy it is the proxy's."""
    client = request.get("client")
    return client[0] if client else "-"
