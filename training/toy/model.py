"""A language model of half a megabyte and its tokenizer, and how it learns the toy's form."""

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from training.model.sequences import Encoded, encoded, log_probabilities
from training.toy.grammar import ACTIONS, END, GUARDS, INCIDENTS, NUMBERS

_PAD, _BEGIN, _END = "<pad>", "<s>", "</s>"
_WORDS = (
    *(_PAD, _BEGIN, _END, "context", "workflow", "nothing", END),
    *NUMBERS,
    *ACTIONS,
    *GUARDS,
    *INCIDENTS,
)


_LEARNING_RATE = 3e-3


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A word is a token."""
    words = Tokenizer(models.WordLevel({w: n for n, w in enumerate(_WORDS)}, unk_token=_PAD))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=words, pad_token=_PAD, bos_token=_BEGIN, eos_token=_END
    )


def make_model(seed: int) -> LlamaForCausalLM:
    """With random weights."""
    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(_WORDS),
            hidden_size=64,
            intermediate_size=160,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=128,
            tie_word_embeddings=False,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
    )


def make_base(
    folder: Path,
    demonstrations: Sequence[tuple[str, str]],
    *,
    seed: int,
    steps: int = 600,
    batch: int = 64,
) -> list[float]:
    """Train a model on demonstrations and save it; the loss of each step.

    The paper starts from models that follow instructions; this one must learn the form first.
    """
    model, tokenizer = make_model(seed), make_tokenizer()
    rows = [encoded(tokenizer, *each) for each in demonstrations]
    chooser = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=_LEARNING_RATE, weight_decay=0.01)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, _LEARNING_RATE, total_steps=steps)
    losses = []
    for _ in range(steps):
        chosen = torch.randint(len(rows), (batch,), generator=chooser).tolist()
        together = Encoded.of([rows[n] for n in chosen], pad=tokenizer.pad_token_id)
        log_probs = log_probabilities(model, together)
        loss = -(log_probs * together.answered).sum() / together.answered.sum()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        plan.step()
        losses.append(float(loss.detach()))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return losses
