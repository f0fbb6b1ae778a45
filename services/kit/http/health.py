"""Health: required and optional dependencies of a service, and which of them answer.

A check that hangs hangs alone: it has a thread of its own, and no second one is begun beside it.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTimeError
from time import monotonic

import structlog

from services.kit.errors import UnavailableError

Check = Callable[[], None]
"""Function that raises an `UnavailableError` while its dependency is not ready."""

WITHIN_S = 2.0
"""Longest time that a request waits for all checks together; container engines give up after 3
s.
"""

HOLDS_S = 1.0
"""Seconds for which an answer is cached, whoever asks: the probes need no key."""

OK, DEGRADED, AWAY = "ok", "degraded", "away"
SLOW = f"no answer in {WITHIN_S:.0f} s"

_log = structlog.get_logger()


class DegradedError(UnavailableError):
    """The service works, but without something itself."""


class Probe:
    """One check, cached: requests during a run, or soon after, get the same answer."""

    def __init__(
        self, name: str, check: Check, *, holds_s: float = HOLDS_S, costs: float = 0.0
    ) -> None:
        """Cache an answer for `holds_s`, and for `costs` times its duration."""
        self._costs = costs
        self._name = name
        self._check = check
        self._holds_s = holds_s
        self._lock = threading.Lock()
        self._running: Future[str] | None = None
        self._holds_until = 0.0

    def begin(self) -> "Future[str]":
        """Start the check if needed and return its future: one of the words above."""
        with self._lock:
            running = self._running
            is_old = monotonic() > self._holds_until
            if running is None or (running.done() and is_old):
                running = self._running = Future()
                threading.Thread(
                    target=self._run, args=(running,), name=f"probe-{self._name}", daemon=True
                ).start()
        return running

    def _run(self, answer: "Future[str]") -> None:
        start, state = monotonic(), AWAY
        try:
            self._check()
            state = OK
        except DegradedError:
            state = DEGRADED
        except UnavailableError as error:
            # The reason may name hosts, and anybody may ask.
            _log.warning("health.away", what=self._name, reason=str(error))
        except Exception:  # noqa: BLE001 - the thread's entry point
            _log.exception("health.failed", what=self._name)
        took = monotonic() - start
        self._holds_until = start + took + max(self._holds_s, self._costs * took)
        answer.set_result(state)


class Health:
    """State of one service at `/readyz`."""

    def __init__(
        self, required: Mapping[str, Check], optional: Mapping[str, Check] | None = None
    ) -> None:
        self._required = frozenset(required)
        checks = {**(optional or {}), **required}
        self._probes = {name: Probe(name, check) for name, check in checks.items()}

    def states(self) -> dict[str, str]:
        """Return the state of each dependency."""
        return run_probes(self._probes)

    def status(self, states: Mapping[str, str]) -> str:
        """Return `ok`, `degraded`, or `away` if a required dependency is away."""
        if any(states[name] not in {OK, DEGRADED} for name in self._required):
            return AWAY
        return OK if all(state == OK for state in states.values()) else DEGRADED


def run_probes(probes: Mapping[str, Probe], within_s: float = WITHIN_S) -> dict[str, str]:
    """Run all probes at once and return their states."""
    ends = monotonic() + within_s
    begun = {name: probe.begin() for name, probe in probes.items()}
    states = {}
    for name, answer in begun.items():
        try:
            states[name] = answer.result(timeout=max(0.0, ends - monotonic()))
        except NotInTimeError:
            states[name] = SLOW
    return states
