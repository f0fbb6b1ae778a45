"""Commands of steps that a model read: taken from the lines it cites, never from what it writes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.knowledge.document.markdown import Block, BlockKind, parse
from services.procedure.model import Arm, Body, Do, LineRange, Node, Procedure
from services.procedure.page_code import (
    commands_of,
    inline_commands,
    is_output,
    output_below,
    sample_output,
)
from services.procedure.program.changing import with_bodies, with_changed


@dataclass(frozen=True)
class _Shown:
    """What some lines of the page show."""

    lines: LineRange
    commands: tuple[str, ...]
    expected: str = ""


def with_commands(procedures: Sequence[Procedure], text: str) -> tuple[Procedure, ...]:
    """Each action with the commands and the sample output that its lines show.

    What the first of several actions with the same lines has, the others do not repeat.
    """
    shown = [each for section in parse(text).sections for each in _shown(section.blocks)]
    return tuple(_Filling(list(shown)).done(procedure) for procedure in procedures)


class _Filling:
    def __init__(self, shown: list[_Shown]) -> None:
        self._left = shown

    def done(self, procedure: Procedure) -> Procedure:
        return with_changed(procedure, self._body)

    def _body(self, body: Body) -> Body:
        return tuple(self._node(node) for node in body)

    def _node(self, node: Node) -> Node:
        if isinstance(node, Do):
            return self._filled(node)
        return with_bodies(node, self._body, _same)

    def _filled(self, node: Do) -> Do:
        own = [each for each in self._left if _overlap(each.lines, node.lines)]
        self._left = [each for each in self._left if each not in own]
        commands = tuple(dict.fromkeys(command for each in own for command in each.commands))
        expected = next((each.expected for each in own if each.expected), "")
        return node.model_copy(update={"commands": commands, "expected": expected})


def _same(arm: Arm) -> Arm:
    return arm


def _overlap(lines: LineRange, cited: Sequence[LineRange]) -> bool:
    return any(first <= lines[1] and lines[0] <= last for first, last in cited)


def _shown(blocks: Sequence[Block]) -> Iterator[_Shown]:
    before = ""
    for block in blocks:
        lines = (block.start_line, block.end_line)
        if block.kind is BlockKind.CODE:
            is_told = not is_output(block, before)
            commands = commands_of(block) if is_told else ()
            expected = output_below(block) if is_told else sample_output(block)
            yield _Shown(lines, commands, expected)
        elif block.inline_code:
            yield _Shown(lines, inline_commands(block.text, block.inline_code))
        for item in block.items:
            yield from _shown(item.blocks)
        yield from _shown(block.blocks)
        before = block.text if block.kind is BlockKind.PARAGRAPH else ""
