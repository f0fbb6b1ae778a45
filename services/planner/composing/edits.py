"""Edits of a reading, requested in a sentence, as operations to be reviewed first."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.contracts.composing import EditInWords, WordedEdit
from services.contracts.readings import EditRequest, ReadingDetail, Readings
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.observability.redaction import redact
from services.llm.chat_model import ModelAnswerError
from services.llm.prompts import load_prompt
from services.planner.composing.errors import NeedsModelError, NotUnderstoodError
from services.planner.composing.model_session import ModelSession
from services.planner.composing.secrets import without_secrets
from services.runbook.editing.operations import (
    ChangeGuard,
    Delete,
    Operation,
    Replace,
    parse_operations,
)
from services.runbook.editing.outline import Outline
from services.runbook.lowering import lower
from services.runbook.model import (
    OTHERWISE,
    Arm,
    Body,
    Choice,
    Do,
    End,
    Loop,
    Node,
    Procedure,
    State,
)
from services.runbook.program import with_ids
from services.runbook.words import guard_in_words, quoted, text_of

EDIT = load_prompt("services.planner", "edit")
MAX_RETRIES = 1
"""Number of times the model is sent the reason its operations cannot be applied."""
_MOST_LINES = 400

_DELETE = re.compile(
    r"(?:delete|remove|drop|take out)\s+(?:the\s+)?step\s+(?P<step>\d+)", re.IGNORECASE
)
_REPLACE = re.compile(
    r"(?:in\s+step\s+(?P<before>\d+),?\s+)?(?:replace|change)\s+(?P<old>\".+?\"|“.+?”|'.+?'|`.+?`|.+?)\s+"
    r"(?:by|with|to)\s+(?P<new>\".+?\"|“.+?”|'.+?'|`.+?`|.+?)(?:\s+in\s+step\s+(?P<behind>\d+))?",
    re.IGNORECASE,
)


def parse_edit_request(
    wanted: EditInWords, readings: Readings, session: ModelSession | None
) -> WordedEdit:
    """Return the operations that the sentence means and a preview of their effect.

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
    preview = _OperationsPreview(wanted, readings, wanted.revision or detail.revision)
    by_rules = parse_simple_edit(instruction, procedure)
    if by_rules is not None:
        return preview.preview(by_rules, "rules")
    if session is None:
        raise NeedsModelError(
            "without a language model only sentences like “delete step 2” and “replace lamp by LED "
            "in step 3” are understood: set FLOWXPERT_MODEL_URL, or use the forms at each step"
        )
    values = prompt_values(instruction, procedure, detail)
    try:
        return session.ask(
            EDIT, values, lambda action: preview.preview_answer(action, session.model.name)
        )
    except ModelAnswerError as error:
        raise NotUnderstoodError(f"no operations came of it: {error}"[:1000]) from error


@dataclass
class _OperationsPreview:
    """Preview of operations on one reading."""

    wanted: EditInWords
    readings: Readings
    revision: str
    refused: int = 0

    def preview(self, operations: tuple[Operation, ...], written_by: str) -> WordedEdit:
        edit = EditRequest(
            procedure=self.wanted.procedure, operations=operations, revision=self.revision
        )
        preview = self.readings.preview(self.wanted.text_hash, edit)
        return WordedEdit(edit=edit, preview=preview, written_by=written_by)

    def preview_answer(self, action: Mapping[str, Any], written_by: str) -> WordedEdit:
        """Preview the model's operations; one that does not apply is sent back once."""
        if question := str(action.get("question") or "").strip():
            raise NotUnderstoodError(without_secrets(question)[:1000])
        operations = parse_operations(action)
        try:
            return self.preview(operations, written_by)
        except InvalidInputError as error:
            self.refused += 1
            if self.refused > MAX_RETRIES:
                raise NotUnderstoodError(f"it cannot be done: {error}"[:1000]) from error
            raise ModelAnswerError(f"an operation does not apply: {error}") from error


