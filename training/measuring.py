"""How good a Planner and a Scorer are together, query by query."""

from collections.abc import Sequence

import torch

from services.kit.value import Value
from training.model.sampling import sampled, texts
from training.model.sequences import Model, TokenizerLike
from training.world import Query, Scorer, World


class Measured(Value):
    """Means over a query's workflows, 0 to 1, in the order of the queries."""

    facts: tuple[float, ...]
    """How right one workflow is."""
    best: tuple[float, ...]
    """How right the one is that the Scorer ranks first."""
    reward: tuple[float, ...]
    """What the Scorer gives, in its own units."""

    @property
    def means(self) -> dict[str, float]:
        """Over the queries."""
        columns = {"facts": self.facts, "best": self.best, "reward": self.reward}
        return {name: sum(each) / max(1, len(each)) for name, each in columns.items()}


def measured(
    model: Model,
    tokenizer: TokenizerLike,
    world: World,
    queries: Sequence[Query],
    scorer: Scorer,
    *,
    samples: int,
    most_tokens: int,
    seed: int,
) -> Measured:
    """`samples` workflows for each query, as the platform draws them; the same seed, the same."""
    torch.manual_seed(seed)
    facts: list[list[float]] = [[] for _ in queries]
    scores: list[list[float]] = [[] for _ in queries]
    prompts = [world.prompt(query) for query in queries]
    for _ in range(samples):
        rows = sampled(model, tokenizer, prompts, most_tokens=most_tokens)
        workflows = texts(tokenizer, rows)
        drawn_scores = scorer.scores(queries, workflows)
        for place, (query, workflow, score) in enumerate(
            zip(queries, workflows, drawn_scores, strict=True)
        ):
            facts[place].append(world.measure(query, workflow))
            scores[place].append(score)
    ranked = zip(facts, scores, strict=True)
    return Measured(
        facts=tuple(sum(each) / samples for each in facts),
        best=tuple(measures[rewards.index(max(rewards))] for measures, rewards in ranked),
        reward=tuple(sum(each) / samples for each in scores),
    )
