"""Planner and Scorer trained in turns, from queries alone; resumable anywhere.

A run is a folder. Each phase of an iteration leaves its result there at once and whole, so a run
that was killed goes on at the phase that has none, and in it at the last checkpoint.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Self

from services.kit.value import Value
from training.checkpoints import begin, put_file, put_folder
from training.measuring import Measured, measured
from training.model.loading import (
    base_hash,
    load_for_training,
    load_tokenizer,
    load_with_adapter,
    save_adapter,
)
from training.model.sequences import Model
from training.ppo import OnStep, Ppo
from training.preferences import PairCounts, make_pairs, put_pairs, read_pairs
from training.recipes import Recipe
from training.trl_runs import OnTrlStep, train_dpo, train_rloo
from training.world import Scorer, World

MakeScorer = Callable[[Path | None], Scorer]
"""The Scorer with an adapter, or without one."""

_AT_ONCE = 64
"""Answers drawn in a batch where nothing is learned."""


class Iteration(Value):
    """What one turn of both brought."""

    number: int
    """0 before anything was trained."""
    held_out: Measured
    pairs: PairCounts | None = None

    @property
    def score(self) -> float:
        """What tells when to stop: facts, of any workflow and of the one that is shown."""
        means = self.held_out.means
        return (means["facts"] + means["best"]) / 2


class Outcome(Value):
    """A finished run."""

    iterations: tuple[Iteration, ...]
    best: int
    """The number of the iteration to serve; 0 where training brought nothing."""
    stopped: bool
    """Whether it ended before the recipe's last iteration."""


class _Begun(Value):
    """What a folder was begun with: a run goes on with the same or not at all."""

    recipe: Recipe
    base: str
    queries: str

    @classmethod
    def of(cls, recipe: Recipe, base: Path, world: World) -> Self:
        queries_json = json.dumps([world.train, world.holdout])
        return cls(
            recipe=recipe,
            base=base_hash(base),
            queries=hashlib.sha256(queries_json.encode()).hexdigest(),
        )


class Coevolution:
    """A run in its folder."""

    def __init__(
        self, world: World, make_scorer: MakeScorer, base: Path, recipe: Recipe, folder: Path
    ) -> None:
        """Begin the run in `folder`, or go on with it.

        Raises:
            OtherRunError: It was begun with another recipe, base or queries.
            UnusableModelError: `base` holds no model.
        """
        self._world, self._make_scorer = world, make_scorer
        self._base, self._recipe, self._folder = base, recipe, folder
        self._tokenizer = load_tokenizer(base)
        folder.mkdir(parents=True, exist_ok=True)
        begin(folder / "run.json", _Begun.of(recipe, base, world))

    def planner(self, number: int) -> Path | None:
        """The Planner's adapter after an iteration; None where it is the base alone."""
        return self._adapter(number, "planner")

    def scorer(self, number: int) -> Path | None:
        """The Scorer's adapter after an iteration; None where it is the base alone."""
        return self._adapter(number, "scorer")

    def run(self, on_ppo: OnStep | None = None, on_trl: OnTrlStep | None = None) -> Outcome:
        """Train to the last iteration, or until the held-out facts get no better.

        Raises:
            DiskFullError: A checkpoint does not fit; the last one stands.
            OutOfMemoryError: A step does not fit into memory.
        """
        done = [self._measured(0, None)]
        for number in range(1, self._recipe.iterations + 1):
            if number - _best(done) > self._recipe.patience:
                break
            if self._recipe.trains_planner:
                self._train_planner(number, on_ppo)
            counts = self._train_scorer(number, on_trl) if self._recipe.trains_scorer else None
            done.append(self._measured(number, counts))
        return Outcome(
            iterations=tuple(done),
            best=_best(done),
            stopped=len(done) <= self._recipe.iterations,
        )

    def _train_planner(self, number: int, on_step: OnStep | None) -> None:
        target = self._at(number) / "planner"
        if target.exists():
            return
        recipe, before = self._recipe, self.planner(number - 1)
        work = self._at(number) / "planner-steps"
        seed = _seed(recipe.seed, number, "planner")
        scorer = self._make_scorer(self.scorer(number - 1))
        model = load_for_training(
            self._base, recipe.lora, before, seed=seed, old=before is not None and not recipe.rloo
        )
        if recipe.rloo:
            train_rloo(
                model, self._tokenizer, self._world, scorer, recipe.rloo, seed=seed, folder=work
            )
        else:
            Ppo(
                model, self._tokenizer, self._world, scorer, recipe.ppo, seed=seed, folder=work
            ).run(on_step)
        self._put(model, target, work)

    def _train_scorer(self, number: int, on_step: OnTrlStep | None) -> PairCounts:
        pairs_at = self._at(number) / "pairs.jsonl"
        recipe, before = self._recipe, self.scorer(number - 1)
        seed = _seed(recipe.seed, number, "scorer")
        if not pairs_at.exists():
            validated = make_pairs(
                load_with_adapter(self._base, self.planner(number)),
                self._tokenizer,
                self._world,
                self._make_scorer(before),
                recipe.dpo,
                seed=seed,
                at_once=_AT_ONCE,
                most_tokens=recipe.ppo.most_tokens,
                validates=recipe.validates,
            )
            pairs_at.parent.mkdir(parents=True, exist_ok=True)
            put_pairs(pairs_at, validated)
        pairs, counts = read_pairs(pairs_at)
        target, work = self._at(number) / "scorer", self._at(number) / "scorer-steps"
        if not target.exists() and pairs:
            model = load_for_training(self._base, recipe.lora, before, seed=seed)
            train_dpo(
                model, self._tokenizer, pairs, recipe.dpo, seed=seed, folder=work, on_step=on_step
            )
            self._put(model, target, work)
        return counts

    def _measured(self, number: int, pairs: PairCounts | None) -> Iteration:
        kept = self._at(number) / "iteration.json"
        if kept.exists():
            return Iteration.model_validate_json(kept.read_bytes())
        iteration = Iteration(
            number=number,
            held_out=measured(
                load_with_adapter(self._base, self.planner(number)),
                self._tokenizer,
                self._world,
                self._world.holdout,
                self._make_scorer(self.scorer(number)),
                samples=self._recipe.samples,
                most_tokens=self._recipe.ppo.most_tokens,
                seed=self._recipe.seed,
            ),
            pairs=pairs,
        )
        kept.parent.mkdir(exist_ok=True)
        put_file(kept, iteration.model_dump_json(indent=1).encode())
        return iteration

    def _put(self, model: Model, target: Path, work: Path) -> None:
        put_folder(target, lambda at: save_adapter(model, at, self._base))
        shutil.rmtree(work, ignore_errors=True)

    def _adapter(self, number: int, name: str) -> Path | None:
        """Of the iteration or, where it trained none, the last that did."""
        for each in range(number, 0, -1):
            if (folder := self._at(each) / name).exists():
                return folder
        return None

    def _at(self, number: int) -> Path:
        return self._folder / f"iteration-{number}"


def _best(done: list[Iteration]) -> int:
    """The number of the best one; of equal ones the first."""
    return max(done, key=lambda each: (each.score, -each.number)).number


def _seed(seed: int, number: int, phase: str) -> int:
    digest = hashlib.sha256(f"{seed} {number} {phase}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
