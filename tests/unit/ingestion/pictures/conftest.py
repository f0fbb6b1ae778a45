import pytest

from tests.unit.ingestion.stand import Stand


@pytest.fixture
def stand(tmp_path):
    return Stand(tmp_path)
