"""Who gives rewards in the toy world."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from training.model.loading import load_tokenizer, load_with_adapter
from training.model.sequences import Encoded, encoded, log_probabilities
from training.toy.grammar import claims, decided, expected_f1, facts_f1, facts_of, marks
from training.toy.world import ToyWorld
from training.world import Query


class FactsByCode:
    """Expected F1 of facts, each decided by the page."""

    def __init__(self, world: ToyWorld) -> None:
        self._world = world

    def scores(self, queries: Sequence[Query], workflows: Sequence[str]) -> list[float]:
        """See `Scorer.scores`; 0 to 1."""
        both = zip(queries, workflows, strict=True)
        return [facts_f1(workflow, self._world.page(query)) for query, workflow in both]


class MeanOfMarks:
    """The paper's setting: the mean of five marks, 1 to 5."""

    def __init__(self, world: ToyWorld) -> None:
        self._world = world

    def scores(self, queries: Sequence[Query], workflows: Sequence[str]) -> list[float]:
        """See `Scorer.scores`; 1 to 5."""
        both = zip(queries, workflows, strict=True)
        all_marks = [marks(workflow, self._world.page(query)) for query, workflow in both]
        return [sum(each.values()) / len(each) for each in all_marks]


class FactsByModel:
    """Expected F1 of facts: steps are decided by the page, guards and what comes next by a model.

    As the product's scorer does it: the lines decide what they can, and a model what they leave
    open. Here its chance of a fact is that of the words that claim it, after the page and what the
    workflow says before. Who wrote the workflow counts for nothing.
    """

    def __init__(self, world: ToyWorld, base: Path, adapter: Path | None) -> None:
        self._world = world
        self._tokenizer = load_tokenizer(base)
        self._model = load_with_adapter(base, adapter)

    @torch.no_grad()
    def scores(self, queries: Sequence[Query], workflows: Sequence[str]) -> list[float]:
        """See `Scorer.scores`; 0 to 1."""
        rows = [
            encoded(self._tokenizer, self._world.prompt(query), workflow)
            for query, workflow in zip(queries, workflows, strict=True)
        ]
        batch = Encoded.of(rows, pad=self._tokenizer.pad_token_id).to(self._model.device)
        token_probs = log_probabilities(self._model, batch).exp().tolist()
        return [self._score(*each) for each in zip(queries, workflows, token_probs, strict=True)]

    def _score(self, query: Query, workflow: str, words: Sequence[float]) -> float:
        page = self._world.page(query)
        own_claims = claims(workflow) or []
        by_page = decided(workflow, page)
        chances = [
            right if claim.fact.kind == "step" else _product(words[n] for n in claim.words)
            for claim, right in zip(own_claims, by_page, strict=True)
        ]
        return expected_f1(chances, facts_of(page).total())


class Shuffled:
    """The rewards of another scorer, each given to some other workflow of the step: a control."""

    def __init__(self, scorer: FactsByCode | FactsByModel | MeanOfMarks, seed: int) -> None:
        self._scorer = scorer
        self._random = random.Random(seed)  # noqa: S311 - repeatable, no secret

    def scores(self, queries: Sequence[Query], workflows: Sequence[str]) -> list[float]:
        """See `Scorer.scores`."""
        scores = self._scorer.scores(queries, workflows)
        self._random.shuffle(scores)
        return scores


def _product(chances: Iterable[float]) -> float:
    product = 1.0
    for chance in chances:
        product *= chance
    return product
