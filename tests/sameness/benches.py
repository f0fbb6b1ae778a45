"""Compare what two states of the code do on the simulated network: 60 runs and 40 searches.

`benches.py --out new.json [--compare old.json] [--repository CHECKOUT]` calls `bench execute` and
`bench search` of a checkout. The searches are answered by what a strong model answered to the
question of the same number (evaluation/recorded/strong_searches.jsonl), each also at another place
of the same fault, where some answers are refused. Prompts are compared by their text; seconds are
left out, and of a run the commands that are repeated while it waits.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sameness.answers import ROOT, compare

RECORDED = ROOT / "evaluation" / "recorded" / "strong_searches.jsonl"
SEARCHES = 40
PASSING = {"seconds", "commands", "tokens"}
TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.,]+Z?|\b\d\d:\d\d:\d\d(\.\d+)?|\b[\d.]+ ?(ms|s)\b")
ALIKE = ("sent",)
"""Fields whose lines depend on how often a search looked."""


def plays() -> Iterator[tuple[str, int, str, list[Any]]]:
    """Fault, place, arm and the answers in their order."""
    recorded: dict[tuple[str, int, str], list[Any]] = defaultdict(list)
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        recorded[row["fault"], row["variant"], row["arm"]].append(row["answer"])
    count = 0
    for shift in range(5):
        for (fault, variant, arm), answers in recorded.items():
            if count < SEARCHES:
                yield fault, (variant + shift) % 5, arm, answers
                count += 1


class Answers(threading.Thread):
    """Writes the next answer beside each prompt that appears in a folder."""

    def __init__(self, folder: Path, answers: list[Any]) -> None:
        super().__init__(daemon=True)
        self._folder = folder
        self._answers = answers
        self.over = threading.Event()

    def run(self) -> None:
        number = 1
        while not self.over.wait(0.05):
            prompt = self._folder / f"{number:03}.prompt.txt"
            if prompt.exists() and prompt.stat().st_size:
                left = self._answers[number - 1 :]
                answer = left[0] if left else {"choice": "give_up", "why": "nothing is left"}
                prompt.with_name(f"{number:03}.answer.json").write_text(json.dumps(answer))
                number += 1


def bench(repository: Path, *arguments: str) -> None:
    """Run a benchmark of a checkout to its end."""
    own = {name: value for name, value in os.environ.items() if "FLOWXPERT" not in name}
    subprocess.run(
        [sys.executable, "-m", "services.cli", "bench", *arguments],
        cwd=repository,
        env=own | {"PYTHONPATH": str(repository), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )


def searched(repository: Path, fault: str, variant: int, arm: str, answers: list[Any]) -> Any:
    """Run one search; its report and a hash of each prompt."""
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name, "answers"), Path(name, "out.json")
        folder.mkdir()
        writer = Answers(folder, answers)
        writer.start()
        try:
            options = ["--fault", fault, "--variant", str(variant), "--arm", arm]
            files = ["--answers", str(folder), "--out", str(out), "--wait-s", "30"]
            bench(repository, "search", *options, *files)
        finally:
            writer.over.set()
            writer.join()
        prompts = [
            hashlib.sha256(TIMES.sub("*", path.read_text()).encode()).hexdigest()[:16]
            for path in sorted(folder.glob("*.prompt.txt"))
        ]
        return {"report": _steady(json.loads(out.read_text())), "prompts": prompts}


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _steady(each) for name, each in value.items() if name not in PASSING}
        return kept | {name: sorted(set(kept[name])) for name in ALIKE if name in kept}
    if isinstance(value, list):
        return [_steady(each) for each in value]
    return TIMES.sub("*", value) if isinstance(value, str) else value


def collect(repository: Path) -> dict[str, Any]:
    """All runs and searches of a checkout by their names."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name, "runs.json")
        bench(repository, "execute", "--each", "5", "--out", str(out))
        runs = json.loads(out.read_text())["runs"]
    rows = {f"run {number} {run['fault']}": _steady(run) for number, run in enumerate(runs, 1)}
    for fault, variant, arm, answers in plays():
        rows[f"search {fault} {variant} {arm}"] = searched(repository, fault, variant, arm, answers)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", type=Path, default=ROOT, help="whose code acts")
    parser.add_argument("--out", type=Path, required=True, help="JSON file for what was done")
    parser.add_argument("--compare", type=Path, help="an earlier one that this should equal")
    arguments = parser.parse_args()
    rows = collect(arguments.repository.resolve())
    arguments.out.write_text(json.dumps(rows, sort_keys=True, indent=1), encoding="utf-8")
    if arguments.compare:
        before = json.loads(arguments.compare.read_text(encoding="utf-8"))
        raise SystemExit(bool(compare(before, rows)))


if __name__ == "__main__":
    main()
