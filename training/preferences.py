"""Pairs for the Scorer: what the Planner writes with better and with worse context."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from services.kit.value import Value
from training.checkpoints import put_file
from training.model.sampling import sampled, texts
from training.model.sequences import Model, TokenizerLike
from training.recipes import DpoRecipe
from training.world import Level, Query, Scorer, World

PAIRED = (
    (Level.GOOD, Level.FAIR),
    (Level.GOOD, Level.POOR),
    (Level.FAIR, Level.POOR),
)
"""The better one first."""


class Pair(NamedTuple):
    """Two workflows for one prompt, that with the query and its normal context."""

    prompt: str
    chosen: str
    rejected: str


class Validated(NamedTuple):
    """The pairs that are kept, and how many were made and not kept."""

    pairs: list[Pair]
    counts: "PairCounts"


class PairCounts(Value):
    """Of the pairs of one epoch."""

    made: int
    equal: int
    """Not kept since both say the same."""
    disagreeing: int
    """Not kept since the Scorer itself finds the worse one as good or better."""
    kept: int


def written_at_levels(
    model: Model,
    tokenizer: TokenizerLike,
    world: World,
    queries: Sequence[Query],
    *,
    most_tokens: int,
) -> Mapping[Level, list[str]]:
    """One workflow for each query and level."""
    by_level = {}
    for level in Level:
        prompts = [world.prompt(query, level) for query in queries]
        rows = sampled(model, tokenizer, prompts, most_tokens=most_tokens)
        by_level[level] = texts(tokenizer, rows)
    return by_level


def make_pairs(
    model: Model,
    tokenizer: TokenizerLike,
    world: World,
    scorer: Scorer,
    recipe: DpoRecipe,
    *,
    seed: int,
    at_once: int,
    most_tokens: int,
    validates: bool = True,
) -> Validated:
    """All pairs of an epoch, `at_once` queries in a batch of answers.

    With `validates` a pair is dropped where the Scorer's own scores do not agree that the better
    context made the better workflow.
    """
    torch.manual_seed(seed)
    pairs: list[Pair] = []
    made = equal = disagreeing = 0
    for _ in range(recipe.rounds):
        for queries in _batches(world.train, at_once):
            workflows = written_at_levels(model, tokenizer, world, queries, most_tokens=most_tokens)
            scores = {
                level: scorer.scores(queries, answers) for level, answers in workflows.items()
            }
            for better, worse in PAIRED:
                for place, query in enumerate(queries):
                    made += 1
                    chosen, rejected = workflows[better][place], workflows[worse][place]
                    if chosen == rejected:
                        equal += 1
                    elif validates and scores[better][place] <= scores[worse][place]:
                        disagreeing += 1
                    else:
                        pairs.append(Pair(world.prompt(query), chosen, rejected))
    counts = PairCounts(made=made, equal=equal, disagreeing=disagreeing, kept=len(pairs))
    return Validated(pairs, counts)


def put_pairs(path: Path, validated: Validated) -> None:
    """Keep them in a file, counts first.

    Raises:
        DiskFullError: There is no room.
    """
    lines = [validated.counts.model_dump_json(), *map(json.dumps, validated.pairs)]
    put_file(path, "\n".join(lines).encode())


def read_pairs(path: Path) -> Validated:
    """What `put_pairs` kept."""
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    pairs = [Pair(*json.loads(line)) for line in lines]
    return Validated(pairs, PairCounts.model_validate_json(first))


def _batches(queries: Sequence[Query], size: int) -> Iterator[Sequence[Query]]:
    for start in range(0, len(queries), size):
        yield queries[start : start + size]
