"""Commands of steps that a model read: taken from the lines it cites, never from what it writes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.knowledge.page.block import BlockKind, Page, codes
from services.knowledge.page.parsing import parse_page
from services.procedure.model import Arm, Body, Do, LineRange, Node, Procedure
from services.procedure.program.changing import with_bodies, with_changed
from services.workflow.page_code import CodeUse, PageCode, code_parts, inline_commands, is_output

_LONGEST_EXPECTED = 600
"""Characters; more does not help to compare."""


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
    shown = list(_shown(parse_page(text)))
    return tuple(_Filling(shown).done(procedure) for procedure in procedures)


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


def _shown(page: Page) -> Iterator[_Shown]:
    before = ""
    for block in (place.block for place in page.places()):
        announces = before
        before = "" if block.kind is BlockKind.HEADING else block.text
        if block.kind is BlockKind.CODE:
            code = PageCode(block.verbatim, block.language)
            parts = code_parts(code, announces)
            commands = tuple(part.text for part in parts if part.use is CodeUse.COMMAND)
            is_told = bool(commands) or is_output(code, announces)
            output = [part.text for part in parts if part.use is CodeUse.OUTPUT and is_told]
            expected = "\n".join(output)[:_LONGEST_EXPECTED].rstrip()
            yield _Shown((block.start_line, block.end_line), commands, expected)
        elif block.kind is not BlockKind.HEADING:
            commands = inline_commands(block.text, codes(block.words))
            yield _Shown((block.start_line, block.own_end), commands)
