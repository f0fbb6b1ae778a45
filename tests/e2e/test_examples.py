"""Every example alert leads to the document that treats it."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Running, started

EXAMPLES = Path(__file__).parents[2] / "examples"
EXPECTED = json.loads((EXAMPLES / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def running(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A platform of this file alone: on others somebody has worked on these tickets."""
    with started(ingested, tmp_path_factory.mktemp("examples")) as running:
        yield running


def test_every_alert_has_an_expectation_and_every_expected_document_exists():
    alerts = {
        p.relative_to(EXAMPLES / "alerts").as_posix() for p in EXAMPLES.glob("alerts/*/*.json")
    }
    assert alerts == EXPECTED.keys()
    documents = [EXAMPLES / "documents" / name for name in EXPECTED.values() if name]
    assert all(path.exists() for path in documents)


@pytest.mark.parametrize(("alert", "document"), EXPECTED.items())
def test_an_example_alert_is_answered_from_its_document(running, alert, document):
    body = json.loads((EXAMPLES / "alerts" / alert).read_text(encoding="utf-8"))
    source = alert.partition("/")[0]
    answer = running.post(body, f"/workflow/{source}", params={"wait": 60}).json()
    if document is None:
        assert answer["status"] == "refused"
        return
    assert answer["status"] == "planned"
    steps = answer["workflow"]["workflow"]["steps"]
    cited = Counter(c["document_id"] for step in steps for c in step["citations"])
    assert cited.most_common(1)[0][0] == document
