"""Where everything of a procedure stands, and the procedure with some of it changed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from services.procedure.editing.errors import UnknownNodeError, UnknownPlaceError
from services.procedure.model import (
    ESCALATION,
    START,
    VERIFICATION,
    Arm,
    Body,
    Choice,
    Jump,
    Loop,
    Node,
    Procedure,
)

OTHERWISE = ".otherwise"
"""Behind the id of a choice: the body that is done when none of its arms is."""
_MOST_NAMED = 40
_MAIN = frozenset({"steps", "start", "main", "body"})

ChangeBody = Callable[[str, Body], Body]
ChangeNode = Callable[[Node], Body]
ChangeArm = Callable[[Arm], tuple[Arm, ...]]


@dataclass(frozen=True)
class Found:
    """A node or arm and where it stands."""

    thing: Node | Arm
    body: str
    """The name of the body that a node is in; of an arm, the id of its choice."""
    at: int
    """Its place there, from 0."""
    above: tuple[str, ...]
    """Ids of the nodes and arms that it is below, the outermost first."""


@dataclass
class Outline:
    """All nodes and arms by id, all bodies by name."""

    procedure: Procedure
    found: dict[str, Found] = field(default_factory=dict)
    """In the order of the text."""
    bodies: dict[str, Body] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, body in self.procedure.bodies.items():
            self._add(name, body, ())

    def _add(self, name: str, body: Body, above: tuple[str, ...]) -> None:
        self.bodies[name] = body
        for at, node in enumerate(body):
            self.found[node.id] = Found(node, name, at, above)
            inside = (*above, node.id)
            if isinstance(node, Loop):
                self._add(node.id, node.body, inside)
            elif isinstance(node, Choice):
                for place, arm in enumerate(node.arms):
                    self.found[arm.id] = Found(arm, node.id, place, inside)
                    self._add(arm.id, arm.body, (*inside, arm.id))
                self._add(f"{node.id}{OTHERWISE}", node.otherwise or (), inside)

    def __getitem__(self, ref: str) -> Found:
        """What has this id, whatever the case.

        Raises:
            UnknownNodeError: Nothing has.
        """
        found = self._named(ref)
        if found is None:
            known = ", ".join(list(self.found)[:_MOST_NAMED])
            raise UnknownNodeError(f"the procedure has no node {ref[:80]!r}; it has {known}")
        return found

    def _named(self, ref: str) -> Found | None:
        if ref in self.found:
            return self.found[ref]
        alike = [id_ for id_ in self.found if id_.casefold() == ref.casefold()]
        return self.found[alike[0]] if len(alike) == 1 else None

    def node(self, ref: str) -> Found:
        """The node of this id; of the only arm of a choice, that choice.

        Raises:
            UnknownNodeError: There is none.
            UnknownPlaceError: It is one of several arms.
        """
        found = self[ref]
        if not isinstance(found.thing, Arm):
            return found
        choice = self.choice_of(found)
        if len(choice.arms) > 1:
            raise UnknownPlaceError(
                f"{found.thing.id} is one of the answers of the choice {choice.id}: name that, or "
                "a step"
            )
        return self.found[choice.id]

    def choice_of(self, found: Found) -> Choice:
        """The choice of an arm."""
        choice = self.found[found.body].thing
        if not isinstance(choice, Choice):
            raise TypeError(f"{found.body} is no choice")
        return choice

    def body(self, ref: str) -> str:
        """The name of the body that is meant.

        Raises:
            UnknownPlaceError: None is, or one of several.
        """
        if ref in self.bodies:
            return ref
        if ref.casefold() in _MAIN:
            return START
        lower = {name.casefold(): name for name in self.bodies}
        if ref.casefold() in lower:
            return lower[ref.casefold()]
        of, dot, rest = ref.rpartition(".")
        if dot and rest.casefold() == OTHERWISE[1:] and (found := self._named(of)) is not None:
            choice = found.body if isinstance(found.thing, Arm) else found.thing.id
            if f"{choice}{OTHERWISE}" in self.bodies:
                return f"{choice}{OTHERWISE}"
        found = self._named(ref)
        if found is None:
            raise UnknownPlaceError(
                f"{ref[:80]!r} is no body: name steps, verification, escalation, a part "
                f"({', '.join(self.procedure.parts) or 'it has none'}), an arm, a loop, or "
                f"a choice with {OTHERWISE} behind it"
            )
        return self._below(found)

    @staticmethod
    def _below(found: Found) -> str:
        if isinstance(found.thing, Choice) and len(found.thing.arms) == 1:
            return found.thing.arms[0].id
        if isinstance(found.thing, Arm | Loop):
            return found.thing.id
        if isinstance(found.thing, Choice):
            arms = ", ".join(arm.id for arm in found.thing.arms)
            raise UnknownPlaceError(f"{found.thing.id} has several answers: name one of {arms}")
        raise UnknownPlaceError(f"{found.thing.id} is a step: nothing can stand below it")

    def target(self, ref: str) -> str:
        """Where a jump goes on: the id of something, or the name of a body that has steps."""
        found = self._named(ref)
        if found is not None:
            return found.thing.id
        name = START if ref.casefold() in _MAIN else ref
        return next((each for each in self.targets if each.casefold() == name.casefold()), ref)

    @property
    def targets(self) -> set[str]:
        """All that a jump may lead to."""
        named = {name for name, body in self.procedure.bodies.items() if body}
        return {*self.found, START, *named}

    def is_below(self, body: str, id_: str) -> bool:
        """Whether a body is below the node or arm of this id."""
        owner = body.removesuffix(OTHERWISE)
        return owner == id_ or (owner in self.found and id_ in self.found[owner].above)

    def jumps(self) -> Iterator[Jump]:
        """All jumps."""
        return (found.thing for found in self.found.values() if isinstance(found.thing, Jump))


def _same_body(_name: str, body: Body) -> Body:
    return body


def _same_node(node: Node) -> Body:
    return (node,)


def _same_arm(arm: Arm) -> tuple[Arm, ...]:
    return (arm,)


def rewritten(
    procedure: Procedure,
    *,
    body: ChangeBody = _same_body,
    node: ChangeNode = _same_node,
    arm: ChangeArm = _same_arm,
) -> Procedure:
    """The procedure with each body, node and arm changed, what is below before what is above.

    A loop or part in which nothing is left goes; an `otherwise` in which something is put comes.
    """
    rewriting = _Rewriting(body, node, arm)
    parts = {
        name: changed
        for name, given in procedure.parts.items()
        if (changed := rewriting.body(name, given)) or not given
    }
    return procedure.model_copy(
        update={
            "body": rewriting.body(START, procedure.body),
            "verification": rewriting.body(VERIFICATION, procedure.verification),
            "escalation": rewriting.body(ESCALATION, procedure.escalation),
            "parts": parts,
        }
    )


@dataclass(frozen=True)
class _Rewriting:
    change_body: ChangeBody
    change_node: ChangeNode
    change_arm: ChangeArm

    def body(self, name: str, given: Body) -> Body:
        kept = tuple(new for node in given for new in self._node(node))
        return self.change_body(name, kept)

    def _node(self, node: Node) -> Body:
        if isinstance(node, Loop):
            inside = self.body(node.id, node.body)
            if not inside:
                return ()
            return self.change_node(node.model_copy(update={"body": inside}))
        if not isinstance(node, Choice):
            return self.change_node(node)
        arms = tuple(
            new
            for arm in node.arms
            for new in self.change_arm(arm.model_copy(update={"body": self.body(arm.id, arm.body)}))
        )
        otherwise: Body | None = self.body(f"{node.id}{OTHERWISE}", node.otherwise or ())
        if not otherwise and node.otherwise is None:
            otherwise = None
        update = {"arms": arms, "otherwise": otherwise}
        return self.change_node(node.model_copy(update=update))
