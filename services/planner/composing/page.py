"""A composition as a page: lines of Markdown, and the procedure that cites them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.contracts.composing import ComposedCall, ComposedValue, ValueOrigin
from services.procedure.editing.words import ENDS
from services.procedure.model import (
    All,
    Arm,
    Body,
    Choice,
    Do,
    End,
    Guard,
    Jump,
    LineRange,
    Loop,
    Mode,
    Node,
    Not,
    Outcome,
    Procedure,
    Remark,
    Some,
    State,
)

_INDENT = "   "


def written(
    title: str, said: Sequence[str], procedure: Procedure, calls: Sequence[ComposedCall]
) -> tuple[str, Procedure]:
    """The page, and the procedure with the lines of each node and the call of each step."""
    page = _Page({call.step: call for call in calls})
    page.add(f"# {_line(title)}")
    page.add("")
    page.add("Composed from what was asked for:")
    page.add("")
    for each in said:
        page.add(f"> {_line(each)}")
        page.add(">")
    if said:
        page.lines.pop()
        page.add("")
    heading = page.add("## Steps")
    page.add("")
    body = page.body(procedure.body, 0)
    text = "\n".join(page.lines) + "\n"
    update = {"title": title, "treats": title, "body": body, "lines": ((heading, page.last),)}
    return text, procedure.model_copy(update=update)


def called(call: ComposedCall) -> str:
    """The call in a line: the component and its parameters; empty where a person does it."""
    if not call.component:
        return ""
    told = ", ".join(f"{name}={shown_value(name, v)}" for name, v in call.parameters.items())
    return f"{call.component}: {told}" if told else call.component


def shown_value(name: str, value: ComposedValue) -> str:
    """A value as people read it; what nobody has written down is a placeholder."""
    if value.origin is ValueOrigin.PERSON:
        return value.value or f"<{name}>"
    if value.origin is ValueOrigin.LABEL:
        return f"<{value.value}>"
    if value.origin is ValueOrigin.FIELD:
        return f"[{value.value}]"
    told = _line(value.value)
    return f'"{told}"' if " " in told or "," in told else told


@dataclass
class _Page:
    calls: Mapping[str, ComposedCall]
    lines: list[str] = field(default_factory=list)

    @property
    def last(self) -> int:
        return len(self.lines)

    def add(self, line: str) -> int:
        """The number of the line."""
        self.lines.append(line)
        return len(self.lines)

    def body(self, body: Body, depth: int) -> Body:
        return tuple(self._node(node, place, depth) for place, node in enumerate(body, start=1))

    def _node(self, node: Node, place: int, depth: int) -> Node:
        begins = f"{_INDENT * depth}{place}. "
        match node:
            case Do():
                return self._step(node, begins)
            case Choice():
                return self._choice(node, begins, depth)
            case Loop():
                return self._loop(node, begins, depth)
            case End():
                at = self.add(f"{begins}{_line(node.text) or f'The path {ENDS[node.kind]}'}.")
            case Jump():
                at = self.add(f"{begins}Go on at {_line(node.target)}.")
            case Remark():
                at = self.add(f"{begins}Note: {_line(node.text)}")
        return node.model_copy(update={"lines": ((at, at),)})

    def _step(self, node: Do, begins: str) -> Do:
        call = self.calls.get(node.id)
        does = _line(call.does if call else node.text).rstrip(".")
        by = called(call) if call else ""
        text = f"{does} ({by})" if by else does
        at = self.add(f"{begins}{text}.")
        return node.model_copy(update={"text": text, "lines": ((at, at),)})

    def _choice(self, node: Choice, begins: str, depth: int) -> Choice:
        alone = len(node.arms) == 1 and not node.question and node.mode is Mode.EXCLUSIVE
        arms: list[Arm] = []
        if alone:
            at = self.add(f"{begins}{_asked(node.arms[0].guard)}")
            arms.append(self._arm(node.arms[0], (at, at), depth))
        else:
            at = self.add(f"{begins}{_line(node.question) or _HEADS[node.mode]}")
            for arm in node.arms:
                told = _plain(arm.guard) if node.question else _asked(arm.guard)
                line = self.add(f"{_INDENT * (depth + 1)}- {told}")
                arms.append(self._arm(arm, (line, line), depth + 1))
        otherwise = node.otherwise
        if otherwise is not None:
            self.add(
                f"{_INDENT * (depth + (0 if alone else 1))}{'  ' if alone else '- '}Otherwise:"
            )
            otherwise = self.body(otherwise, depth + (1 if alone else 2))
        update = {"arms": tuple(arms), "otherwise": otherwise, "lines": ((at, at),)}
        return node.model_copy(update=update)

    def _arm(self, arm: Arm, line: LineRange, depth: int) -> Arm:
        return arm.model_copy(update={"lines": (line,), "body": self.body(arm.body, depth + 1)})

    def _loop(self, node: Loop, begins: str, depth: int) -> Loop:
        at = self.add(f"{begins}Again and again, until the answer is yes: {_plain(node.until)}")
        body = self.body(node.body, depth + 1)
        return node.model_copy(update={"body": body, "lines": ((at, at),)})


_HEADS: Mapping[Mode, str] = {
    Mode.EXCLUSIVE: "The first of these that holds:",
    Mode.IN_ORDER: "One after the other, until one has helped:",
    Mode.ANY: "Each of these that holds:",
    Mode.FREE: "One of these, as you choose:",
}


def _asked(guard: Guard | None) -> str:
    if guard is None:
        return "In any case:"
    question = _plain(guard)
    return f"{question} If so:" if question.endswith("?") else f"If {question}:"


def _plain(guard: Guard | None) -> str:
    match guard:
        case State() | Outcome():
            return _line(guard.text)
        case Not():
            return f"not: {_plain(guard.guard)}"
        case All():
            return " and ".join(map(_plain, guard.guards))
        case Some():
            return " or ".join(map(_plain, guard.guards))
    return "always"


def _line(text: str) -> str:
    return " ".join(text.split())
