"""Writes `openapi/<service>.json` from the apps, or with `--check` says which one differs."""

import json
import sys
from pathlib import Path

from fastapi import FastAPI

from services.deployment.rooms import ROOMS
from services.kit.settings import PlatformSettings

FOLDER = Path(__file__).parent / "openapi"


def apps() -> dict[str, FastAPI]:
    """Every service's app by name."""
    settings = PlatformSettings(host="127.0.0.1")
    return {room.name: room.describe(settings) for room in ROOMS}


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
