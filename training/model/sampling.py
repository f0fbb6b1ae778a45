"""Answers that a model writes, and their texts."""

from collections.abc import Sequence

import torch

from training.model.sequences import Model, Row, TokenizerLike


@torch.no_grad()
def sampled(
    model: Model,
    tokenizer: TokenizerLike,
    prompts: Sequence[str],
    *,
    temperature: float = 1.0,
    most_tokens: int,
) -> list[Row]:
    """One answer to each prompt, drawn from the model as it is.

    An answer that is cut off at `most_tokens` has no end.
    """
    model.eval()
    encoding = tokenizer(list(prompts), return_tensors="pt", padding=True, add_special_tokens=False)
    ids, mask = encoding["input_ids"].to(model.device), encoding["attention_mask"].to(model.device)
    written = model.generate(
        input_ids=ids,
        attention_mask=mask,
        max_new_tokens=most_tokens,
        pad_token_id=tokenizer.pad_token_id,
        do_sample=True,
        temperature=temperature,
        top_k=0,
        top_p=1.0,
    )
    rows = []
    for all_, standing, answer in zip(
        ids.tolist(), mask.tolist(), written[:, ids.shape[1] :].tolist(), strict=True
    ):
        prompt = [token for token, is_there in zip(all_, standing, strict=True) if is_there]
        rows.append(Row(prompt, _ended(answer, tokenizer.eos_token_id)))
    return rows


def texts(tokenizer: TokenizerLike, rows: Sequence[Row]) -> list[str]:
    """The answers in words."""
    answers: list[str] = tokenizer.batch_decode([r.answer for r in rows], skip_special_tokens=True)
    return answers


def _ended(answer: list[int], end: int) -> list[int]:
    return answer[: answer.index(end) + 1] if end in answer else answer
