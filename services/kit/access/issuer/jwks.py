"""An issuer's public keys, fetched from the configured address and from nowhere else."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import jwt
import structlog

from services.kit.access.issuer.answers import IssuerAnswers
from services.kit.errors import UnavailableError

FRESH_S = 600.0
"""Keys are fetched anew after so long."""
KEPT_S = 3600.0
"""Keys that cannot be fetched anew are trusted for so long after the last time they could."""
UNKNOWN_EVERY_S = 30.0
"""A key id that is not known makes the keys be fetched at most so often."""
RETRY_S = 5.0
"""Pause after a fetch that failed."""

_log = structlog.get_logger()


class IssuerUnavailableError(UnavailableError):
    """The issuer's keys cannot be had, so nobody can be recognised by its tokens; no one is."""


@dataclass(frozen=True)
class SigningKey:
    """A public key, and the algorithm that it is for where the issuer says so."""

    key: Any
    algorithm: str | None


class Jwks:
    """The keys by their ids. Safe to share between threads; one of them fetches."""

    def __init__(
        self,
        url: str,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answers = IssuerAnswers(transport)
        self._url = url
        self._clock = clock
        self._keys: dict[str, SigningKey] = {}
        self._fetched_at = float("-inf")
        self._tried_at = float("-inf")
        self._failure = ""
        self._lock = threading.Lock()

    def key(self, key_id: str) -> SigningKey | None:
        """The key of that id; None where the issuer has none.

        Raises:
            IssuerUnavailableError: The issuer was not reached, and no key that is known will do.
        """
        if not self._is_known(key_id, FRESH_S):
            with self._lock:
                if not self._is_known(key_id, FRESH_S) and self._may_fetch(key_id):
                    self._fetch()
        if self._is_known(key_id, KEPT_S):
            return self._keys[key_id]
        if self._failure:
            raise IssuerUnavailableError(
                f"the issuer's keys cannot be fetched from {self._url}: {self._failure}"
            )
        return None

    def _is_known(self, key_id: str, age_s: float) -> bool:
        return key_id in self._keys and self._clock() - self._fetched_at < age_s

    def _may_fetch(self, key_id: str) -> bool:
        is_unknown = self._clock() - self._fetched_at < FRESH_S and key_id not in self._keys
        pause_s = UNKNOWN_EVERY_S if is_unknown and not self._failure else RETRY_S
        return self._clock() - self._tried_at >= pause_s

    def _fetch(self) -> None:
        self._tried_at = self._clock()
        try:
            self._keys = _keys_of(self._answers.get(self._url))
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            self._failure = str(error)[:200] or type(error).__name__
            _log.warning("kit.issuer_unavailable", url=self._url, reason=self._failure)
        else:
            self._failure = ""
            self._fetched_at = self._clock()


def _keys_of(found: Any) -> dict[str, SigningKey]:  # noqa: ANN401 - JSON
    """Keys that sign, by their ids; those of kinds that are not understood are left out.

    Raises:
        ValueError: It is no set of keys.
    """
    given = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(given, list):
        raise ValueError("it answered no set of keys")  # noqa: TRY004 - JSON of another shape
    return {each["kid"]: key for each in given if (key := _key_of(each)) is not None}


def _key_of(given: Any) -> SigningKey | None:  # noqa: ANN401 - JSON
    if not isinstance(given, dict) or not isinstance(given.get("kid"), str):
        return None
    if given.get("kty") not in {"RSA", "EC", "OKP"} or given.get("use") == "enc":
        return None
    try:
        return SigningKey(jwt.PyJWK.from_dict(given).key, given.get("alg"))
    except jwt.PyJWTError:
        return None
