"""What each part of coevolution is worth in the toy world: `python -m training.ablation`.

Each row is trained from the same base of its seed. Figures are of test queries that neither
training nor stopping looks at; intervals draw queries within seeds, so they are of these seeds.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluation.measures.bootstrap import Interval, intervals
from training.coevolution import Coevolution, MakeScorer, Outcome
from training.measuring import Measured, measured
from training.model.loading import load_tokenizer, load_with_adapter
from training.recipes import Recipe, RlooRecipe
from training.toy.model import make_base
from training.toy.recipe import MOST_TOKENS, TOY
from training.toy.scorers import FactsByModel, Shuffled
from training.toy.world import ToyWorld

FULL, CONTROL = "full", "shuffled rewards, no DPO"
ROWS: Mapping[str, Recipe] = {
    FULL: TOY,
    "without DPO": TOY.model_copy(update={"trains_scorer": False}),
    "without PPO": TOY.model_copy(update={"trains_planner": False}),
    "without consistency validation": TOY.model_copy(update={"validates": False}),
    "RLOO for PPO": TOY.model_copy(
        update={"rloo": RlooRecipe(batch=4, answers=4, learning_rate=3e-4, kl=0.02, most_tokens=24)}
    ),
    CONTROL: TOY.model_copy(update={"trains_scorer": False}),
}
FIGURES = ("facts", "best", "reward")


def run_seed(seed: int, folder: Path, rows: Sequence[str]) -> dict[str, Any]:
    """All rows from one base; what each query of the test got before and after."""
    world = ToyWorld(train=64, seed=seed)
    base = folder / "base"
    if not (base / "tokenizer.json").exists():
        make_base(base, world.demonstrations(6000, seed=seed), seed=seed, steps=400, batch=48)
    start = _tested(world, base, None, None, seed)
    record: dict[str, Any] = {"seed": seed, "start": start.model_dump(), "rows": {}}
    for name in rows:
        begun = time.monotonic()
        recipe = ROWS[name].model_copy(update={"seed": seed})
        run = Coevolution(
            world, _scorers(world, base, name, seed), base, recipe, folder / name.replace(" ", "-")
        )
        outcome = run.run()
        end = _tested(world, base, run.planner(outcome.best), run.scorer(outcome.best), seed)
        record["rows"][name] = {
            "end": end.model_dump(),
            "best": outcome.best,
            "held_out": [each.held_out.means for each in outcome.iterations],
            "pairs": _pairs(outcome),
            "seconds": round(time.monotonic() - begun, 1),
        }
        sys.stderr.write(f"seed {seed}, {name}: {start.means} -> {end.means}\n")
    return record


def summary(seeds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means over seeds with intervals: at the start, and what each row gained on it."""
    names = list(seeds[0]["rows"])
    start = np.stack(
        [[each["start"][figure] for figure in FIGURES] for each in seeds]
    )  # seeds × figures × queries
    rows = {}
    for name in names:
        end = np.stack([[each["rows"][name]["end"][f] for f in FIGURES] for each in seeds])
        made = [pairs for each in seeds for pairs in each["rows"][name]["pairs"]]
        rows[name] = {
            "end": _interval_figures(end),
            "gained": _interval_figures(end - start),
            "made": sum(each["made"] for each in made),
            "disagreeing": sum(each["disagreeing"] for each in made),
            "equal": sum(each["equal"] for each in made),
            "iterations": [each["rows"][name]["best"] for each in seeds],
            "last_on_held_out": [_last(each["rows"][name]["held_out"]) for each in seeds],
        }
        if name != FULL and FULL in names:
            full = np.stack([[each["rows"][FULL]["end"][f] for f in FIGURES] for each in seeds])
            rows[name]["full_above"] = _interval_figures(full - end)
    return {
        "seeds": [each["seed"] for each in seeds],
        "start": _interval_figures(start),
        "rows": rows,
    }


def table(figures: Mapping[str, Any]) -> str:
    """The summary in Markdown, hundredths."""
    lines = [
        "| | facts of one workflow | of the one ranked first | reward | pairs dropped |",
        "|---|---|---|---|---|",
        _line("start", figures["start"], ""),
    ]
    for name, row in figures["rows"].items():
        dropped = f"{row['disagreeing']} of {row['made']}" if row["made"] else "—"
        lines.append(_line(name, row["end"], dropped))
    lines += ["", "| gained on the start | facts | ranked first | reward |", "|---|---|---|---|"]
    lines += [_line(name, row["gained"]) for name, row in figures["rows"].items()]
    return "\n".join(lines)


def main() -> None:
    """Run and write JSON; the table goes to stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--folder", type=Path, help="Where runs are kept, and gone on with.")
    parser.add_argument("--out", type=Path, help="A file for the figures.")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as passing:
        folder = arguments.folder or Path(passing)
        seeds = [
            run_seed(seed, folder / f"seed-{seed}", arguments.rows) for seed in arguments.seeds
        ]
    figures = summary(seeds)
    if arguments.out:
        arguments.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{table(figures)}\n")


def _scorers(world: ToyWorld, base: Path, name: str, seed: int) -> MakeScorer:
    if name == CONTROL:
        return lambda adapter: Shuffled(FactsByModel(world, base, adapter), seed)
    return lambda adapter: FactsByModel(world, base, adapter)


def _tested(
    world: ToyWorld, base: Path, planner: Path | None, scorer: Path | None, seed: int
) -> Measured:
    """Chosen by the trained Scorer; the reward is that of the one at the start, in every row."""
    model, tokenizer = load_with_adapter(base, planner), load_tokenizer(base)
    drawn = {"samples": 3, "most_tokens": MOST_TOKENS, "seed": seed}
    chosen, by_start = (
        measured(model, tokenizer, world, world.test, FactsByModel(world, base, adapter), **drawn)
        for adapter in (scorer, None)
    )
    return chosen.model_copy(update={"reward": by_start.reward})


def _pairs(outcome: Outcome) -> list[dict[str, int]]:
    return [each.pairs.model_dump() for each in outcome.iterations if each.pairs]


def _last(holdout: Sequence[Mapping[str, float]]) -> float:
    """Return what the facts of one workflow gained to the last iteration, served or not."""
    return round(holdout[-1]["facts"] - holdout[0]["facts"], 4)


def _interval_figures(figures: "np.typing.NDArray[np.float64]") -> dict[str, dict[str, float]]:
    bounds = intervals([each.T for each in figures], seed=0)
    return {name: _rounded(each) for name, each in zip(FIGURES, bounds, strict=True)}


def _rounded(interval: Interval) -> dict[str, float]:
    return {
        "mean": round(interval.mean, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
    }


def _line(name: str, figures: Mapping[str, Mapping[str, float]], *rest: str) -> str:
    shown = [
        f"{100 * f['mean']:.1f} ({100 * f['low']:.1f} to {100 * f['high']:.1f})"
        for f in (figures[each] for each in FIGURES)
    ]
    return f"| {' | '.join([name, *shown, *rest])} |"


if __name__ == "__main__":
    main()
