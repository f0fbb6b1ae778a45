"""The steps of a procedure as Markdown: a numbered list, nested under its conditions."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.runbook.model import (
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
    Remark,
)
from services.runbook.words import guard_in_words, text_of

_INDENT = "   "
_HEADS: Mapping[Mode, str] = {
    Mode.EXCLUSIVE: "The first of these that holds:",
    Mode.IN_ORDER: "One after the other, until one has helped:",
    Mode.ANY: "Each of these that holds:",
    Mode.FREE: "One of these, as you choose:",
    Mode.SEVERAL: "One or more of these, as you choose:",
}


def write_steps(body: Body, lines: list[str]) -> Body:
    """Append a body to the lines of a page; return it with each node citing its line."""
    return _StepsWriter(lines).body(body, 0)


@dataclass(frozen=True)
class _StepsWriter:
    lines: list[str]

    def add(self, line: str) -> int:
        """Add a line and return its number."""
        self.lines.append(line)
        return len(self.lines)

    def body(self, body: Body, depth: int) -> Body:
        return tuple(self._node(node, place, depth) for place, node in enumerate(body, start=1))

    def _node(self, node: Node, place: int, depth: int) -> Node:
        begins = f"{_INDENT * depth}{place}. "
        match node:
            case Do():
                at = self.add(f"{begins}{_line(node.text).rstrip('.')}.")
            case Choice():
                return self._choice(node, begins, depth)
            case Loop():
                until = _plain(node.until)
                at = self.add(f"{begins}Again and again, until the answer is yes: {until}")
                node = node.model_copy(update={"body": self.body(node.body, depth + 1)})
            case End() | Jump():
                at = self.add(f"{begins}{_line(text_of(node))}.")
            case Remark():
                at = self.add(f"{begins}Note: {_line(node.text)}")
        return node.model_copy(update={"lines": ((at, at),)})

    def _choice(self, node: Choice, begins: str, depth: int) -> Choice:
        is_single = len(node.arms) == 1 and not node.question and node.mode is Mode.EXCLUSIVE
        arms: list[Arm] = []
        if is_single:
            at = self.add(f"{begins}{_guard_heading(node.arms[0].guard)}")
            arms.append(self._arm(node.arms[0], (at, at), depth))
        else:
            at = self.add(f"{begins}{_line(node.question) or _HEADS[node.mode]}")
            for arm in node.arms:
                heading = _plain(arm.guard) if node.question else _guard_heading(arm.guard)
                line = self.add(f"{_INDENT * (depth + 1)}- {heading}")
                arms.append(self._arm(arm, (line, line), depth + 1))
        otherwise = node.otherwise
        if otherwise is not None and is_single:  # the empty line ends the last step
            self.add("")
            self.add(f"{_INDENT * (depth + 1)}Otherwise:")
            otherwise = self.body(otherwise, depth + 1)
        elif otherwise is not None:
            self.add(f"{_INDENT * (depth + 1)}- Otherwise:")
            otherwise = self.body(otherwise, depth + 2)
        update = {"arms": tuple(arms), "otherwise": otherwise, "lines": ((at, at),)}
        return node.model_copy(update=update)

    def _arm(self, arm: Arm, line: LineRange, depth: int) -> Arm:
        return arm.model_copy(update={"lines": (line,), "body": self.body(arm.body, depth + 1)})


def _guard_heading(guard: Guard | None) -> str:
    if guard is None:
        return "In any case:"
    question = _plain(guard)
    return f"{question} If so:" if question.endswith("?") else f"If {question}:"


def _plain(guard: Guard | None) -> str:
    return guard_in_words(guard, quote=_line, negation="not: ")


def _line(text: str) -> str:
    return " ".join(text.split())
