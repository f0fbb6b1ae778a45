"""Print how many files of `services/` run for one request of each kind: `request_paths.py [-v]`.

A file counts when one of its functions is called after another request of the kind has gone the
same way, so that what is only imported, read once or opened at the start does not count. With `-v`
the files are listed. Run by the code of a checkout: `PYTHONPATH=CHECKOUT python request_paths.py`.
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

from fastapi.testclient import TestClient

import services
from services.deployment.embedded import Embedded
from services.kit.settings import PlatformSettings

ROOT = Path(__file__).parents[2]
SERVICES = f"{Path(services.__path__[0])}/"
BGP = ROOT / "examples" / "alerts" / "alertmanager" / "bgp-down.json"
FLAP = {"title": "Interface Ethernet1 of leaf-01 flaps", "description": "up and down again"}
PAGE = "# Pump {n} stops\n\n1. Look at the fuse of pump {n}.\n2. If it is blown, replace it.\n"
EDIT = {"procedure": 0, "operations": [{"op": "replace", "node": "n1", "text": "Look at it"}]}

OVER = {"planned", "refused", "failed"}

seen: set[CodeType] = set()
worked: set[CodeType] = set()
"""Code that ran in a thread of the queue, apart from that of requests."""


def note(frame: FrameType, _event: str, _argument: object) -> None:
    name = threading.current_thread().name
    if name == "worker-gateway":
        worked.add(frame.f_code)
    elif name.startswith(("MainThread", "AnyIO", "asyncio")):
        seen.add(frame.f_code)


@contextmanager
def traced(into: dict[str, set[str]], name: str) -> Iterator[None]:
    """Keep the files whose functions are called."""
    seen.clear()
    yield
    into[name] = files(seen)


def files(codes: set[CodeType]) -> set[str]:
    """Files of the product that hold these functions."""
    codes = {code for code in codes.copy() if code.co_name not in {"<module>", "<lambda>"}}
    return {
        code.co_filename.removeprefix(SERVICES)
        for code in codes
        if code.co_filename.startswith(SERVICES)
    }


def requests(client: TestClient, platform: Embedded, folder: Path) -> dict[str, set[str]]:
    """Send each request twice and keep what the second one ran."""
    passed: dict[str, set[str]] = {}
    for number, body in enumerate((FLAP, json.loads(BGP.read_text("utf-8")))):
        worked.clear()
        with traced(passed, "POST to 202"):
            response = client.post("/workflow", json=body)
        ticket = response.json()["tickets"][0]["id"]
        while client.get(f"/v1/tickets/{ticket}").json()["status"] not in OVER:
            time.sleep(0.05)
        passed["walk"] = files(worked)
        with traced(passed, "ticket page"):
            client.get(f"/tickets/{ticket}", headers={"accept": "text/html"}).raise_for_status()
        (folder / f"pump-{number}.md").write_text(PAGE.format(n=number))
        with traced(passed, "ingested page"):
            platform.ingestion.ingest_here(folder)
        (id_,) = (each for each in platform.documents.hashes() if each.endswith(f"-{number}.md"))
        document = platform.documents.get(id_)
        assert document is not None
        address = f"/v1/readings/{document.text_hash}"
        client.post(f"{address}/beginnings", json={}).raise_for_status()
        with traced(passed, "edit"):
            client.post(f"{address}/edits", json=EDIT).raise_for_status()
    return passed


def main() -> None:
    threading.setprofile(note)
    sys.setprofile(note)
    with (
        tempfile.TemporaryDirectory() as folder,
        Embedded(PlatformSettings(_env_file=None, data_dir=Path(folder, "data"))) as platform,
        TestClient(platform.app, base_url="http://127.0.0.1") as client,
    ):
        platform.ingestion.ingest_here(ROOT / "examples" / "documents")
        platform.start()
        pages = Path(folder, "pages")
        pages.mkdir()
        passed = requests(client, platform, pages)
    sys.setprofile(None)
    for name, files in passed.items():
        lines = [f"{len(files)} {name}", *(sorted(files) if "-v" in sys.argv else ())]
        sys.stdout.write("\n  ".join(lines) + "\n")


if __name__ == "__main__":
    main()
