"""Instructions with the calls that are right for them: of tools, of providers, of flows."""

import ast
import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evaluation.material.composing.importing import from_json, from_keep
from evaluation.material.pairs import PairsError
from services.kit.files import read_json, read_json_lines, read_text
from services.planner.composing.component import Component, ComponentEffect, Components
from services.planner.composing.secrets import without_secrets

Kind = Literal["seal", "keep", "flow create", "flow modify"]
PERSON = ""
"""The component of a step that a person does."""


@dataclass(frozen=True)
class Call:
    """One call, its values as text; a value that an earlier call tells is `@` and its place."""

    component: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    says: str = field(default="", compare=False)
    """Of a person's step: what it tells."""


@dataclass(frozen=True)
class Arms:
    """What is done under conditions, in the order of the arms; the last is `otherwise`."""

    bodies: tuple["Tree", ...]
    otherwise: "Tree | None" = None
    conditions: tuple[str, ...] = field(default=(), compare=False)
    """Of the bodies, as they were written."""


@dataclass(frozen=True)
class Again:
    """What is done more than once."""

    body: "Tree"
    item: str = field(default="", compare=False)


Tree = tuple["Call | Arms | Again", ...]


@dataclass(frozen=True)
class Instruction:
    """A sentence and what is right for it."""

    key: str
    kind: Kind
    text: str
    accepted: tuple[Tree, ...]
    before: Tree = ()
    """Of a change: what is to be changed."""


def calls_of(tree: Tree) -> Iterator[Call]:
    """The calls in the order of the text."""
    for each in tree:
        match each:
            case Call():
                yield each
            case Arms():
                for body in (*each.bodies, each.otherwise or ()):
                    yield from calls_of(body)
            case Again():
                yield from calls_of(each.body)


def skeleton(tree: Tree) -> tuple[object, ...]:
    """Components with what they stand under; the words of conditions do not count."""
    parts: list[object] = []
    for each in tree:
        match each:
            case Call():
                parts.append(each.component)
            case Arms():
                other = None if not each.otherwise else skeleton(each.otherwise)
                parts.append(("if", tuple(map(skeleton, each.bodies)), other))
            case Again():
                parts.append(("again", skeleton(each.body)))
    return tuple(parts)


def read_seal(folder: Path, sample: int, seed: int) -> tuple[list[Instruction], Components]:
    """Of the test split within known fields; all tools are the catalogue."""
    components = Components(from_json(_lines(folder / "tool.jsonl"), "seal-tools"))
    rows = _drawn(list(_lines(folder / "test_in_domain.jsonl")), sample, seed)
    return [_seal(row) for row in rows], components


def read_keep(folder: Path, sample: int, seed: int) -> tuple[list[Instruction], Components]:
    """Workflows that do something, over all providers.

    A provider that a workflow uses and no page describes is known by its name alone.
    """
    rows = [row for row in _lines(folder / "workflows.jsonl") if row["steps"] or row["actions"]]
    pages = {_slug(path): read_text(path) for path in (folder / "providers").glob("*.mdx")}
    components = []
    for path in sorted((folder / "providers" / "snippets").glob("*.mdx")):
        made = from_keep(read_text(path), pages.get(_slug(path), ""))
        components += [made] if made else []
    names = {each.name for each in components}
    used = dict.fromkeys(step["component"] for row in rows for step in _steps(row))
    components += [
        Component(name=name, description=name, effect=ComponentEffect.CHANGE, source="keep")
        for name in used
        if name not in names
    ]
    return [_keep(row) for row in _drawn(rows, sample, seed)], Components(components)


def read_flows(folder: Path) -> tuple[list[Instruction], Components]:
    """All instructions, those that create and those that change."""
    catalogue = read_json(folder / "catalog.json", list[dict[str, Any]])
    components = Components(from_json(catalogue, "flow-bench"))
    return [_flow(row) for row in _lines(folder / "instructions.jsonl")], components


def _seal(row: Mapping[str, Any]) -> Instruction:
    places: dict[str, int] = {}
    calls: list[Call] = []
    for place, each in enumerate(row["calling"]):
        values = {
            name: f"@{places[text]}" if text in places else text
            for name, value in each["parameters"].items()
            for text in [_text(value)]
        }
        calls.append(Call(each["api"], values))
        places |= dict.fromkeys(each["responses"], place)
    return _instruction("seal", row["id"], row["query"], (tuple(calls),))


def _keep(row: Mapping[str, Any]) -> Instruction:
    calls = tuple(
        Call(step["component"], {n: _text(v) for n, v in (step["with"] or {}).items()})
        for step in _steps(row)
    )
    return _instruction("keep", row["id"], row["instruction"], (calls,))


def _flow(row: Mapping[str, Any]) -> Instruction:
    kind: Kind = "flow modify" if row["kind"] == "modify" else "flow create"
    before = row["before"][0] if row["before"] else ""
    accepted = tuple(tree_of_python(source) for source in row["expected"])
    return _instruction(kind, row["id"], row["instruction"], accepted, tree_of_python(before))


def _instruction(
    kind: Kind, id_: object, text: str, accepted: tuple[Tree, ...], before: Tree = ()
) -> Instruction:
    key = hashlib.sha256(f"{kind.split()[0]}/{id_}".encode()).hexdigest()[:12]
    return Instruction(key, kind, without_secrets(" ".join(text.split())), accepted, before)


def tree_of_python(source: str) -> Tree:
    """A flow that is written in the part of Python that flow-bench uses.

    Raises:
        PairsError: It is written in another part.
    """
    return _body(ast.parse(source).body)


def _body(statements: Sequence[ast.stmt]) -> Tree:
    return tuple(made for each in statements if (made := _statement(each)) is not None)


def _statement(statement: ast.stmt) -> "Call | Arms | Again | None":
    match statement:
        case ast.For():
            each = f"{ast.unparse(statement.target)} in {ast.unparse(statement.iter)}"
            return Again(_body(statement.body), each)
        case ast.While():
            return Again(_body(statement.body), ast.unparse(statement.test))
        case ast.If():
            return _arms(statement)
        case ast.Assign(value=ast.Call() as call) | ast.Expr(value=ast.Call() as call):
            name = ast.unparse(call.func)
            if name != "user_task":
                return Call(name)
            return Call(PERSON, says=" ".join(str(ast.literal_eval(each)) for each in call.args))
        case ast.Pass() | ast.Assign():
            return None
    raise PairsError(f"a flow has a {type(statement).__name__}")


def _arms(statement: ast.If) -> Arms:
    bodies, other = [_body(statement.body)], statement.orelse
    conditions = [ast.unparse(statement.test)]
    while len(other) == 1 and isinstance(other[0], ast.If):
        bodies.append(_body(other[0].body))
        conditions.append(ast.unparse(other[0].test))
        other = other[0].orelse
    return Arms(tuple(bodies), _body(other) if other else None, tuple(conditions))


def _steps(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*row["steps"], *row["actions"]]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_text(each)}" for name, each in value.items())
    return str(value)


def _slug(path: Path) -> str:
    return (
        path.stem.replace("-provider", "")
        .replace("_provider", "")
        .removesuffix("-snippet-autogenerated")
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return (row for _place, row in read_json_lines(path, dict[str, Any]))


def _drawn(rows: list[dict[str, Any]], sample: int, seed: int) -> list[dict[str, Any]]:
    if not 0 < sample < len(rows):
        return rows
    drawn = set(random.Random(seed).sample(range(len(rows)), sample))  # noqa: S311
    return [row for place, row in enumerate(rows) if place in drawn]
