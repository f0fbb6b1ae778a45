"""Proximal policy optimisation of a Planner with an adapter.

TRL has none any more. The reward of an answer stands at its last token; every other token pays for
leaving the old policy. The value head reads the policy's own hidden states.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from peft import get_peft_model_state_dict, set_peft_model_state_dict
from torch import Tensor, nn

from training.checkpoints import Checkpoints, random_states, restore_random_states
from training.errors import memory_watched
from training.model.loading import OLD
from training.model.sampling import sampled, texts
from training.model.sequences import (
    Encoded,
    Model,
    Row,
    TokenizerLike,
    hidden_states,
    token_log_probs,
)
from training.recipes import PpoRecipe
from training.world import Query, Scorer, World

OnStep = Callable[["PpoStep"], None]


@dataclass(frozen=True)
class PpoStep:
    """What one step was like."""

    number: int
    """From 1."""
    steps: int
    reward: float
    """Mean of the step's answers."""
    kl: float
    """Mean of log-probability ratios with the old policy, over tokens."""
    clipped: float
    """Share of tokens whose ratio was cut off."""


@dataclass(frozen=True)
class _Rollout:
    """The answers of a step, with the tensors that are computed before it learns from them."""

    batch: Encoded
    log_probs: Tensor
    values: Tensor
    advantages: Tensor
    returns: Tensor
    reward: float
    kl: float


def token_rewards(
    scores: Tensor, log_probs: Tensor, old: Tensor, mask: Tensor, kl: float
) -> Tensor:
    """The score at the last token of each answer, elsewhere the price of leaving the old policy."""
    is_last = mask.cumsum(1) == mask.sum(1, keepdim=True)
    return torch.where(is_last, scores.unsqueeze(1), -kl * (log_probs - old)) * mask


