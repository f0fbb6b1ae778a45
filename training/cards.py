"""What an adapter is, beside it: `card.json` for programs and `CARD.md` for people."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from services.kit.value import Value
from training.errors import UnusableModelError
from training.model.loading import base_hash

CARD, SHOWN = "card.json", "CARD.md"
_LIBRARIES = ("torch", "transformers", "peft", "trl", "accelerate")
_LICENCE_FILES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE")


class Card(Value):
    """One trained adapter."""

    kind: str
    """`reader`, `judge` or `coevolution`."""
    base: str
    base_hash: str
    base_licence: str
    """The file in the base's folder that has it, or that none does."""
    licence: str
    """Of the adapter, by whoever trained it."""
    data: Mapping[str, str]
    """SHA-256 of what was learned from, by name."""
    counts: Mapping[str, int]
    figures: Mapping[str, float | None]
    """None where nothing was measured."""
    recipe: Mapping[str, Any]
    libraries: Mapping[str, str]
    made_at: datetime


def make_card(
    kind: str,
    base: Path,
    *,
    data: Mapping[str, str],
    counts: Mapping[str, int],
    figures: Mapping[str, float | None],
    recipe: Mapping[str, Any],
    licence: str,
) -> Card:
    """With what can be found out."""
    named = next((name for name in _LICENCE_FILES if (base / name).is_file()), None)
    return Card(
        kind=kind,
        base=base.name,
        base_hash=base_hash(base),
        base_licence=f"see {named} of the base" if named else "unknown: the base's folder has none",
        licence=licence,
        data=data,
        counts=counts,
        figures=figures,
        recipe=recipe,
        libraries={name: version(name) for name in _LIBRARIES},
        made_at=datetime.now(UTC),
    )


def write_card(folder: Path, card: Card) -> None:
    """Both forms, into an existing folder."""
    folder.joinpath(CARD).write_text(card.model_dump_json(indent=1) + "\n", encoding="utf-8")
    folder.joinpath(SHOWN).write_text(shown(card), encoding="utf-8")


def read_card(folder: Path) -> Card:
    """The card in an adapter's folder.

    Raises:
        UnusableModelError: There is none.
    """
    try:
        return Card.model_validate_json((folder / CARD).read_bytes())
    except (OSError, ValueError) as error:
        raise UnusableModelError(f"no card of an adapter in {folder}") from error


def shown(card: Card) -> str:
    """As Markdown."""
    figures = {
        name: "not measured" if value is None else f"{value:.3f}"
        for name, value in card.figures.items()
    }
    parts = [
        f"# Adapter: {card.kind}",
        f"Of {card.base} (`{card.base_hash[:16]}`), made {card.made_at:%Y-%m-%d %H:%M} UTC.",
        f"Licence: {card.licence}; of the base: {card.base_licence}.",
        _table("Learned from", "SHA-256", card.data),
        _table("Count of", "", card.counts),
        _table("Figure", "", figures),
        "Recipe:",
        f"```json\n{json.dumps(card.recipe, indent=1)}\n```",
        _table("Made with", "version", card.libraries),
    ]
    return "\n\n".join(parts) + "\n"


def _table(left: str, right: str, rows: Mapping[str, Any]) -> str:
    lines = [f"| {left} | {right} |", "|---|---|", *(f"| {k} | {v} |" for k, v in rows.items())]
    return "\n".join(lines)
