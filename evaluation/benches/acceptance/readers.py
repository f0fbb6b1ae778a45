"""Folders for readers who see ticket and screen alone, and what readers said, counted.

A reader never sees two ways of showing one ticket, nor which way a file is.
"""

import hashlib
import json
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import PairsError
from evaluation.measures.acceptance import BENCHMARK, Verdict, verdict_figures
from evaluation.measures.figures import Figures, Report
from evaluation.measures.first_acts import FirstActs, act_figures, judged_acts
from services.kit.files import read_json_lines

KEY = "key.json"
"""Which row and way each file is; no reader may see it."""
_BRIEF = Path(__file__).with_name("first_acts_brief.txt")


class _TicketTexts(BaseModel):
    title: str
    description: str


class ShownRecord(BaseModel):
    """A row that `bench acceptance --rows` writes, as far as readers need it."""

    id: str
    arm: str
    ticket: _TicketTexts
    shown: str


def write_folders(records: Sequence[ShownRecord], out: Path, each: int, seed: int) -> int:
    """Write so many files a folder, with a brief for each folder; return how many folders.

    Files lie in `000`, `001` and so on, and verdicts are expected in `verdict_000.jsonl` beside
    them, as `counted` reads them.
    """
    dealt = list(records)
    random.Random(seed).shuffle(dealt)  # noqa: S311
    by_case: dict[str, list[ShownRecord]] = defaultdict(list)
    for record in dealt:
        by_case[record.id].append(record)
    most = max(map(len, by_case.values()), default=0)
    folders: list[list[ShownRecord]] = [[] for _ in range(max(most, math.ceil(len(dealt) / each)))]
    for case in sorted(by_case.values(), key=len, reverse=True):
        emptiest = sorted(folders, key=len)
        for record, folder in zip(case, emptiest, strict=False):
            folder.append(record)
    key = dict(_written(folders, out, seed))
    (out / KEY).write_text(json.dumps(key, indent=1), encoding="utf-8")
    return len(folders)


def _written(
    folders: Sequence[Sequence[ShownRecord]], out: Path, seed: int
) -> Iterator[tuple[str, dict[str, str]]]:
    brief = _BRIEF.read_text(encoding="utf-8")
    for number, records in enumerate(folders):
        folder = (out / f"{number:03}").resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for record in records:
            identity = f"{seed}{record.id}{record.arm}"
            name = hashlib.sha256(identity.encode()).hexdigest()[:10] + ".txt"
            text = f"{record.ticket.title}\n{record.ticket.description}"
            shown = f"=== TICKET ===\n{text}\n\n=== SCREEN ===\n{record.shown}"
            (folder / name).write_text(shown, encoding="utf-8")
            yield name, {"id": record.id, "arm": record.arm}
        verdicts = folder.with_name(f"verdict_{number:03}.jsonl")
        own = brief.format(folder=folder, n=len(records), out=verdicts)
        folder.with_name(f"brief_{number:03}.txt").write_text(own, encoding="utf-8")


class _File(BaseModel):
    id: str
    arm: str


class _Line(BaseModel):
    """A line of a reader: a verdict on what was shown, or first acts."""

    model_config = ConfigDict(extra="allow")

    file: str


@dataclass(frozen=True)
class Counted:
    """What readers said, by way of showing and id of the row; of two verdicts the last."""

    verdicts: Mapping[str, Mapping[str, Verdict]]
    acts: Mapping[str, Mapping[str, FirstActs]]
    rows: Mapping[str, LogicRow]

    def report(self, config: Mapping[str, object], seconds: float) -> Report:
        """Return the figures of each way of showing."""
        accepted = {arm: verdict_figures(list(of.values())) for arm, of in self.verdicts.items()}
        return Report.model_validate(
            {
                "benchmark": BENCHMARK,
                "overall": {},
                "sets": accepted,
                "first_acts": {arm: self._acts(of) for arm, of in self.acts.items()},
                "config": dict(config),
                "seconds": seconds,
                "mean_over": "nothing",
            }
        )

    def _acts(self, of: Mapping[str, FirstActs]) -> Figures:
        judged = [judged_acts(each, self.rows[id_]) for id_, each in of.items()]
        return act_figures(judged, [each.trust for each in of.values()])


def counted(folders: Sequence[Path], rows: Sequence[LogicRow]) -> Counted:
    """Return what the readers of these folders said.

    Raises:
        PairsError: A key or a verdict cannot be read, or a verdict is on a file of nobody, or of
            an unknown row.
    """
    by_id = {row.id: row for row in rows}
    verdicts: dict[str, dict[str, Verdict]] = defaultdict(dict)
    acts: dict[str, dict[str, FirstActs]] = defaultdict(dict)
    for folder in folders:
        key = _key(folder)
        for path in sorted(folder.glob("verdict_*.jsonl")):
            for place, line in read_json_lines(path, _Line):
                file = key.get(f"{Path(line.file).name.removesuffix('.txt')}.txt")
                if file is None or file.id not in by_id:
                    raise PairsError(f"{place}: no reader was given a file {line.file!r}")
                try:
                    if "acts" in (line.model_extra or {}):
                        acts[file.arm][file.id] = FirstActs.model_validate(line.model_dump())
                    else:
                        verdicts[file.arm][file.id] = Verdict.model_validate(line.model_dump())
                except ValidationError as error:
                    raise PairsError(f"{place}: {error}") from error
    return Counted(dict(sorted(verdicts.items())), dict(sorted(acts.items())), by_id)


def _key(folder: Path) -> dict[str, _File]:
    try:
        files = json.loads((folder / KEY).read_text(encoding="utf-8"))
        return {name: _File.model_validate(each) for name, each in files.items()}
    except (OSError, ValueError) as error:
        raise PairsError(f"expected the key of the files at {folder / KEY}: {error}") from error
