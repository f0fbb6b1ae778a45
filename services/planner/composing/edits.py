"""A change of a reading, said in a sentence, as operations that somebody looks at first."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.contracts.composing import EditInWords, WordedEdit
from services.contracts.readings import EditRequest, ReadingDetail, Readings
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.observability.redaction import redacted
from services.llm.chat_model import ModelAnswerError
from services.llm.prompts import load_prompt
from services.planner.composing.asking import Asking
from services.planner.composing.errors import NeedsModelError, NotUnderstoodError
from services.planner.composing.words.secrets import without_secrets
from services.procedure.editing.apply import with_ids
from services.procedure.editing.operations import (
    Delete,
    Operation,
    Replace,
    operations_given,
)
from services.procedure.editing.program import OTHERWISE, Outline
from services.procedure.editing.words import guard_in_words, text_of
from services.procedure.lowering import lower
from services.procedure.model import Arm, Body, Choice, Do, Loop, Node, Procedure

EDIT = load_prompt("services.planner", "edit")
TOLD_BACK = 1
"""Times that the model is told why its operations cannot be done."""
_MOST_LINES = 400

_DELETE = re.compile(
    r"(?:delete|remove|drop|take out)\s+(?:the\s+)?step\s+(?P<step>\d+)", re.IGNORECASE
)
_REPLACE = re.compile(
    r"(?:in\s+step\s+(?P<before>\d+),?\s+)?(?:replace|change)\s+(?P<old>\".+?\"|“.+?”|'.+?'|`.+?`|\S+)\s+"
    r"(?:by|with|to)\s+(?P<new>\".+?\"|“.+?”|'.+?'|`.+?`|\S+?)(?:\s+in\s+step\s+(?P<behind>\d+))?",
    re.IGNORECASE,
)


def worded(wanted: EditInWords, readings: Readings, asking: Asking | None) -> WordedEdit:
    """The operations that the sentence means and what they would do.

    Raises:
        NotFoundError: No such reading or procedure.
        NotUnderstoodError: It means nothing that can be done; the message says why.
        NeedsModelError: It is none of the few forms that rules understand.
        ConflictError: Something else is served than the caller saw.
    """
    detail = readings.get(wanted.text_hash)
    if wanted.procedure >= len(detail.reading.procedures):
        raise NotFoundError(f"the page has no procedure {wanted.procedure}")
    procedure = with_ids(detail.reading.procedures[wanted.procedure])
    instruction = without_secrets(wanted.instruction).strip()
    look = _Look(wanted, readings, wanted.revision or detail.revision)
    by_rules = certain(instruction, procedure)
    if by_rules is not None:
        return look.at(by_rules, "rules")
    if asking is None:
        raise NeedsModelError(
            "without a language model only “delete step N” and “replace X by Y in step N” are "
            "understood: set FLOWXPERT_MODEL_URL, or use the forms at each step"
        )
    return _by_model(asking, prompt_values(instruction, procedure, detail), look)


@dataclass
class _Look:
    """What operations would do to one reading."""

    wanted: EditInWords
    readings: Readings
    revision: str
    refused: int = 0

    def at(self, operations: tuple[Operation, ...], written_by: str) -> WordedEdit:
        edit = EditRequest(
            procedure=self.wanted.procedure, operations=operations, revision=self.revision
        )
        preview = self.readings.preview(self.wanted.text_hash, edit)
        return WordedEdit(edit=edit, preview=preview, written_by=written_by)

    def at_answer(self, action: Mapping[str, Any], written_by: str) -> WordedEdit:
        """An operation that does not apply is told back once."""
        if question := str(action.get("question") or "").strip():
            raise NotUnderstoodError(without_secrets(question)[:1000])
        operations = operations_of(action)
        try:
            return self.at(operations, written_by)
        except InvalidInputError as error:
            self.refused += 1
            if self.refused > TOLD_BACK:
                raise NotUnderstoodError(f"it cannot be done: {error}"[:1000]) from error
            raise ModelAnswerError(f"an operation does not apply: {error}") from error


def _by_model(asking: Asking, values: Mapping[str, str], look: _Look) -> WordedEdit:
    try:
        return asking.ask(EDIT, values, lambda action: look.at_answer(action, asking.model.name))
    except ModelAnswerError as error:
        raise NotUnderstoodError(f"no operations came of it: {error}"[:1000]) from error


def prompt_values(
    instruction: str, procedure: Procedure, detail: ReadingDetail | None, text: str = ""
) -> dict[str, str]:
    """What the prompt is given; lines are those around the procedure where the page is long."""
    lines = detail.lines if detail else tuple(text.split("\n"))
    cited = [number for first, last in procedure.lines for number in (first, last)]
    begin = max(1, min(cited) - 5) if cited and len(lines) > _MOST_LINES else 1
    shown = lines[begin - 1 : begin - 1 + _MOST_LINES]
    return {
        "instruction": instruction,
        "procedure": redacted(outline(procedure)),
        "lines": redacted("\n".join(f"{n} | {line}" for n, line in enumerate(shown, begin)))
        or "(none)",
    }


def operations_of(action: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Raises `ModelAnswerError` where there are none."""
    try:
        return operations_given(action.get("operations", action))
    except InvalidInputError as error:
        raise ModelAnswerError(str(error)) from error


