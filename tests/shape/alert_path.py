"""Prints the files of `services/` that one alert passes: to its stored workflow, then to its page.

    python tests/shape/alert_path.py [ALERT.json]

A file is passed when one of its functions is called after an alert of another title has gone the
same way, so that what is only imported, read once or opened at the start does not count.
"""

import json
import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType, FrameType

from fastapi.testclient import TestClient

from services.kit.settings import PlatformSettings

try:
    from services.serving.embedded import Embedded
except ImportError:  # as it was called before the rooms had descriptors
    from services.embedded import Embedded

ROOT = Path(__file__).parents[2]
SERVICES = str(Path(sys.modules["services"].__file__ or "").parent)
ALERT = ROOT / "examples" / "alerts" / "alertmanager" / "bgp-down.json"

seen: set[CodeType] = set()


def note(frame: FrameType, _event: str, _argument: object) -> None:
    seen.add(frame.f_code)


def files() -> set[str]:
    found = {
        code.co_filename for code in seen.copy() if code.co_name not in {"<module>", "<lambda>"}
    }
    return {name.removeprefix(SERVICES + "/") for name in found if name.startswith(SERVICES)}


def main() -> None:
    alert = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else ALERT).read_text("utf-8"))
    first = {"title": "Interface Ethernet1 of leaf-01 flaps", "description": "up and down again"}
    threading.setprofile(note)
    sys.setprofile(note)
    with (
        tempfile.TemporaryDirectory() as folder,
        Embedded.open(PlatformSettings(_env_file=None, data_dir=Path(folder))) as platform,
        TestClient(platform.app, base_url="http://127.0.0.1") as client,
    ):
        platform.ingestion.ingest_here(ROOT / "examples" / "documents")
        platform.start()
        passed = []
        for body in (first, alert):
            seen.clear()
            ticket = client.post("/workflow?wait=60", json=body).json()["tickets"][0]["id"]
            to_workflow = files()
            seen.clear()
            client.get(f"/tickets/{ticket}", headers={"accept": "text/html"}).raise_for_status()
            passed = [to_workflow, files() - to_workflow]
    sys.setprofile(None)
    for title, names in zip(("to the stored workflow", "more to the page"), passed, strict=True):
        sys.stdout.write("\n  ".join([f"{len(names)} {title}", *sorted(names)]) + "\n")


if __name__ == "__main__":
    main()
