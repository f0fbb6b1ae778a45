"""`flowxpert train`: train adapters of one's own models, offline; needs the extra `training`."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from services.cli.platform_access import AsJson, print_json, say
from services.kit.errors import FlowXpertError
from services.kit.files import require_folder, require_new_folder

app = typer.Typer(no_args_is_help=True)

_OF_TRAINING = {"torch", "trl", "peft", "accelerate", "datasets", "transformers", "training"}

Base = Annotated[
    Path, typer.Option("--base", help="Folder of the model to adapt.", callback=require_folder)
]
Out = Annotated[
    Path,
    typer.Option(
        "--out", help="Folder of the run; the same goes on with it.", callback=require_new_folder
    ),
]
Seed = Annotated[int, typer.Option(help="The same trains the same.")]


class AdapterPurpose(StrEnum):
    """Purpose of an adapter."""

    READER = "reader"
    JUDGE = "judge"


class NoTrainingError(FlowXpertError):
    """The libraries for training are not installed."""


@app.command()
def coevolve(
    *,
    base: Base,
    out: Out,
    iterations: Annotated[int, typer.Option(min=1, help="Of both in turn.")] = 3,
    queries: Annotated[int, typer.Option(min=4, help="To train on.")] = 64,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train Planner and Scorer in turns, in the toy world.

    BASE is made by `python -m training.toy OUT`. What a world of one's own needs is in
    docs/training.md.
    """
    with _libraries():
        from training.toy.coevolving import coevolve_toy  # noqa: PLC0415

    card = coevolve_toy(base, out, iterations=iterations, queries=queries, seed=seed)
    if as_json:
        print_json(card)
    else:
        say(f"The adapters are in {out}; card.json tells which iteration to serve.")


@app.command()
def adapter(
    kind: Annotated[
        AdapterPurpose, typer.Argument(help="Page to program, or lines to what they say.")
    ],
    material: Annotated[
        Path,
        typer.Argument(
            help="Folder with readings.jsonl (an export) and documents/.", callback=require_folder
        ),
    ],
    *,
    base: Base,
    out: Out,
    test: Annotated[
        Path | None,
        typer.Option(help="Folder of documents that must not be learned.", callback=require_folder),
    ] = None,
    licence: Annotated[str, typer.Option(help="Of the adapter, for its card.")] = "not said",
    batch: Annotated[int, typer.Option(min=1, help="Rows of a step.")] = 4,
    most_tokens: Annotated[int, typer.Option(min=16, help="Of question and answer.")] = 8192,
    rank: Annotated[int, typer.Option(min=1, help="Of the low-rank updates.")] = 8,
    epochs: Annotated[int, typer.Option(min=1, help="Over what is right.")] = 3,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Adapt a model to read pages or to judge facts, by readings that people approved."""
    with _libraries():
        from training.adapting.adapters import (  # noqa: PLC0415
            AdapterKind,
            AdapterRecipe,
            SftRecipe,
            train_adapter,
        )
        from training.recipes import DpoRecipe, LoraRecipe  # noqa: PLC0415

    recipe = AdapterRecipe(
        lora=LoraRecipe(rank=rank, alpha=2 * rank),
        sft=SftRecipe(batch=batch, most_tokens=most_tokens, epochs=epochs),
        dpo=DpoRecipe(batch=batch, most_tokens=most_tokens),
        seed=seed,
    )
    card = train_adapter(AdapterKind(kind), material, base, out, recipe, test=test, licence=licence)
    if as_json:
        print_json(card)
    else:
        say(f"The adapter is in {out / 'adapter'}; CARD.md there tells what it is.")


@app.command("card")
def show_card(
    folder: Annotated[Path, typer.Argument(help="Of an adapter.", callback=require_folder)],
    *,
    as_json: AsJson = False,
) -> None:
    """Show what an adapter was made of, and what it measured."""
    with _libraries():
        from training.cards import read_card, shown  # noqa: PLC0415

    card = read_card(folder)
    if as_json:
        print_json(card)
    else:
        typer.echo(shown(card))


@contextmanager
def _libraries() -> Iterator[None]:
    """Report missing libraries in plain words.

    Raises:
        NoTrainingError: They are missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _OF_TRAINING:
            raise
        raise NoTrainingError(
            f"training needs {error.name}, which is not installed here: install torch, then"
            " `pip install flowxpert[training]` (docs/training.md)"
        ) from error
