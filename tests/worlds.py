"""A platform over a world of a test's own: pages, a catalogue, and two people who sign in."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.contracts.execution import RunDetail, RunPhase, StepBinding
from services.deployment.embedded import Embedded
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from tests.issuer import AUDIENCE, ISSUER, Issuer

WITHIN_S = 60.0


class Team:
    """Ann works on tickets, Bea lets things be changed; nobody else is known."""

    def __init__(self, url: str, issuer: Issuer) -> None:
        self.ann = _client(url, issuer.token("responder", sub="ann", preferred_username="ann"))
        self.bea = _client(url, issuer.token("approver", sub="bea", preferred_username="bea"))
        self.leaves: list[str] = []
        """What Bea was shown before she let it be sent."""

    def approve_pages(self) -> None:
        """Bea vouches for every procedure."""
        for each in self.bea.get("/v1/readings").json():
            for place in range(each["procedures"]):
                where = f"/v1/readings/{each['text_hash']}/approvals"
                self.bea.post(where, json={"procedure": place}).raise_for_status()

    def ticket(self, summary: str, **labels: str) -> Any:
        """The ticket of an alert, once it has been worked on."""
        alert = {
            "status": "firing",
            "labels": labels,
            "annotations": {"summary": summary},
            "startsAt": f"2026-01-01T00:00:00.{time.time_ns() % 1_000_000_000:09}Z",
        }
        body = {"version": "4", "alerts": [alert]}
        receipt = self.ann.post("/workflow/alertmanager", params={"wait": 60}, json=body).json()
        return self.ann.get(f"/v1/tickets/{receipt['tickets'][0]['id']}").json()

    def approve_bindings(self, ticket_id: str) -> dict[str, StepBinding]:
        """Bea vouches for all that is proposed; they are told by the text of their step."""
        bindings = self.bea.get("/v1/bindings", params={"ticket_id": ticket_id}).json()
        bound = [StepBinding.model_validate(each) for each in bindings]
        for each in bound:
            if each.binding["tool"]:
                body = {"ticket_id": ticket_id, "step": each.step, "binding": each.binding}
                self.bea.post("/v1/bindings", json=body).raise_for_status()
        return {each.text: each for each in bound}

    def carried(self, ticket_id: str, mode: str = "supervised") -> RunDetail:
        """Ann's run with Bea's leave for all it asks, until it ends or asks something else."""
        body = {"ticket_id": ticket_id, "mode": mode, "confirms_page": mode == "supervised"}
        begun = self.ann.post("/v1/runs", json=body)
        begun.raise_for_status()
        return self.until_rest(begun.json()["id"])

    def until_rest(self, run_id: str) -> RunDetail:
        """The run once it has ended or asks something; what waits for leave is let be sent."""
        run = self._run(run_id)
        by = time.monotonic() + WITHIN_S
        while run.phase is not RunPhase.ENDED and run.question is None:
            assert time.monotonic() < by, run
            if run.approval is not None:
                self.leaves.append(run.approval.shown)
                leave = {"digest": run.approval.digest}
                refused = self.ann.post(f"/v1/runs/{run.id}/approval", json=leave)
                assert refused.status_code == 403
                self.bea.post(f"/v1/runs/{run.id}/approval", json=leave).raise_for_status()
            time.sleep(0.1)
            run = self._run(run_id)
        return run

    def _run(self, run_id: str) -> RunDetail:
        return RunDetail.model_validate(self.ann.get(f"/v1/runs/{run_id}").json())


@contextmanager
def team_over(catalogue: Path, folder: Path, *pages: Path) -> Iterator[Team]:
    """The whole platform with sign-in on, the pages ingested, `catalogue` as the executor's."""
    issuer = Issuer()
    keys = ServerThread(issuer.app, host="127.0.0.1", port=0)
    keys.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOWXPERT_EXECUTOR_CATALOGUE", str(catalogue))
        patch.setenv("FLOWXPERT_OIDC_ISSUER", ISSUER)
        patch.setenv("FLOWXPERT_OIDC_AUDIENCE", AUDIENCE)
        patch.setenv("FLOWXPERT_OIDC_JWKS_URL", f"{keys.url}/jwks")
        settings = PlatformSettings(_env_file=None, data_dir=folder / "data", port=0)
        with Embedded(settings) as platform:
            for each in pages:
                platform.ingestion.ingest_here(each)
            platform.start()
            server = ServerThread(platform.app, host="127.0.0.1", port=0)
            server.start()
            team = Team(server.url, issuer)
            with team.ann, team.bea:
                team.approve_pages()
                yield team
            server.stop()
    keys.stop()


def _client(url: str, token: str) -> httpx.Client:
    return httpx.Client(base_url=url, timeout=90, headers={"authorization": f"Bearer {token}"})
