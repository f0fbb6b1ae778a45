"""The committed OpenAPI documents are what the apps serve."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted((ROOT / "proto" / "openapi").glob("*.json"))


def operations(path: Path) -> dict[str, dict]:
    paths = json.loads(path.read_text(encoding="utf-8"))["paths"]
    return {
        f"{method} {url}": operation
        for url, all_ in paths.items()
        for method, operation in all_.items()
    }


def test_the_committed_documents_are_what_the_apps_serve():
    done = subprocess.run(
        [sys.executable, "proto/export.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_service_has_its_document():
    rooms = {path.parent.name for path in ROOT.glob("services/*/room.py")}
    assert {path.stem for path in DOCUMENTS} == rooms


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_operation_is_described_in_a_sentence(path):
    descriptions = {name: op.get("description", "") for name, op in operations(path).items()}
    assert [name for name, text in descriptions.items() if "." not in text] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_endpoints_are_named_alike(path):
    for name in operations(path):
        url = name.split()[1]
        assert url.startswith("/v1/") or url.split("/")[1] == "workflow", name
