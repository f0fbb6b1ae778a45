"""Adapters for readers (page to program) and judges (lines to fact): SFT, then DPO."""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Self

import torch

from services.kit.value import Value
from training.adapting.lessons import Lesson, judge_lessons, reader_lessons, text_of
from training.adapting.material import Material, read_material, refuse_shared
from training.cards import Card, make_card, write_card
from training.checkpoints import begin, put_folder
from training.errors import UnusableMaterialError
from training.model.loading import (
    base_hash,
    load_for_training,
    load_tokenizer,
    load_with_adapter,
    save_adapter,
)
from training.model.sequences import Encoded, Model, TokenizerLike, encoded, log_probabilities
from training.preferences import Pair
from training.recipes import DpoRecipe, LoraRecipe
from training.trl_runs import train_dpo, train_sft

ADAPTER = "adapter"
_LABEL = "training"


class AdapterKind(StrEnum):
    """What an adapter is for."""

    READER = "reader"
    JUDGE = "judge"


class SftRecipe(Value):
    """Supervised learning of what is right."""

    batch: int = 4
    learning_rate: float = 1e-4
    epochs: int = 3
    most_tokens: int = 8192
    """Of question and answer; longer lessons are left out and counted."""
    save_every: int = 50


class AdapterRecipe(Value):
    """All of an adapter."""

    lora: LoraRecipe = LoraRecipe()
    sft: SftRecipe = SftRecipe()
    dpo: DpoRecipe = DpoRecipe()
    seed: int = 0


class _Text(NamedTuple):
    prompt: str
    right: str
    wrong: str


class _Begun(Value):
    kind: AdapterKind
    recipe: AdapterRecipe
    base: str
    lessons: str

    @classmethod
    def of(
        cls, kind: AdapterKind, recipe: AdapterRecipe, base: Path, texts: Sequence[_Text]
    ) -> Self:
        digest = hashlib.sha256(repr(list(texts)).encode()).hexdigest()
        return cls(kind=kind, recipe=recipe, base=base_hash(base), lessons=digest)


def train_adapter(
    kind: AdapterKind,
    material: Path,
    base: Path,
    folder: Path,
    recipe: AdapterRecipe,
    *,
    test: Path | None,
    licence: str,
) -> Card:
    """Train into `folder/adapter`, with its card; goes on where a run of the same was killed.

    `test` is a folder of documents that figures will be taken on: none of them may be learned.

    Raises:
        DiskFullError: A checkpoint does not fit.
        OtherRunError: `folder` holds a run of something else.
        OutOfMemoryError: A step does not fit.
        SharedPagesError: The material has pages of `test`.
        UnusableMaterialError: There is nothing to learn.
        UnusableModelError: `base` holds no model.
    """
    loaded = read_material(material)
    if test is not None:
        refuse_shared(loaded.pages, test)
    tokenizer = load_tokenizer(base)
    lessons = list(_LESSONS[kind](loaded))
    texts = [_Text(text_of(tokenizer, each.messages), each.right, each.wrong) for each in lessons]
    fitting = [each for each in texts if _tokens(tokenizer, each) <= recipe.sft.most_tokens]
    if not fitting:
        raise UnusableMaterialError(
            f"none of {len(texts)} lessons fits into {recipe.sft.most_tokens} tokens:"
            " raise --most-tokens"
        )
    folder.mkdir(parents=True, exist_ok=True)
    begin(folder / "run.json", _Begun.of(kind, recipe, base, fitting))
    run = _Run(tokenizer, base, recipe, folder)
    run.learn_right(fitting)
    pairs = [Pair(each.prompt, each.right, each.wrong) for each in fitting if each.wrong]
    run.learn_better(pairs)
    before, after = (
        _likelihood(load_with_adapter(base, at), tokenizer, fitting, recipe.sft.batch)
        for at in (None, folder / ADAPTER)
    )
    card = make_card(
        kind,
        base,
        data=loaded.hashes,
        counts={
            "pages": len(loaded.pages),
            "readings not approved, left out": loaded.not_approved,
            "readings without their page, left out": loaded.without_page,
            "lessons": len(fitting),
            "lessons too long, left out": len(texts) - len(fitting),
            "pairs": len(pairs),
        },
        figures={
            "log-probability of a right token, base": before,
            "log-probability of a right token, adapter (on what it learned)": after,
            "on pages that it did not learn": None,
        },
        recipe=recipe.model_dump(),
        licence=licence,
    )
    write_card(folder / ADAPTER, card)
    return card


@dataclass(frozen=True)
class _Run:
    tokenizer: TokenizerLike
    base: Path
    recipe: AdapterRecipe
    folder: Path

    def learn_right(self, texts: Sequence[_Text]) -> None:
        """By supervision; done where its result is there."""
        target, work = self.folder / "after-sft", self.folder / "sft-steps"
        if target.exists() or (self.folder / ADAPTER).exists():
            return
        sft = self.recipe.sft
        model = load_for_training(self.base, self.recipe.lora, None, seed=self.recipe.seed)
        train_sft(
            model,
            self.tokenizer,
            [{"prompt": each.prompt, "completion": f" {each.right}"} for each in texts],
            batch=sft.batch,
            learning_rate=sft.learning_rate,
            epochs=sft.epochs,
            most_tokens=sft.most_tokens,
            save_every=sft.save_every,
            seed=self.recipe.seed,
            folder=work,
        )
        put_folder(target, lambda at: save_adapter(model, at, self.base))
        shutil.rmtree(work, ignore_errors=True)

    def learn_better(self, pairs: Sequence[Pair]) -> None:
        """By preference; without a pair the adapter is what supervision made."""
        target, before = self.folder / ADAPTER, self.folder / "after-sft"
        work = self.folder / "dpo-steps"
        if target.exists():
            return
        recipe = self.recipe
        model: Model = load_for_training(self.base, recipe.lora, before, seed=recipe.seed)
        if pairs:
            train_dpo(model, self.tokenizer, pairs, recipe.dpo, seed=recipe.seed, folder=work)
        put_folder(target, lambda at: save_adapter(model, at, self.base))
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(before, ignore_errors=True)


@torch.no_grad()
def _likelihood(
    model: Model, tokenizer: TokenizerLike, texts: Sequence[_Text], batch: int
) -> float:
    """Mean log-probability of a token of what is right."""
    total, tokens = 0.0, 0
    for start in range(0, len(texts), batch):
        rows = [encoded(tokenizer, t.prompt, f" {t.right}") for t in texts[start : start + batch]]
        together = Encoded.of(rows, pad=tokenizer.pad_token_id).to(model.device)
        log_probs = log_probabilities(model, together) * together.answered
        total += float(log_probs.sum())
        tokens += int(together.answered.sum())
    return total / tokens


def _tokens(tokenizer: TokenizerLike, text: _Text) -> int:
    longest = max(text.right, text.wrong, key=len)
    return len(tokenizer(text.prompt + longest)["input_ids"]) + 1


_Lessons = Callable[[Material], Iterator[Lesson]]
_LESSONS: dict[AdapterKind, _Lessons] = {
    AdapterKind.READER: lambda material: reader_lessons(material.pages),
    AdapterKind.JUDGE: lambda material: judge_lessons(material.pages, label=_LABEL),
}
