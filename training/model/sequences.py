"""Prompts and answers as tensors, what a model finds their tokens' log-probabilities to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

Model = Any
"""A causal model of transformers, with or without PEFT: both know their parts at run time only."""
TokenizerLike = Any


class Row(NamedTuple):
    """Tokens of a prompt and of what was answered, the end of the answer included."""

    prompt: list[int]
    answer: list[int]


def encoded(tokenizer: TokenizerLike, prompt: str, answer: str) -> Row:
    """The row of two texts; the answer ends with the tokenizer's end."""
    answer_ids = tokenizer(answer, add_special_tokens=False)["input_ids"]
    return Row(
        tokenizer(prompt, add_special_tokens=False)["input_ids"],
        [*answer_ids, tokenizer.eos_token_id],
    )


@dataclass(frozen=True)
class Encoded:
    """A batch: prompts end and answers begin at one column."""

    ids: Tensor
    mask: Tensor
    """1 where a token stands."""
    width: int
    """Columns of the prompts."""

    @classmethod
    def of(cls, rows: Sequence[Row], *, pad: int) -> Self:
        """Prompts padded on the left, answers on the right."""
        width = max(len(row.prompt) for row in rows)
        length = max(len(row.answer) for row in rows)
        ids = torch.full((len(rows), width + length), pad)
        mask = torch.zeros_like(ids)
        for place, (prompt, answer) in enumerate(rows):
            columns = slice(width - len(prompt), width + len(answer))
            ids[place, columns] = torch.tensor(prompt + answer)
            mask[place, columns] = 1
        return cls(ids, mask, width)

    @property
    def answered(self) -> Tensor:
        """1 where a token of the answer stands; rows × tokens of the longest answer."""
        return self.mask[:, self.width :]

    @property
    def positions(self) -> Tensor:
        """Of each token in its own row."""
        return (self.mask.cumsum(1) - 1).clamp(min=0)

    def to(self, device: torch.device) -> "Encoded":
        """The same there."""
        return Encoded(self.ids.to(device), self.mask.to(device), self.width)


def hidden_states(model: Model, batch: Encoded) -> Tensor:
    """The last layer's, at the tokens that the answers' tokens follow."""
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model
    states: Tensor = causal.base_model(
        input_ids=batch.ids,
        attention_mask=batch.mask,
        position_ids=batch.positions,
        use_cache=False,
    ).last_hidden_state
    return states[:, batch.width - 1 : -1]


def token_log_probs(model: Model, states: Tensor, batch: Encoded) -> Tensor:
    """Return the log-probabilities of the answers' tokens by their hidden states."""
    logits = model.get_output_embeddings()(states).float()
    wanted = batch.ids[:, batch.width :].unsqueeze(-1)
    log_probs: Tensor = logits.log_softmax(-1).gather(-1, wanted).squeeze(-1)
    return log_probs


def log_probabilities(model: Model, batch: Encoded) -> Tensor:
    """Of each token of the answers; rows × tokens of the longest."""
    return token_log_probs(model, hidden_states(model, batch), batch)
