"""A workflow as numbered text, one of FlowBench's three forms of workflow knowledge.

    1. Check the fan tray.
       $ show environment fan
       Note: The fans stop for a moment.
    2. Has any fan failed?
       If yes: go to step 3.
       If no: go to step 4.
    3. Replace the fan tray.
    4. The alarm is gone.
       End.

`! …` above a command says what it changes or destroys, and is not read back. A step goes on to the
next one unless it says otherwise. `Not sure: …` below a step says why it is not sure that the
source means it so, `Settled: yes` which exit holds of a question that was answered before, and
`Settled by: …` how that is known.
"""

import re
from dataclasses import dataclass, field

from services.kit.errors import InvalidInputError
from services.kit.text import squeeze
from services.workflow.effects.effect import effect_of
from services.workflow.model import Step, StepKind, Transition, Workflow


class TextError(InvalidInputError):
    """The text has no numbered steps, or a step goes to a number that does not exist."""


_GO = r"(?:go (?:back )?to|continue (?:with|at)|proceed (?:to|with)|return to|skip to|jump to)"
_TARGET = r"step\s+(?P<target>\d+)"
_MARK = r"\s*(?:[-*•]\s+)?"


def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


_TITLE = _pattern(r"\s*(?:#+\s*)?(?:workflow:\s*)?(?P<title>.*\S)\s*")
_STEP = _pattern(r"(?P<indent>\s*)(?:step\s+)?(?P<number>\d{1,6})\s*[.):](?:\s+(?P<text>.*))?$")
_BRANCH = _pattern(
    rf"{_MARK}(?:if\s+(?P<condition>.*\S)|otherwise|else)"
    rf"(?:(?<!,)\s+then\b|\s*,\s*then\b|\s*(?::|,|→|->|=>))\s*(?:{_GO}\s+)?{_TARGET}\s*\.?\s*$"
)
_NEXT = _pattern(rf"{_MARK}(?:then\s+|next:\s*)?(?:{_GO}\s+)?{_TARGET}\s*\.?\s*$")
_END = _pattern(rf"{_MARK}(?:end|done|stop)(?: here)?\s*\.?\s*$")
_COMMAND = _pattern(r"\s*\$ ?(?P<line>.*)$")
_CONTINUED = _pattern(r"\s*> ?(?P<line>.*)$")
_EXPECTED = _pattern(r"\s*\| ?(?P<line>.*)$")
_NOTE = _pattern(rf"{_MARK}note:\s*(?P<note>.*\S)\s*$")
_STEP_REMARKS = {
    name: _pattern(rf"{_MARK}{name.replace('_', ' ')}:\s*(?P<said>.*\S)\s*$")
    for name in ("not_sure", "settled", "settled_by")
}
"""Patterns of the remark lines below a step."""
_EFFECT = _pattern(r"\s*! (?:changes something|may change something|destroys)\b.*$")
_INLINE = _pattern(rf"\b(?:if\s+(?P<condition>[^,.:;]+),\s*)?{_GO}\s+{_TARGET}")


def to_text(workflow: Workflow) -> str:
    """Write the steps numbered in reading order, without citations."""
    numbers = {step.id: number for number, step in enumerate(workflow.steps, 1)}
    lines = [f"Workflow: {squeeze(workflow.title)}", ""] if workflow.title.strip() else []
    for step in workflow.steps:
        number = numbers[step.id]
        indent = " " * len(f"{number}. ")
        lines.append(f"{number}. {squeeze(step.text)}".rstrip())
        for command in step.commands:
            words = effect_of(command).words
            lines += [f"{indent}! {words}"] if words else []
            first, *others = command.split("\n")
            lines += [f"{indent}$ {first}", *(f"{indent}> {line}" for line in others)]
        lines += [f"{indent}| {line}" for line in step.expected.split("\n") if step.expected]
        lines += [f"{indent}Note: {squeeze(note)}" for note in step.notes if note.strip()]
        lines += [f"{indent}Not sure: {squeeze(step.doubt)}"] if step.doubt.strip() else []
        lines += [f"{indent}Settled: {squeeze(step.settled)}"] if step.settled.strip() else []
        if step.settled and step.settled_by.strip():
            lines.append(f"{indent}Settled by: {squeeze(step.settled_by)}")
        lines += [f"{indent}{line}" for line in _exit_lines(workflow, step, numbers)]
    return "\n".join(lines) + "\n"


