import pytest

from training.ablation import run_seed, summary, table
from training.coevolution import Coevolution
from training.model.loading import load_tokenizer, load_with_adapter
from training.preferences import make_pairs
from training.recipes import DpoRecipe
from training.toy.recipe import TOY
from training.toy.scorers import FactsByCode, FactsByModel
from training.toy.world import ToyWorld


@pytest.mark.slow
def test_three_rounds_of_three_pairs_are_made_and_those_the_scorer_sees_otherwise_dropped(taught):
    world = ToyWorld(train=16)
    model, tokenizer = load_with_adapter(taught, None), load_tokenizer(taught)

    def made(*, validates):
        return make_pairs(
            model,
            tokenizer,
            world,
            FactsByCode(world),
            DpoRecipe(),
            seed=0,
            at_once=16,
            most_tokens=24,
            validates=validates,
        )

    validated, all_ = made(validates=True), made(validates=False)
    assert validated.counts.made == all_.counts.made == 16 * 3 * 3
    assert all_.counts.disagreeing == 0
    assert validated.counts.disagreeing > 0
    assert validated.counts.kept == len(validated.pairs)
    assert all_.counts.kept - validated.counts.disagreeing == validated.counts.kept
    assert {pair.prompt for pair in validated.pairs} <= {world.prompt(q) for q in world.train}


class _KilledError(Exception):
    pass


def test_a_run_killed_between_and_in_its_phases_goes_on(untrained, tmp_path):
    world = ToyWorld(train=8, holdout=4, test=2)
    recipe = TOY.model_copy(
        update={
            "iterations": 1,
            "validates": False,
            "ppo": TOY.ppo.model_copy(update={"save_every": 1, "most_tokens": 8}),
            "dpo": TOY.dpo.model_copy(update={"batch": 16, "rounds": 1}),
        }
    )

    def run(folder, **options):
        made = Coevolution(
            world, lambda a: FactsByModel(world, untrained, a), untrained, recipe, folder
        )
        return made, made.run(**options)

    def kill(*_):
        raise _KilledError

    whole, outcome = run(tmp_path / "whole")
    with pytest.raises(_KilledError):
        run(tmp_path / "killed", on_ppo=kill)
    with pytest.raises(_KilledError):
        run(tmp_path / "killed", on_trl=kill)
    resumed, again = run(tmp_path / "killed")
    assert again == outcome
    for name in ("planner", "scorer"):
        ours, theirs = getattr(whole, name)(1), getattr(resumed, name)(1)
        file = "adapter_model.safetensors"
        assert (ours / file).read_bytes() == (theirs / file).read_bytes()


@pytest.mark.slow
def test_the_planner_learns_from_rewards(tmp_path):
    """One seed of the ablation; the page has five, and the control."""
    row = "without DPO"
    figures = summary([run_seed(0, tmp_path, [row])])
    learned = figures["rows"][row]["gained"]
    assert learned["reward"]["low"] > 0
    assert learned["facts"]["mean"] > 0
    assert row in table(figures)
