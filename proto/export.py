"""Writes `openapi/<service>.json` from the apps, or with `--check` says which one differs."""

import json
import sys
from pathlib import Path
from typing import Any, cast

from fastapi import FastAPI

from services.gateway.app import create_app as create_gateway
from services.gateway.settings import GatewaySettings
from services.ingestion.app import create_app as create_ingestion
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.planner.app import create_app as create_planner
from services.retrieval.app import create_app as create_retrieval
from services.scorer.app import create_app as create_scorer

FOLDER = Path(__file__).parent / "openapi"

NOBODY = cast("Any", None)
"""Routes are described without asking the service behind them."""


def apps() -> dict[str, FastAPI]:
    """Every service's app by name."""
    settings = PlatformSettings(host="127.0.0.1")
    database = Database.memory()
    gateway = create_gateway(
        GatewaySettings(),
        settings,
        database=database,
        outbox=Outbox(database),
        retrieval=NOBODY,
        triage=NOBODY,
    )
    return {
        "gateway": gateway,
        "ingestion": create_ingestion(settings, service=NOBODY, syncs=NOBODY, readings=NOBODY),
        "planner": create_planner(settings, service=NOBODY),
        "retrieval": create_retrieval(settings, service=NOBODY),
        "scorer": create_scorer(settings, service=NOBODY),
    }


def main() -> None:
    """Write the files, or compare them."""
    stale = []
    for name, app in apps().items():
        path = FOLDER / f"{name}.json"
        text = json.dumps(app.openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.exit(f"proto/openapi differs from the apps of {', '.join(stale)}: run `make openapi`")


if __name__ == "__main__":
    main()