def _exit_lines(workflow: Workflow, step: Step, numbers: dict[str, int]) -> list[str]:
    exits = workflow.exits(step.id)
    if not exits:
        return ["End."]
    follows = numbers[exits[0].target] == numbers[step.id] + 1
    is_plain = len(exits) == 1 and step.kind is StepKind.PROCESS and not exits[0].condition
    if is_plain and follows and not _INLINE.search(step.text):
        return []
    return [
        f"If {squeeze(edge.condition)}: go to step {numbers[edge.target]}."
        if edge.condition.strip()
        else f"{'Go' if is_plain else 'Otherwise: go'} to step {numbers[edge.target]}."
        for edge in exits
    ]


@dataclass
class _StepDraft:
    """A step while its lines are being read; targets are still numbers."""

    number: int
    text: str
    commands: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    remarks: dict[str, str] = field(default_factory=dict)
    exits: list[tuple[int, str]] = field(default_factory=list)
    ends: bool = False


def from_text(text: str) -> Workflow:
    """Parse the text that `to_text` writes, and people's numbered lists in the same style.

    Understood are `If …: go to step N`, `Otherwise …`, `Go to step N`, `End.`, commands after
    `$` and expected output after `|`, each on its own line below a step; without any of them,
    `if …, go to step N` inside its sentence. A step with two exits is a decision, one without an
    exit a terminal.

    Raises:
        TextError: No numbered step, or a step that goes to an unknown number.
    """
    title, drafts = _drafts(text)
    if not drafts:
        raise TextError(f"expected numbered steps (`1. …`), got {text.strip()[:80]!r}")
    numbers = {draft.number for draft in drafts}
    transitions = []
    for draft, following in zip(drafts, [*drafts[1:], None], strict=True):
        for target, condition in _exits(draft, following):
            if target not in numbers:
                raise TextError(f"step {draft.number} goes to step {target}, which is not there")
            transitions.append(
                Transition(source=str(draft.number), target=str(target), condition=condition)
            )
    return Workflow(
        title=title,
        steps=tuple(_step(draft, transitions) for draft in drafts),
        transitions=tuple(transitions),
    )


def _drafts(text: str) -> tuple[str, list[_StepDraft]]:
    title = ""
    drafts: list[_StepDraft] = []
    indent = 0
    for line in text.replace("\r\n", "\n").split("\n"):
        started = _STEP.match(line)
        if started and (not drafts or len(started["indent"]) <= indent):
            indent = len(started["indent"])
            drafts.append(_StepDraft(int(started["number"]), (started["text"] or "").strip()))
        elif _EFFECT.match(line):
            continue
        elif drafts:
            _read_line(drafts[-1], line)
        elif not title and (match := _TITLE.fullmatch(line)):
            title = match["title"]
    return title, drafts


def _read_line(draft: _StepDraft, line: str) -> None:
    """Read a line below a step: part of its commands, output or exits, or else of its text."""
    words = squeeze(line)
    remarks = {name: pattern.match(words) for name, pattern in _STEP_REMARKS.items()}
    if note := _NOTE.match(words):
        draft.notes.append(note["note"])
    elif any(remarks.values()):
        draft.remarks |= {name: match["said"] for name, match in remarks.items() if match}
    elif branch := _BRANCH.match(words):
        draft.exits.append((int(branch["target"]), (branch["condition"] or "").strip()))
    elif onward := _NEXT.match(words):
        draft.exits.append((int(onward["target"]), ""))
    elif _END.match(words):
        draft.ends = True
    elif command := _COMMAND.match(line):
        draft.commands.append(command["line"])
    elif draft.commands and (continued := _CONTINUED.match(line)):
        draft.commands[-1] += f"\n{continued['line']}"
    elif expected := _EXPECTED.match(line):
        draft.expected.append(expected["line"])
    elif words:
        draft.text = f"{draft.text} {words}".strip()


def _exits(draft: _StepDraft, following: _StepDraft | None) -> list[tuple[int, str]]:
    onward = [] if draft.ends or following is None else [(following.number, "")]
    if draft.exits or draft.ends:
        return draft.exits
    inline = [
        (int(match["target"]), (match["condition"] or "").strip())
        for match in _INLINE.finditer(draft.text)
    ]
    if inline and all(condition for _, condition in inline):
        return inline + [exit_ for exit_ in onward if exit_[0] not in dict(inline)]
    return inline or onward


def _step(draft: _StepDraft, transitions: list[Transition]) -> Step:
    exits = sum(transition.source == str(draft.number) for transition in transitions)
    kinds = (StepKind.TERMINAL, StepKind.PROCESS, StepKind.DECISION)
    return Step(
        id=str(draft.number),
        kind=kinds[min(exits, 2)],
        text=draft.text,
        commands=tuple(draft.commands),
        expected="\n".join(draft.expected),
        notes=tuple(draft.notes),
        doubt=draft.remarks.get("not_sure", ""),
        settled=draft.remarks.get("settled", ""),
        settled_by=draft.remarks.get("settled_by", ""),
    )
