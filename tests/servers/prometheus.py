"""A Prometheus server of a test's own, and questions to it."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml

from tests.ports import free_port

CONFIG = Path(__file__).parents[2] / "deploy" / "observability"
START_WITHIN_S = 30


class Prometheus:
    """What it says."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = httpx.Client(base_url=url, timeout=10)

    def ask(self, query: str) -> list[Any]:
        """The series that the query gives now."""
        answer = self._client.get("/api/v1/query", params={"query": query}).json()
        assert answer["status"] == "success", (query, answer)
        series: list[Any] = answer["data"]["result"]
        return series

    def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            return self._client.get("/-/ready").status_code == 200
        except httpx.TransportError:
            return False


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[Prometheus]:
    """A server with the platform's own rules that scrapes the target every second."""
    rules = folder / "rules"
    rules.mkdir()
    for path in (CONFIG / "rules").glob("*.yml"):
        text = yaml.safe_load(path.read_text())
        for group in text["groups"]:
            group["interval"] = "1s"
        (rules / path.name).write_text(yaml.safe_dump(text))
    scrape = {
        "job_name": "flowxpert",
        "static_configs": [{"targets": [urlsplit(target).netloc], "labels": {"app": "flowxpert"}}],
    }
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [f"{rules}/*.yml"],
        "scrape_configs": [scrape],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={address}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        server = Prometheus(f"http://{address}")
        until = time.monotonic() + START_WITHIN_S
        while not server.is_ready():
            is_hopeless = process.poll() is not None or time.monotonic() > until
            assert not is_hopeless, (folder / "log").read_text()
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)
