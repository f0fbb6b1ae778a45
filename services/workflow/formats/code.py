"""A workflow as Python-style pseudo-code, one of FlowBench's three forms of workflow knowledge.

One function per action, each ending in the call of what comes next:

    def check_fans():
        "Check the fan tray."
        run("show environment fan")
        return any_fan_failed()

    def any_fan_failed():
        "Has any fan failed?"
        if answer == "yes":
            return replace_fan_tray()
        elif answer == "no":
            return close()

    def close():
        "The alarm is gone."
        return END
"""

import ast
import json
import keyword
import re
from collections.abc import Iterator

from services.kit.errors import InvalidInputError
from services.workflow.model import Step, StepKind, Transition, Workflow


class CodeError(InvalidInputError):
    """Text that is no Python, or no workflow in the form described above."""


_AS_IT_IS = "the boxes of a page in its order; nobody has checked its decisions"
_NAMES_IN_USE = frozenset({"run", "expect", "answer", "END"})


def to_code(workflow: Workflow) -> str:
    """Write functions in reading order, named after the step ids, without citations."""
    names = _function_names(workflow)
    parts = [_literal(workflow.title)] if workflow.title else []
    parts += [f"# {workflow.kind.value}: {_AS_IT_IS}"] if workflow.is_checklist else []
    parts += ["\n".join(_function(step, workflow, names)) for step in workflow.steps]
    return "\n\n\n".join(parts) + "\n"


def _function(step: Step, workflow: Workflow, names: dict[str, str]) -> Iterator[str]:
    yield f"def {names[step.id]}():"
    yield f"    {_literal(step.text)}"
    for command in step.commands:
        yield f"    run({_literal(command)})"
    if step.expected:
        yield f"    expect({_literal(step.expected)})"
    remarks = [f"note: {note}" for note in step.notes]
    remarks += [f"not sure: {step.doubt}"] if step.doubt else []
    remarks += [f"settled: {step.settled}. {step.settled_by}"] if step.settled else []
    yield from (f"    # {' '.join(remark.split())}" for remark in remarks)
    exits = workflow.exits(step.id)
    word = "if"
    for edge in exits:
        if edge.condition:
            yield f"    {word} answer == {_literal(edge.condition)}:"
            yield f"        return {names[edge.target]}()"
            word = "elif"
    for edge in exits:
        if not edge.condition:
            yield f"    return {names[edge.target]}()"
    if step.kind is StepKind.TERMINAL:
        yield "    return END"


def _literal(text: str) -> str:
    """Write a Python string on one line; JSON's escapes are Python's."""
    return json.dumps(text, ensure_ascii=False)


def _function_names(workflow: Workflow) -> dict[str, str]:
    """Return unique identifiers by step id; an id that is one already is kept."""
    names: dict[str, str] = {}
    taken = set(_NAMES_IN_USE)
    for step in sorted(workflow.steps, key=lambda step: not _is_name(step.id)):
        stem = step.id
        if not _is_name(step.id):
            words = re.sub(r"\W+", "_", step.id, flags=re.ASCII).strip("_")
            stem = f"step_{words}" if words else "step"
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}_{number}", number + 1
        names[step.id] = name
        taken.add(name)
    return names


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text)


def from_code(text: str) -> Workflow:
    """Parse the text that `to_code` writes, without running it.

    A function with an `if` is a decision. `return f()` after the `if`, or in its `else`, is the
    exit without a condition; `return END`, or nothing, ends.

    Raises:
        CodeError: Not Python, no function, or a call of a function that is not there.
    """
    module = _parse(text)
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    if not functions:
        raise CodeError("expected a function per step, got none")
    transitions = tuple(
        Transition(source=function.name, target=target, condition=condition)
        for function in functions
        for condition, statement in _branches(function.body)
        if (target := _call_target(statement))
    )
    names = {function.name for function in functions}
    for edge in transitions:
        if edge.target not in names:
            raise CodeError(f"{edge.source}() goes to {edge.target}(), which is not there")
    if len(names) < len(functions):
        raise CodeError("expected a name per function, got one name twice")
    return Workflow(
        title=ast.get_docstring(module, clean=False) or "",
        steps=tuple(_step(function, transitions) for function in functions),
        transitions=transitions,
    )


def _parse(text: str) -> ast.Module:
    fenced = re.search(r"^```(?:python|py)?[ \t]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    try:
        return ast.parse(fenced[1] if fenced else text)
    except SyntaxError as error:
        line = (error.text or "").strip()[:120]
        raise CodeError(f"line {error.lineno}: expected Python, got {line!r}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise CodeError(f"expected Python, but it cannot be parsed: {error}") from error


def _branches(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the statements of a function with their conditions."""
    waiting = [("", statement) for statement in body]
    while waiting:
        condition, statement = waiting.pop(0)
        if isinstance(statement, ast.If):
            inner = [(_condition(statement.test), child) for child in statement.body]
            waiting = inner + [("", child) for child in statement.orelse] + waiting
        else:
            yield condition, statement


def _condition(test: ast.expr) -> str:
    """Return the string an answer is compared with; any other test as written."""
    if isinstance(test, ast.Compare) and len(test.comparators) == 1:
        value = test.comparators[0]
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return ast.unparse(test)


def _call_target(statement: ast.stmt) -> str:
    """Return the name of the function that a `return` calls."""
    call = statement.value if isinstance(statement, ast.Return) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
        return call.func.id
    return ""


def _step(function: ast.FunctionDef, transitions: tuple[Transition, ...]) -> Step:
    returned = [each.value for _, each in _branches(function.body) if isinstance(each, ast.Return)]
    kind = StepKind.PROCESS
    if any(edge.condition for edge in transitions if edge.source == function.name):
        kind = StepKind.DECISION
    elif any(isinstance(value, ast.Name) and value.id == "END" for value in returned):
        kind = StepKind.TERMINAL
    text = ast.get_docstring(function, clean=False)
    return Step(
        id=function.name,
        kind=kind,
        text=function.name.replace("_", " ") if text is None else text,
        commands=tuple(_arguments(function, "run")),
        expected="\n".join(_arguments(function, "expect")),
    )


def _arguments(function: ast.FunctionDef, name: str) -> Iterator[str]:
    """Yield the string arguments of each call of `name`, in order."""
    for _, statement in _branches(function.body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name:
            for argument in call.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value
