"""`bench capacity` measures the real platform: small here, so that it takes seconds."""

import re
from pathlib import Path

import pytest

from evaluation.benches.load.capacity import measure_costs

STATUS = Path("/proc/self/status")
PAGE = """# Pump {name} stops

## Symptoms
The alert PumpStopped names pump {name}.

## Steps
1. Check the fuse of pump {name}.
2. If the fuse is blown, replace it.
3. Otherwise restart pump {name} with `pumpctl restart {name}`.
"""


@pytest.fixture(scope="module")
def costs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name in ("north", "south"):
        (folder / f"{name}.md").write_text(PAGE.format(name=name))
    return measure_costs(folder, tickets=3)


def test_every_cost_is_measured(costs):
    figures = costs.model_dump()
    del figures["document_bytes"]  # two pages fit into what the empty tables hold
    assert [name for name, value in figures.items() if value <= 0] == []


def test_a_walk_costs_more_than_taking_an_alert_in(costs):
    assert costs.walk + costs.retrieval + costs.planner + costs.scorer > costs.intake


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux tells it in another way too")
def test_the_memory_of_the_process_is_measured(costs):
    (most_kib,) = re.findall(r"^VmHWM:\s+(\d+) kB$", STATUS.read_text(), re.MULTILINE)
    assert costs.process_mb == pytest.approx(int(most_kib) / 1000, rel=0.1)
