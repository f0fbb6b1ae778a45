"""The gate before every request: who sends it, how many it sends, whether it may."""

from starlette.concurrency import run_in_threadpool
from starlette.types import Scope as Request

from services.kit.access.access import Access
from services.kit.access.caller import NOBODY, Caller, Kind
from services.kit.access.needs import Need, Needs, check_need
from services.kit.access.rates import Buckets

_SIGN_INS_PER_S = 5.0
_SIGN_INS_AT_ONCE = 100
"""From one address, behind which a whole team may sit; each leaves a row for ten minutes."""


class Gate:
    """One for each app; the event loop asks it."""

    def __init__(self, access: Access, needs: Needs) -> None:
        limits = access.settings
        self._access = access
        self._needs = needs
        self._callers = Buckets(limits.requests_per_s, limits.burst)
        self._addresses = Buckets(limits.address_requests_per_s, limits.address_burst)
        self._sign_ins = Buckets(_SIGN_INS_PER_S, _SIGN_INS_AT_ONCE)

    async def admit(self, request: Request) -> Caller:
        """The caller, when it may send this request now.

        Raises:
            UnauthorizedError: It does not say truly who it is.
            ForbiddenError: It may not do this, or another site's page asks for it.
            TooManyRequestsError: It asks too often.
            UnavailableError: What would tell who it is did not answer.
        """
        need = self._needs.of(request)
        if need is Need.OPEN:
            return NOBODY
        if need is Need.SIGN_IN:
            self._sign_ins.take(_address(request))
            return self._access.caller(request, need)
        credential = self._access.credential(request)
        is_ours = self._access.is_from_platform(credential)
        if credential is not None and not is_ours:  # before it is looked at: it may be a guess
            self._addresses.take(_address(request))
        if self._access.knows_at_once(request):
            caller = self._access.caller(request, need)
        else:
            caller = await run_in_threadpool(self._access.caller, request, need)
        if caller.kind is Kind.NOBODY:
            self._addresses.take(_address(request))
        elif caller.id and not is_ours:
            self._callers.take(caller.id)
        check_need(caller, need)
        return caller


def _address(request: Request) -> str:
    client = request.get("client")
    return client[0] if client else "-"
