"""A workflow for blind readers: numbered steps with DO, DECIDE and END, and where answers lead."""

from collections.abc import Iterator, Mapping

from services.workflow.effects.effect import effect_of
from services.workflow.model import Step, StepKind, Workflow

_KINDS = {StepKind.PROCESS: "DO", StepKind.DECISION: "DECIDE", StepKind.TERMINAL: "END"}


def to_steps_text(workflow: Workflow, *, has_lines: bool = False) -> str:
    """Return the workflow as a reader judges it; with `has_lines` each step says its sources."""
    numbers = {step.id: number for number, step in enumerate(workflow.steps, start=1)}
    lines = [f"Workflow: {_one_line(workflow.title)}", ""]
    for step in workflow.steps:
        sources = f"  [{_sources(step)}]" if has_lines and step.citations else ""
        number = f"{numbers[step.id]}. "
        lines.append(f"{number}{_KINDS[step.kind]}: {_one_line(step.text)}{sources}")
        beside = [*_beside(step), *_onward(step, workflow, numbers)]
        lines += [f"{' ' * len(number)}{line}" for line in beside]
    return "\n".join(lines) + "\n"


def _beside(step: Step) -> Iterator[str]:
    """Yield notes, commands with what they change, their output, and what is doubted."""
    yield from (f"! {_one_line(note)}" for note in step.notes)
    for command in step.commands:
        if words := effect_of(command).words:
            yield f"! {words}"
        first, *others = command.split("\n")
        yield f"$ {first}"
        yield from (f"  {line}" for line in others)
    yield from (f"| {line}" for line in step.expected.split("\n") if step.expected)
    if step.doubt:
        yield f"(not sure: {_one_line(step.doubt)})"


def _onward(step: Step, workflow: Workflow, numbers: Mapping[str, int]) -> Iterator[str]:
    exits = workflow.exits(step.id)
    if step.kind is StepKind.DECISION:
        for edge in exits:
            yield f"{_one_line(edge.condition) or 'otherwise'} -> go to {numbers[edge.target]}"
    elif [numbers[edge.target] for edge in exits] != [numbers[step.id] + 1]:
        yield from (f"-> go to {numbers[edge.target]}" for edge in exits)


def _sources(step: Step) -> str:
    spans = (f"{first}-{last}" if first < last else f"{first}" for first, last in step.cited_lines)
    return f"lines {', '.join(spans)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
