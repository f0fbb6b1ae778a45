"""Compare the names that two states of the code speak with others by.

`wire.py BEFORE [NOW]`: checkouts. Names are wire where they are least expected: the class of a
refusal, tags of stored JSON, ids of operations, fields of messages, settings, metrics, commands.
Descriptions may change, and a name may come; none may go or mean something else.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DESCRIPTIONS = {"description", "summary", "title"}
SCRIPT = """
import importlib, json, pkgutil, typing, warnings
warnings.simplefilter("ignore")
import services
from services.kit.errors import FlowXpertError
for module in pkgutil.walk_packages(services.__path__, "services."):
    if ".migrations" not in module.name and "__main__" not in module.name:
        try:
            importlib.import_module(module.name)
        except ImportError:
            pass
def below(cls):
    for each in cls.__subclasses__():
        yield each
        yield from below(each)
refusals = {getattr(e, "name", e.__name__): e.status_code for e in below(FlowXpertError)}
from services.runbook import model
print(json.dumps({"refusals": refusals, "tags": sorted(model._KEY_OF.items())}))
"""
"""Printed by the code of a checkout: refusals with their status, tags of stored programs."""


def names(checkout: Path) -> dict[str, Any]:
    """Everything that others know of a checkout by its name."""
    printed = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=True,
    )
    openapi = {
        path.name: _undescribed(json.loads(path.read_text(encoding="utf-8")))
        for path in sorted((checkout / "proto" / "openapi").glob("*.json"))
    }
    messages = {
        path.name: re.findall(r"^\s*([^/\s].*;)", path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in sorted((checkout / "proto" / "flowxpert").rglob("*.proto"))
    }
    settings = (checkout / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    metrics = (checkout / "docs" / "operate" / "metrics.md").read_text(encoding="utf-8")
    return json.loads(printed.stdout) | {
        "openapi": openapi,
        "messages": messages,
        "settings": sorted(set(re.findall(r"`(FLOWXPERT_\w+)`", settings))),
        "metrics": sorted(set(re.findall(r"`(flowxpert_\w+)`", metrics))),
        "events": _logged(checkout),
    }


def _undescribed(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _undescribed(each)
            for name, each in value.items()
            if name not in DESCRIPTIONS or isinstance(each, dict)
        }
    return [_undescribed(each) for each in value] if isinstance(value, list) else value


def _logged(checkout: Path) -> list[str]:
    """Names of log events and spans, which dashboards and searches go by."""
    rooms = "executor|gateway|ingestion|kit|learning|llm|outbox|planner|retrieval|scorer"
    pattern = re.compile(rf"\"((?:{rooms})\.[a-z_]+)\"")
    return sorted(
        {
            name
            for path in (checkout / "services").rglob("*.py")
            for name in pattern.findall(path.read_text(encoding="utf-8"))
        }
    )


def gone(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """What was there and is not, or is something else."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name, each in before.items():
            if name in now:
                yield from gone(each, now[name], f"{where}/{name}")
            else:
                yield f"{where}/{name} is gone"
    elif isinstance(before, list) and isinstance(now, list):
        left = [json.dumps(each, sort_keys=True) for each in now]
        for each in before:
            text = json.dumps(each, sort_keys=True)
            if text not in left:
                yield f"{where}: {text[:200]} is gone"
    elif before != now:
        yield f"{where}: {before!r} -> {now!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("now", type=Path, nargs="?", default=ROOT)
    arguments = parser.parse_args()
    lines = list(gone(names(arguments.before.resolve()), names(arguments.now.resolve())))
    sys.stdout.write("".join(f"{line}\n" for line in lines) or "every name is there\n")
    raise SystemExit(bool(lines))


if __name__ == "__main__":
    main()
