"""Jumps lead to nodes: whatever a jump or a doubt names gets an id."""

from collections.abc import Callable
from itertools import count, pairwise

from services.knowledge.document.markdown import MarkdownPage, plain
from services.language.sentences import shorten, tidy
from services.procedure.model import Body, Choice, Do, End, Jump, Loop, Node, Procedure, Remark
from services.procedure.rules.doubts import is_doubtful
from services.procedure.rules.polarity import affirmative
from services.procedure.rules.prose import gate

_MOST_WORDS = 25


def settled(procedure: Procedure, page: MarkdownPage) -> Procedure:
    """The procedure with ids at what is named; a jump to nowhere says in words where to go."""
    targets = {node.target for node in procedure.walk() if isinstance(node, Jump)}
    naming = _Naming(page, {target: _first_in(procedure, target) for target in targets})
    names = ("body", "verification", "escalation")
    bodies = {name: naming.going_on(getattr(procedure, name)) for name in names}
    return procedure.model_copy(
        update={
            name: mapped(mapped(body, naming.named), affirmative) for name, body in bodies.items()
        }
    )


class _Naming:
    """Gives ids, each once."""

    def __init__(self, page: MarkdownPage, places: dict[str, int]) -> None:
        self._page = page
        self._places = places
        self._lines = set(places.values()) - {0}
        self._fresh = count(1)

    def going_on(self, body: Body) -> Body:
        """What leads away in the middle of a body is a step: otherwise the rest were never done."""
        told = [node for node in body if not isinstance(node, Remark)]
        steps = {id(node): self._as_step(node, after) for node, after in pairwise(told)}
        return tuple(_inside(steps.get(id(node), node), self.going_on) for node in body)

    def _as_step(self, node: Node, after: Node) -> Node:
        if isinstance(node, Jump):
            return node if self._leads_on(node, after) else self._in_words(node)
        if isinstance(node, Choice) and node.otherwise is None and len(node.arms) == 1:
            arm = node.arms[0]
            if len(arm.body) == 1 and self._leads_on(arm.body[0], after):
                return gate(arm.guard, node.lines) if arm.guard else node
        if isinstance(node, End) and node.lines and node.text:
            return Do(text=node.text, lines=node.lines, commands=node.commands)
        return node

    def _leads_on(self, node: Node, after: Node) -> bool:
        """Whether it leads to what comes next anyway."""
        place = self._places.get(node.target) if isinstance(node, Jump) else None
        return bool(after.lines) and after.lines[0][0] == place

    def named(self, node: Node) -> Node:
        """The node with its id; a remark has none, as nobody can be led to it."""
        if isinstance(node, Remark):
            return node
        if isinstance(node, Jump):
            return self._jump(node)
        line = node.lines[0][0] if node.lines else 0
        if line in self._lines:
            self._lines.discard(line)
            return node.model_copy(update={"id": _id(line)})
        if is_doubtful(node):
            return node.model_copy(update={"id": f"doubt-{next(self._fresh)}"})
        return node.model_copy(update={"id": ""}) if node.id else node

    def _jump(self, jump: Jump) -> Node:
        line = self._places.get(jump.target, 0)
        if line:
            return jump.model_copy(update={"target": _id(line)})
        return self._in_words(jump)

    def _in_words(self, jump: Jump) -> Do:
        said = tidy(plain(self._page.text(*jump.lines[0]))) if jump.lines else ""
        return Do(text=shorten(said or "Go on", words=_MOST_WORDS), lines=jump.lines)


def _id(line: int) -> str:
    return f"line-{line}"


def _first_in(procedure: Procedure, target: str) -> int:
    """The line of the first node within the lines of the target, 0 where there is none."""
    first, last = (int(each) for each in target.split("-"))
    nodes = (each for each in procedure.walk() if not isinstance(each, Jump | Remark))
    starts = (node.lines[0][0] for node in nodes if node.lines)
    return next((line for line in starts if first <= line <= last), 0)


def mapped(body: Body, change: Callable[[Node], Node]) -> Body:
    """The body with each node changed, outer ones first."""
    return tuple(_below(change(node), change) for node in body)


def _below(node: Node, change: Callable[[Node], Node]) -> Node:
    return _inside(node, lambda body: mapped(body, change))


def _inside(node: Node, change: Callable[[Body], Body]) -> Node:
    """The node with each body directly below it changed."""
    if isinstance(node, Loop):
        return node.model_copy(update={"body": change(node.body)})
    if not isinstance(node, Choice):
        return node
    arms = tuple(arm.model_copy(update={"body": change(arm.body)}) for arm in node.arms)
    other = None if node.otherwise is None else change(node.otherwise)
    return node.model_copy(update={"arms": arms, "otherwise": other})
