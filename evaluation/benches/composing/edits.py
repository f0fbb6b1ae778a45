"""Edits in words measured: the program that comes of a sentence, and what else it changed."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.benches.composing.prompt_files import read_answers
from evaluation.material.composing.edit_rows import (
    PosedEdit,
    RecordedEdit,
    StoredOf,
    digest_of,
    read_recorded,
    write_recorded,
)
from evaluation.measures.edited import bindings, kept, program, shape
from services.kit.batches import batches
from services.kit.errors import InvalidInputError
from services.llm.chat_model import ModelAnswerError
from services.planner.composing.edits import (
    EDIT,
    operations_of_answer,
    parse_simple_edit,
    prompt_values,
)
from services.planner.composing.secrets import without_secrets
from services.runbook.editing.apply import apply
from services.runbook.editing.operations import Operation
from services.runbook.model import Procedure, as_json

if TYPE_CHECKING:
    from services.deployment.embedded import Embedded

A_FILE = 25
_INSTRUCTIONS = """
You are given items, each with a key, a change, a procedure and the lines of its page. Answer with
one JSON object by the keys, nothing else:
{"KEY": {"operations": [...]}} or {"KEY": {"question": "..."}}
"""


def write_prompts(posed: Sequence[PosedEdit], folder: Path) -> list[Path]:
    """Files of at most `A_FILE` sentences each."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, batch in enumerate(batches(posed, A_FILE), start=1):
        path = folder / f"edits-{number}.prompt.txt"
        items = "\n\n".join(map(_item, batch))
        rules = f"{EDIT.system.strip()}\n\n=== items{_INSTRUCTIONS}"
        path.write_text(f"{rules}\n{items}\n", encoding="utf-8")
        written.append(path)
    return written


def record(posed: Sequence[PosedEdit], folder: Path, path: Path) -> int:
    """Keep what comes of the answers in a folder; how many there are."""
    by_key = {each.row.key: each for each in posed}
    rows, taken = dict(read_recorded(path)), 0
    for key, answer in read_answers(folder):
        if key in by_key:
            rows[key] = recorded(by_key[key], EDIT.label, partial(_of_answer, answer))
            taken += 1
    write_recorded(path, rows.values())
    return taken


def stored_in(platform: "Embedded") -> StoredOf:
    """Text and served procedures of the platform's pages."""
    readings = platform.ingestion.readings("bench")

    def stored(text_hash: str) -> tuple[str, tuple[Procedure, ...]]:
        detail = readings.get(text_hash)
        return "\n".join(detail.lines), detail.reading.procedures

    return stored


def by_rules(each: PosedEdit) -> RecordedEdit:
    """What the few certain forms make of it."""
    return recorded(
        each, "rules", lambda p: parse_simple_edit(without_secrets(p.row.instruction), p.before)
    )


def recorded(
    each: PosedEdit,
    prompt: str,
    operations: Callable[[PosedEdit], tuple[Operation, ...] | None],
) -> RecordedEdit:
    """The figures of what operations make of a row; none where there are none that apply."""
    named = RecordedEdit(key=each.row.key, prompt=prompt, before=_question(each))
    try:
        edits = operations(each)
        result = apply(each.before, edits) if edits else None
    except (InvalidInputError, ModelAnswerError):
        return named
    return named if result is None or edits is None else _measured(named, each, edits, result)


def figures(rows: Sequence[tuple[PosedEdit, RecordedEdit]]) -> dict[str, float]:
    """In percent."""
    count = max(1, len(rows))
    exact = [row.program == digest_of(program(each.row.expected)) for each, row in rows]
    same = [row.shape == digest_of(shape(each.row.expected)) for each, row in rows]
    done = [row for _, row in rows if row.operations]
    return {
        "n": float(len(rows)),
        "done": 100 * len(done) / count,
        "exact": 100 * sum(exact) / count,
        "shape": 100 * sum(same) / count,
        "nothing else": 100 * sum(row.kept == 1 for row in done) / max(1, len(done)),
        "kept": 100 * sum(row.kept for row in done) / max(1, len(done)),
        "bindings": 100 * sum(row.bindings for row in done) / max(1, len(done)),
    }


def measured(
    posed: Sequence[PosedEdit], path: Path
) -> dict[str, list[tuple[PosedEdit, RecordedEdit]]]:
    """By who wrote the operations; of a model, the rows that are recorded as they are now."""
    rows = read_recorded(path)
    by_author = {"rules": [(each, by_rules(each)) for each in posed]}
    model = [
        (each, rows[each.row.key])
        for each in posed
        if each.row.key in rows and rows[each.row.key].before == _question(each)
    ]
    return by_author | ({"model": model} if model else {})


def _of_answer(answer: Mapping[str, Any], _each: PosedEdit) -> tuple[Operation, ...]:
    return operations_of_answer(answer)


def _measured(
    named: RecordedEdit, each: PosedEdit, edits: tuple[Operation, ...], result: Procedure
) -> RecordedEdit:
    expected = each.row.expected
    return named.model_copy(
        update={
            "operations": tuple(operation.op for operation in edits),
            "program": digest_of(program(result)),
            "shape": digest_of(shape(result)),
            "kept": kept(each.before, expected, result),
            "bindings": bindings(each.before, expected, result),
        }
    )


def _question(each: PosedEdit) -> str:
    before: Any = as_json(each.before)
    return digest_of(before, as_json(each.row.expected))


def _item(each: PosedEdit) -> str:
    values = prompt_values(without_secrets(each.row.instruction), each.before, None, each.text)
    return "\n".join(
        (
            f"=== item {each.row.key}",
            f"Change: {json.dumps(values['instruction'], ensure_ascii=False)}",
            f"Procedure:\n{values['procedure']}",
            f"Lines:\n{values['lines']}",
        )
    )