def advantages_of(
    rewards: Tensor, values: Tensor, mask: Tensor, *, discount: float, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Generalised advantages, and the returns that values are to foretell.

    Columns behind an answer's last token count as nothing.
    """
    values = values * mask
    advantages = torch.zeros_like(rewards)
    running = torch.zeros_like(rewards[:, 0])
    following = torch.zeros_like(rewards[:, 0])
    for place in range(rewards.shape[1] - 1, -1, -1):
        surprise = rewards[:, place] + discount * following - values[:, place]
        running = (surprise + discount * smoothing * running) * mask[:, place]
        advantages[:, place] = running
        following = values[:, place]
    return advantages, advantages + values


def clipped_objective(ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """What is made small, of each token."""
    return torch.max(-advantages * ratio, -advantages * ratio.clamp(1 - clip, 1 + clip))


class Ppo:
    """One epoch over a world's queries; goes on where a checkpoint was left."""

    def __init__(
        self,
        model: Model,
        tokenizer: TokenizerLike,
        world: World,
        scorer: Scorer,
        recipe: PpoRecipe,
        *,
        seed: int,
        folder: Path,
    ) -> None:
        """`model` is what `load_for_training` gives; its reference is the model as it is now."""
        self._model, self._tokenizer = model, tokenizer
        self._world, self._scorer, self._recipe = world, scorer, recipe
        self._checkpoints = Checkpoints(folder)
        torch.manual_seed(seed)
        order = torch.randperm(len(world.train)).tolist()
        self._batches = [order[n : n + recipe.batch] for n in range(0, len(order), recipe.batch)]
        self._values = nn.Linear(model.config.hidden_size, 1).to(model.device)
        nn.init.zeros_(self._values.weight)
        nn.init.zeros_(self._values.bias)
        self._trained = [p for p in model.parameters() if p.requires_grad]
        self._optimiser = torch.optim.AdamW(
            [
                {"params": self._trained, "lr": recipe.learning_rate},
                {"params": self._values.parameters(), "lr": recipe.value_learning_rate},
            ],
            weight_decay=0.0,
        )
        self.steps: list[PpoStep] = []

    def run(self, on_step: OnStep | None = None) -> list[PpoStep]:
        """Train to the end of the epoch; the model is left trained.

        Raises:
            DiskFullError: A checkpoint does not fit.
            OutOfMemoryError: A step does not fit.
        """
        state = self._checkpoints.last()
        if state is not None:
            self._restore(state)
        for number in range(len(self.steps), len(self._batches)):
            with memory_watched(self._recipe.batch * self._recipe.answers):
                self.steps.append(self._step(number))
            done = number + 1
            if done % self._recipe.save_every == 0 or done == len(self._batches):
                self._checkpoints.save(done, self._state())
            if on_step:
                on_step(self.steps[-1])
        return self.steps

    def _step(self, number: int) -> PpoStep:
        batch_queries = [self._world.train[place] for place in self._batches[number]]
        queries = [query for query in batch_queries for _ in range(self._recipe.answers)]
        rollout = self._rollout(queries)
        clipped = [self._learn(rollout) for _ in range(self._recipe.passes)]
        return PpoStep(
            number + 1,
            len(self._batches),
            rollout.reward,
            rollout.kl,
            sum(clipped) / len(clipped),
        )

    @torch.no_grad()
    def _rollout(self, queries: Sequence[Query]) -> _Rollout:
        recipe = self._recipe
        rows = self._answers(queries)
        scores = self._scorer.scores(queries, texts(self._tokenizer, rows))
        batch = Encoded.of(rows, pad=self._tokenizer.pad_token_id).to(self._model.device)
        mask = batch.answered
        states = hidden_states(self._model, batch)
        log_probs, values = token_log_probs(self._model, states, batch), self._value(states)
        old = self._old(batch)
        reward = torch.tensor(scores, dtype=torch.float32, device=mask.device)
        rewards = token_rewards(reward, log_probs, old, mask, recipe.kl)
        advantages, returns = advantages_of(
            rewards, values, mask, discount=recipe.discount, smoothing=recipe.smoothing
        )
        return _Rollout(
            batch,
            log_probs,
            values,
            _whitened(advantages, mask),
            returns,
            float(reward.mean()),
            float(_mean(log_probs - old, mask)),
        )

    def _answers(self, queries: Sequence[Query]) -> list[Row]:
        prompts = [self._world.prompt(query) for query in queries]
        return sampled(
            self._model,
            self._tokenizer,
            prompts,
            temperature=self._recipe.temperature,
            most_tokens=self._recipe.most_tokens,
        )

    def _value(self, states: Tensor) -> Tensor:
        values: Tensor = self._values(states.float()).squeeze(-1)
        return values

    def _old(self, batch: Encoded) -> Tensor:
        """By the frozen copy of the adapter where there is one, else by the base alone."""
        model = self._model
        if OLD not in model.peft_config:
            with model.disable_adapter():
                return token_log_probs(model, hidden_states(model, batch), batch)
        model.set_adapter(OLD, inference_mode=True)
        try:
            return token_log_probs(model, hidden_states(model, batch), batch)
        finally:
            model.set_adapter("default")

    def _learn(self, rollout: _Rollout) -> float:
        recipe, batch = self._recipe, rollout.batch
        mask = batch.answered
        self._model.train()
        states = hidden_states(self._model, batch)
        log_probs, values = token_log_probs(self._model, states, batch), self._value(states)
        ratio = (log_probs - rollout.log_probs).exp()
        loss = _mean(clipped_objective(ratio, rollout.advantages, recipe.clip), mask)
        near = rollout.values + (values - rollout.values).clamp(-recipe.clip, recipe.clip)
        off = torch.max((values - rollout.returns) ** 2, (near - rollout.returns) ** 2)
        loss = loss + recipe.value_weight * _mean(off, mask)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(
            [*self._trained, *self._values.parameters()], recipe.largest_gradient
        )
        self._optimiser.step()
        return float(_mean(((ratio - 1).abs() > recipe.clip).float(), mask))

    def _state(self) -> dict[str, Any]:
        return {
            "adapter": get_peft_model_state_dict(self._model, adapter_name="default"),
            "values": self._values.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "random": random_states(),
            "told": [asdict(step) for step in self.steps],
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        set_peft_model_state_dict(self._model, state["adapter"], adapter_name="default")
        self._values.load_state_dict(state["values"])
        self._optimiser.load_state_dict(state["optimiser"])
        self.steps = [PpoStep(**step) for step in state["told"]]
        restore_random_states(state["random"])


def _mean(of: Tensor, mask: Tensor) -> Tensor:
    return (of * mask).sum() / mask.sum()


def _whitened(advantages: Tensor, mask: Tensor) -> Tensor:
    mean = _mean(advantages, mask)
    spread = _mean((advantages - mean) ** 2, mask).clamp(min=1e-8).sqrt()
    return (advantages - mean) / spread * mask
