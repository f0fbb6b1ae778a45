"""Gateways and bodies that tests of all rooms share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from services.kit.sql.database import Database

if TYPE_CHECKING:
    from tests.unit.gateway.harness import Gateway


@pytest.fixture
def gateway(make_gateway: Callable[..., Gateway]) -> Gateway:
    """A gateway with the settings' defaults, but quick to look."""
    return make_gateway()


@pytest.fixture
def make_gateway() -> Iterator[Callable[..., Gateway]]:
    """Makes gateways with other settings."""
    from tests.unit.gateway.harness import gateway_over

    opened: list[Database] = []

    def make(**settings: Any) -> Gateway:
        database = Database.memory()
        opened.append(database)
        database.migrate("kit", "gateway")
        return gateway_over(database, **settings)

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def alert() -> dict[str, Any]:
    """One firing alert, as Alertmanager sends it."""
    return {
        "status": "firing",
        "labels": {"alertname": "FanFailed", "severity": "critical", "device": "spine-01"},
        "annotations": {"summary": "Fan 2 of spine-01 failed", "description": "It stands still."},
        "startsAt": "2025-03-12T08:14:51.123Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example.net/graph",
        "fingerprint": "5e6f7081a2b3c4d5",
    }


@pytest.fixture
def group(alert: dict[str, Any]) -> dict[str, Any]:
    """A group of that one alert."""
    return {
        "version": "4",
        "groupKey": "{}",
        "status": "firing",
        "receiver": "flowxpert",
        "alerts": [alert],
    }
