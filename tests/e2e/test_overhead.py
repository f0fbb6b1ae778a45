"""`flowxpert bench overhead` walks tickets through a whole embedded run."""

import json
import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
LATENCY_S = 0.3


def flowxpert(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "services.cli", *arguments],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_walk_takes_as_long_as_the_model_and_a_little_more(tmp_path: Path) -> None:
    data, pairs, out = tmp_path / "data", tmp_path / "pairs.jsonl", tmp_path / "out.json"
    pairs.write_text('{"id": "1", "query": "BGP session to the neighbour is down"}\n')
    flowxpert("ingest", str(EXAMPLES / "documents"), "--data-dir", str(data))
    options = ["--data-dir", str(data), "--pairs", str(pairs), "--out", str(out)]
    flowxpert("bench", "overhead", "--latency", str(LATENCY_S), "--tickets", "2", *options)
    figures = json.loads(out.read_text())["overall"]
    assert figures["scripted_tickets"] == 2
    assert figures["scripted_model_p50_s"] >= 2 * LATENCY_S  # the planner's call and the judge's
    assert figures["scripted_walk_p50_s"] > figures["scripted_model_p50_s"]
    assert figures["scripted_overhead_mean"] > 0
