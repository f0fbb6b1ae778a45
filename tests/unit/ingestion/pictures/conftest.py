import pytest

from tests.unit.ingestion.harness import IngestionHarness


@pytest.fixture
def harness(tmp_path):
    return IngestionHarness(tmp_path)
