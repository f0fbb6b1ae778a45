import errno
import os

import pytest
import torch
from torch import tensor

from training.errors import DiskFullError, OutOfMemoryError
from training.model.loading import OLD, load_for_training, load_tokenizer, save_adapter
from training.ppo import Ppo, advantages_of, clipped_objective, token_rewards
from training.recipes import LoraRecipe, PpoRecipe
from training.toy.world import ToyWorld

MASK = tensor([[1, 1, 1], [1, 1, 0]])


def test_the_score_stands_at_the_last_token_and_leaving_the_old_policy_costs_elsewhere():
    log_probs, old = tensor([[-1.0, -2.0, -3.0], [-1.0, -1.0, 9.0]]), torch.zeros(2, 3) - 1
    rewards = token_rewards(tensor([0.5, 0.25]), log_probs, old, MASK, kl=0.1)
    assert torch.allclose(rewards, tensor([[0.0, 0.1, 0.5], [0.0, 0.25, 0.0]]))


def test_advantages_are_those_of_a_sum_written_out():
    rewards, values = tensor([[0.0, 0.0, 1.0]]), tensor([[0.5, 0.25, 0.125]])
    advantages, returns = advantages_of(
        rewards, values, torch.ones(1, 3), discount=0.9, smoothing=0.8
    )
    d0, d1, d2 = 0.9 * 0.25 - 0.5, 0.9 * 0.125 - 0.25, 1 - 0.125
    assert advantages[0].tolist() == pytest.approx(
        [d0 + 0.72 * (d1 + 0.72 * d2), d1 + 0.72 * d2, d2]
    )
    assert torch.allclose(returns, advantages + values)


def test_what_stands_behind_an_answer_changes_nothing():
    rewards, values = torch.rand(1, 4), torch.rand(1, 4)
    mask = tensor([[1, 1, 0, 0]])
    advantages, _ = advantages_of(rewards, values, mask, discount=1.0, smoothing=0.95)
    short, _ = advantages_of(
        rewards[:, :2], values[:, :2], mask[:, :2], discount=1.0, smoothing=0.95
    )
    assert torch.allclose(advantages[:, :2], short)
    assert advantages[:, 2:].abs().sum() == 0


def test_a_ratio_that_has_gone_far_enough_pulls_no_more():
    ratio = tensor([1.5, 0.5], requires_grad=True)
    clipped_objective(ratio, tensor([1.0, -1.0]), clip=0.2).sum().backward()
    assert ratio.grad.tolist() == [0, 0]
    back = tensor([1.5, 0.5], requires_grad=True)
    clipped_objective(back, tensor([-1.0, 1.0]), clip=0.2).sum().backward()
    assert back.grad.tolist() == [1, -1]


class _KilledError(Exception):
    pass


class _Varied:
    """Rewards different words, which a base that was hardly trained has by chance."""

    def scores(self, queries, workflows):
        return [len(set(workflow.split())) / 8 for workflow in workflows]


class _Befallen(_Varied):
    """Something befalls the fourth step, after two were saved and a third was done."""

    def __init__(self, befalls):
        self._befalls, self._steps = befalls, 0

    def scores(self, queries, workflows):
        self._steps += 1
        if self._steps == 4:
            self._befalls()
        return super().scores(queries, workflows)


def _trained(base, folder, *, adapter=None, killed_after=None, scorer=None):
    world = ToyWorld(train=12, holdout=2, test=2)
    model = load_for_training(base, LoraRecipe(), adapter, seed=1, old=adapter is not None)
    recipe = PpoRecipe(batch=2, learning_rate=1e-3, most_tokens=8, save_every=2)

    def on_step(step):
        if step.number == killed_after:
            raise _KilledError

    run = Ppo(
        model, load_tokenizer(base), world, scorer or _Varied(), recipe, seed=7, folder=folder
    )
    steps = run.run(on_step)
    return model, steps


def _weights(model):
    from peft import get_peft_model_state_dict

    return get_peft_model_state_dict(model, adapter_name="default")


def _same(one, other):
    ours, theirs = _weights(one), _weights(other)
    return ours.keys() == theirs.keys() and all(torch.equal(ours[n], theirs[n]) for n in ours)


def test_a_run_killed_in_mid_epoch_ends_as_one_that_was_not(untrained, tmp_path):
    whole, steps = _trained(untrained, tmp_path / "whole")
    with pytest.raises(_KilledError):
        _trained(untrained, tmp_path / "killed", killed_after=3)
    torch.rand(5)
    resumed, steps_again = _trained(untrained, tmp_path / "killed")
    assert steps_again == steps
    assert len(steps) == 6
    assert _same(whole, resumed)
    assert any(each.abs().sum() > 0 for name, each in _weights(whole).items() if "lora_B" in name)


def test_so_does_one_of_a_later_iteration_with_its_old_policy(untrained, tmp_path):
    first, _ = _trained(untrained, tmp_path / "first")
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    save_adapter(first, adapter, untrained)
    whole, _ = _trained(untrained, tmp_path / "whole", adapter=adapter)
    with pytest.raises(_KilledError):
        _trained(untrained, tmp_path / "killed", adapter=adapter, killed_after=3)
    resumed, _ = _trained(untrained, tmp_path / "killed", adapter=adapter)
    assert _same(whole, resumed)
    assert not _same(whole, first)


def _out_of_memory(_):
    torch.empty(1 << 50)


def _full_disk(monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)


@pytest.mark.parametrize(
    ("befalls", "error"), [(_out_of_memory, OutOfMemoryError), (_full_disk, DiskFullError)]
)
def test_and_one_that_memory_or_disk_gave_out_under(
    untrained, tmp_path, monkeypatch, befalls, error
):
    whole, _ = _trained(untrained, tmp_path / "whole")
    with pytest.raises(error, match="goes on from the last checkpoint"):
        _trained(untrained, tmp_path / "cut", scorer=_Befallen(lambda: befalls(monkeypatch)))
    monkeypatch.undo()
    assert [each.name for each in (tmp_path / "cut").iterdir()] == ["step-00000002"]
    resumed, _ = _trained(untrained, tmp_path / "cut")
    assert _same(whole, resumed)


def test_the_old_policy_of_a_later_iteration_is_a_copy_that_stands_still(untrained, tmp_path):
    first, _ = _trained(untrained, tmp_path / "first")
    (tmp_path / "adapter").mkdir()
    save_adapter(first, tmp_path / "adapter", untrained)
    before = {name: each.clone() for name, each in _weights(first).items()}
    second, _ = _trained(untrained, tmp_path / "second", adapter=tmp_path / "adapter")
    from peft import get_peft_model_state_dict

    old = get_peft_model_state_dict(second, adapter_name=OLD)
    assert all(torch.equal(old[name], before[name]) for name in before)
    assert any(not torch.equal(_weights(second)[name], before[name]) for name in before)
