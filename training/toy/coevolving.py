"""Coevolution in the toy world as a command: a run, and the card of what came of it."""

import hashlib
import json
from pathlib import Path

from training.cards import Card, make_card, write_card
from training.coevolution import Coevolution
from training.recipes import Recipe
from training.toy.recipe import TOY
from training.toy.scorers import FactsByModel
from training.toy.world import ToyWorld


def coevolve_toy(base: Path, out: Path, *, iterations: int, queries: int, seed: int) -> Card:
    """Train, or go on; the card is written into `out`.

    Raises:
        FlowXpertError: See `Coevolution`.
    """
    world = ToyWorld(train=queries, seed=seed)
    recipe: Recipe = TOY.model_copy(update={"iterations": iterations, "seed": seed})
    run = Coevolution(world, lambda adapter: FactsByModel(world, base, adapter), base, recipe, out)
    outcome = run.run()
    prompts_json = json.dumps([[world.prompt(query) for query in world.train]])
    counts = {"queries": queries, "held-out queries": len(world.holdout)}
    for each in outcome.iterations:
        if each.pairs:
            counts |= {f"iteration {each.number}, pairs {n}": v for n, v in each.pairs}
    figures: dict[str, float | None] = {"iteration to serve": float(outcome.best)}
    for each in outcome.iterations:
        for name, value in each.held_out.means.items():
            figures[f"iteration {each.number}, held-out {name}"] = value
    card = make_card(
        "coevolution",
        base,
        data={"queries": hashlib.sha256(prompts_json.encode()).hexdigest()},
        counts=counts,
        figures=figures,
        recipe=recipe.model_dump(),
        licence="as FlowXpert",
    )
    write_card(out, card)
    return card
