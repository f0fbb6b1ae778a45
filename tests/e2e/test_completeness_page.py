"""What others check, from a ticket's page to a page of its own."""

import json

from fastapi.testclient import TestClient

from services.deployment.embedded import Embedded
from services.kit.settings import PlatformSettings
from services.knowledge.screening.document import hash_of
from tests.readings import reading_of_list

POWER = "Check the power supply of the switch"
OTHERS = ("optic", "log", "disk")


def reading_line(path):
    """A line that brings the reading of a page that is one numbered list."""
    text = path.read_text()
    reading = reading_of_list(text).model_dump(mode="json")
    return json.dumps({"text_hash": hash_of(text), "reading": reading}).encode()


def test_a_ticket_leads_to_what_others_check(tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    for number, other in enumerate(OTHERS):
        (pages / f"fan-{other}.md").write_text(
            f"# Fan tray failed on switch type {number}\n\nA fan tray of the switch failed.\n\n"
            f"## Fix\n\n1. {POWER}.\n2. Check the {other}.\n3. Replace the fan tray.\n"
        )
    (pages / "fan.md").write_text(
        "# FanTrayFailed\n\nA fan tray of the switch failed.\n\n## Fix\n\n"
        "1. Show the fan trays of the switch.\n2. Replace the fan tray.\n"
    )
    settings = PlatformSettings(_env_file=None, data_dir=tmp_path / "data", learn_every_hours=0)
    with Embedded(settings) as platform:
        platform.ingestion.ingest_here(pages)
        lines = map(reading_line, sorted(pages.iterdir()))
        brought = platform.ingestion.readings("ada").import_lines(lines, approve=True)
        assert brought.approved == len(OTHERS) + 1, brought
        platform.start()
        client = TestClient(platform.app, base_url="http://127.0.0.1")
        alert = {"id": "T-1", "title": "FanTrayFailed", "description": "The fan tray failed."}
        ticket = client.post("/workflow", json=alert, params={"wait": 30}).json()["id"]
        address = f"/tickets/{ticket}/completeness"
        assert address in client.get(f"/tickets/{ticket}").text
        page = client.get(address)
        assert page.status_code == 200
        assert POWER in page.text
        assert "3 of 3 pages about this kind of fault check this" in page.text
        assert "No other of this kind: too few to compare with." in page.text
        assert client.get("/tickets/unknown/completeness").status_code == 404
        reading = next(
            each["text_hash"]
            for each in client.get("/v1/readings").json()
            if each["documents"] == ["fan.md"]
        )
        address = f"/knowledge/readings/{reading}/completeness"
        assert address in client.get(f"/knowledge/readings/{reading}").text
        page = client.get(address).text
        assert "3 of 3 pages about this kind of fault check this; this page does not" in page
        completeness = client.get(f"/v1/readings/{reading}/completeness").json()
        assert [each["text"] for each in completeness["pages"]["checks"]] == [POWER]
        assert client.get(f"/v1/readings/{'0' * 64}/completeness").status_code == 404
