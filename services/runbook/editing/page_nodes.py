"""Nodes of a procedure at the blocks of its page whose lines they cite."""

from collections.abc import Collection, Iterator
from functools import cached_property

from services.knowledge.page.block import Block, BlockKind, Page, Place
from services.knowledge.page.boxes import last_own_line
from services.runbook.editing.errors import BlockNotFoundError
from services.runbook.editing.outline import Outline
from services.runbook.model import (
    Arm,
    Choice,
    Do,
    End,
    Jump,
    LineRange,
    Loop,
    Node,
    Noted,
    Procedure,
    Remark,
    bodies_of,
)

_KINDS = (Do, Choice, Loop, End, Jump)
"""Kinds of nodes, the one that a block's step is first."""


class PageNodes:
    """The outline of a procedure, looked up by the keys of blocks."""

    def __init__(self, procedure: Procedure, page: Page) -> None:
        """Index the lines of the page; all nodes of the procedure must have ids."""
        self.outline = Outline(procedure)
        self.places = {place.block.key: place for place in page.places()}
        self._key_by_line: dict[int, str] = {}
        for key, place in self.places.items():
            block = place.block
            if block.children and not block.words and block.kind is not BlockKind.ITEM:
                continue
            for line in range(block.start_line, last_own_line(block) + 1):
                if page.lines[line - 1].strip():
                    self._key_by_line[line] = key

    def place(self, key: str) -> Place:
        """Return the place of a block.

        Raises:
            BlockNotFoundError: The page has no block of this key.
        """
        if key not in self.places:
            raise BlockNotFoundError(f"the page has no block {key[:80]!r}, or no longer has it")
        return self.places[key]

    def lines(self, key: str) -> tuple[LineRange, ...]:
        """Return the lines of the block's own words."""
        block = self.place(key).block
        return ((block.start_line, last_own_line(block)),)

    def keys(self, lines: Collection[LineRange]) -> list[str]:
        """Return the keys of the blocks that have these lines, in the order of the lines."""
        numbers = (n for first, last in sorted(lines) for n in range(first, last + 1))
        cited = (self._key_by_line[n] for n in numbers if n in self._key_by_line)
        return list(dict.fromkeys(cited))

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes in the order of the text, arms left out."""
        for location in self.outline.locations.values():
            if not isinstance(location.thing, Arm):
                yield location.thing

    def step(self, key: str) -> Node | None:
        """Return the step of a block; first one that begins there, then one that cites it too."""
        return self._step_by_key.get(key)

    @cached_property
    def _step_by_key(self) -> dict[str, Node]:
        ranked: dict[str, tuple[bool, int, int, Node]] = {}
        for place, node in enumerate(self.nodes()):
            if isinstance(node, Remark):
                continue
            keys = self.keys(node.lines)
            for key in keys:
                rank = (key != keys[0], _KINDS.index(type(node)), place, node)
                ranked[key] = min(ranked.get(key, rank), rank)
        return {key: rank[-1] for key, rank in ranked.items()}

    def questions(self, key: str) -> list[Arm]:
        """Return the arms whose condition, or the question of whose choice, cites the block."""
        return [
            arm
            for node in self.nodes()
            if isinstance(node, Choice)
            for arm in node.arms
            if key in self.keys(arm.lines or node.lines)
        ]

    def noted(self, key: str) -> list[Noted]:
        """Return the nodes in which the block is a note."""
        return [
            node
            for node in self.nodes()
            if isinstance(node, Noted) and any(key in self.keys(n.lines) for n in node.notes)
        ]

    def items(self, key: str) -> list[Block]:
        """Return the items of the list that a block is, leads, or is in.

        Raises:
            BlockNotFoundError: There is no list.
        """
        place = self.place(key)
        around = [*place.parents, place.block]
        lists = [block for block in around if block.kind is BlockKind.LIST]
        if place.block.kind is BlockKind.PARAGRAPH:
            line = place.block.end_line
            behind = (each.block for each in self.places.values())
            following = next((block for block in behind if block.start_line > line), None)
            lists += [following] if following and following.kind is BlockKind.LIST else []
        if not lists or len(lists[-1].children) < 2:
            raise BlockNotFoundError("expected a list with several items, or a block of one")
        return list(lists[-1].children)

    def tops(self, block: Block) -> list[Node]:
        """Return the nodes whose steps all begin in a block or below it, the outermost ones."""
        inside = {each.key for each in block.walk()}
        beginning = {place: pair for key in inside for place, pair in self._beginning.get(key, ())}
        tops: dict[str, Node] = {}
        for _, (node, keys) in sorted(beginning.items()):
            above = self.outline.locations[node.id].above
            if keys <= inside and tops.keys().isdisjoint(above):
                tops[node.id] = node
        return list(tops.values())

    @cached_property
    def _beginning(self) -> dict[str, list[tuple[int, tuple[Node, frozenset[str]]]]]:
        """Nodes with a step that begins in a block, by its key, and all blocks of their steps."""
        beginning: dict[str, list[tuple[int, tuple[Node, frozenset[str]]]]] = {}
        for place, node in enumerate(self.nodes()):
            below = [node, *(each for each in walk_below(node) if not isinstance(each, Arm))]
            leaves: list[Node] = [each for each in below if isinstance(each, Do | End)]
            # The steps of a node without lines begin nowhere, so no block has all of them.
            keys = frozenset(next(iter(self.keys(each.lines)), "") for each in leaves or [node])
            for key in keys:
                beginning.setdefault(key, []).append((place, (node, keys)))
        return beginning


def walk_below(node: Node) -> Iterator[Node | Arm]:
    """Yield the arms and nodes below a node."""
    if isinstance(node, Choice):
        yield from node.arms
    for body in bodies_of(node):
        for each in body:
            yield each
            yield from walk_below(each)