def prompt_values(
    instruction: str, procedure: Procedure, detail: ReadingDetail | None, text: str = ""
) -> dict[str, str]:
    """Return the values of the prompt; of a long page only lines around the procedure."""
    lines = detail.lines if detail else tuple(text.split("\n"))
    cited = [number for first, last in procedure.lines for number in (first, last)]
    begin = max(1, min(cited) - 5) if cited and len(lines) > _MOST_LINES else 1
    shown = lines[begin - 1 : begin - 1 + _MOST_LINES]
    return {
        "instruction": instruction,
        "procedure": redact(outline(procedure)),
        "lines": redact("\n".join(f"{n} | {line}" for n, line in enumerate(shown, begin)))
        or "(none)",
    }


def operations_of_answer(action: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Parse the operations; raises `ModelAnswerError` if there are none."""
    try:
        return parse_operations(action.get("operations", action))
    except InvalidInputError as error:
        raise ModelAnswerError(str(error)) from error


def parse_simple_edit(instruction: str, procedure: Procedure) -> tuple[Operation, ...] | None:
    """Parse the few sentence forms that have one meaning; None for any other sentence.

    Raises:
        NotUnderstoodError: The step has no such words, or there is no such step.
    """
    sentence = instruction.strip().rstrip(".!")
    numbers = {number: id_ for id_, number in step_numbers(procedure).items()}
    if match := _DELETE.fullmatch(sentence):
        return (Delete(node=_node_of(numbers, match["step"])),)
    match = _REPLACE.fullmatch(sentence)
    number = match and (match["before"] or match["behind"])
    if not match or not number:
        return None
    node = Outline(procedure).locations[_node_of(numbers, number)].thing
    old, new = (match[name].strip("\"'`“”") for name in ("old", "new"))
    pattern = rf"(?<![\w-]){re.escape(old)}(?![\w-])"
    was = text_of(node)
    text = re.sub(pattern, lambda _: new, was)
    before = node.commands if isinstance(node, Do | End) else ()
    commands = tuple(re.sub(pattern, lambda _: new, each) for each in before)
    if text == was and commands == before:
        raise NotUnderstoodError(f"step {number} has no words {quoted(old)}: it says {quoted(was)}")
    guard = node.guard if isinstance(node, Arm) else None
    if isinstance(guard, State):
        when = State(text=re.sub(pattern, lambda _: new, guard.text))
        return (ChangeGuard(nodes=(node.id,), when=when),)
    if not isinstance(node, Do | End) and not (isinstance(node, Choice) and node.question):
        return None
    return (
        Replace(
            node=node.id,
            text=text if text != was else None,
            commands=commands if commands != before else None,
        ),
    )


def _node_of(numbers: Mapping[int, str], number: str) -> str:
    if int(number) not in numbers:
        raise NotUnderstoodError(
            f"there is no step {number}: the last one is {max(numbers, default=0)}"
        )
    return numbers[int(number)]


def step_numbers(procedure: Procedure) -> dict[str, int]:
    """Return the step numbers that people see in the drawing, from 1, by node id."""
    numbers: dict[str, int] = {}
    for number, step in enumerate(lower(procedure, "page").steps, start=1):
        if step.node:
            numbers.setdefault(step.node, number)
    return numbers


def outline(procedure: Procedure) -> str:
    """List all nodes with their ids, one per line, numbered as in the drawing."""
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
    match node:
        case Arm():
            description = f"arm, when {guard_in_words(node.guard)}:"
        case Choice():
            question = f": {node.question}" if node.question else ""
            description = f"choice ({node.mode.value}){question}"
        case Loop():
            description = f"repeat until {guard_in_words(node.until)}:"
        case _:
            commands = "".join(f" `{each}`" for each in getattr(node, "commands", ()))
            description = f"{type(node).__name__.lower()}: {text_of(node)}{commands}"
    at = ", ".join(f"{a}-{b}" for a, b in node.lines)
    return f"{'  ' * depth}[{node.id}] {number}{description}{f' (lines {at})' if at else ''}"