def certain(instruction: str, procedure: Procedure) -> tuple[Operation, ...] | None:
    """The operations of the few forms that mean one thing; None of any other sentence."""
    told = instruction.strip().rstrip(".!")
    numbers = {number: id_ for id_, number in step_numbers(procedure).items()}
    if found := _DELETE.fullmatch(told):
        id_ = numbers.get(int(found["step"]))
        return (Delete(node=id_),) if id_ else None
    found = _REPLACE.fullmatch(told)
    number = found and (found["before"] or found["behind"])
    id_ = numbers.get(int(number)) if number else None
    node = Outline(procedure).found[id_].thing if id_ else None
    if not found or id_ is None or not isinstance(node, Do):
        return None
    old, new = _bare(found["old"]), _bare(found["new"])
    return _replaced(node, old, new)


def _replaced(node: Do, old: str, new: str) -> tuple[Operation, ...] | None:
    """Text and commands with one thing in the place of another, where it stands alone."""
    pattern = rf"(?<![\w-]){re.escape(old)}(?![\w-])"
    text = re.sub(pattern, lambda _: new, node.text)
    commands = tuple(re.sub(pattern, lambda _: new, each) for each in node.commands)
    if text == node.text and commands == node.commands:
        return None
    return (
        Replace(
            node=node.id,
            text=text if text != node.text else None,
            commands=commands if commands != node.commands else None,
        ),
    )


def step_numbers(procedure: Procedure) -> dict[str, int]:
    """Ids of nodes by the numbers that people see at the steps of the drawing, from 1."""
    found: dict[str, int] = {}
    for number, step in enumerate(lower(procedure, "page").steps, start=1):
        if step.node:
            found.setdefault(step.node, number)
    return found


def outline(procedure: Procedure) -> str:
    """All nodes with their ids, a line each, as people count them."""
    numbers = step_numbers(procedure)
    lines = [f"Title: {procedure.title}"]
    for name, body in procedure.bodies.items():
        if body:
            lines += [f"{name}:", *_lines(body, numbers, 1)]
    return "\n".join(lines)


def _lines(body: Body, numbers: Mapping[str, int], depth: int) -> Iterator[str]:
    for node in body:
        yield _line(node, numbers, depth)
        if isinstance(node, Choice):
            for arm in node.arms:
                yield _line(arm, numbers, depth + 1)
                yield from _lines(arm.body, numbers, depth + 2)
            if node.otherwise is not None:
                yield f"{'  ' * (depth + 1)}[{node.id}{OTHERWISE}] otherwise:"
                yield from _lines(node.otherwise, numbers, depth + 2)
        elif isinstance(node, Loop):
            yield from _lines(node.body, numbers, depth + 1)


def _line(node: Node | Arm, numbers: Mapping[str, int], depth: int) -> str:
    number = f"{numbers[node.id]}. " if node.id in numbers else ""
    told = f"arm, when {guard_in_words(node.guard)}:" if isinstance(node, Arm) else _told(node)
    at = ", ".join(f"{a}-{b}" for a, b in node.lines)
    return f"{'  ' * depth}[{node.id}] {number}{told}{f' (lines {at})' if at else ''}"


def _told(node: Node) -> str:
    if isinstance(node, Choice):
        return f"choice ({node.mode.value}){f': {node.question}' if node.question else ''}"
    if isinstance(node, Loop):
        return f"repeat until {guard_in_words(node.until)}:"
    commands = "".join(f" `{each}`" for each in getattr(node, "commands", ()))
    return f"{type(node).__name__.lower()}: {text_of(node)}{commands}"


def _bare(told: str) -> str:
    return told.strip("\"'`“”")
