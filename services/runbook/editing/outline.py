"""Outline of a procedure, by ids and bodies."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from services.runbook.editing.errors import UnknownNodeError, UnknownPlaceError
from services.runbook.model import (
    OTHERWISE,
    START,
    Arm,
    Body,
    Choice,
    Jump,
    Loop,
    Node,
    Procedure,
)

_MOST_NAMED = 40
_MAIN = frozenset({"steps", "start", "main", "body"})


@dataclass(frozen=True)
class Location:
    """A node or arm with its place in the procedure."""

    thing: Node | Arm
    body: str
    """The name of the body of a node; for an arm, the id of its choice."""
    at: int
    """The index in that body or choice."""
    above: tuple[str, ...]
    """Ids of the nodes and arms above it, the outermost first."""


@dataclass
class Outline:
    """All nodes and arms by id, all bodies by name."""

    procedure: Procedure
    locations: dict[str, Location] = field(default_factory=dict)
    """The locations by id, in the order of the text."""
    bodies: dict[str, Body] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, body in self.procedure.bodies.items():
            self._add(name, body, ())

    def _add(self, name: str, body: Body, above: tuple[str, ...]) -> None:
        self.bodies[name] = body
        for at, node in enumerate(body):
            self.locations[node.id] = Location(node, name, at, above)
            inside = (*above, node.id)
            if isinstance(node, Loop):
                self._add(node.id, node.body, inside)
            elif isinstance(node, Choice):
                for place, arm in enumerate(node.arms):
                    self.locations[arm.id] = Location(arm, node.id, place, inside)
                    self._add(arm.id, arm.body, (*inside, arm.id))
                self._add(f"{node.id}{OTHERWISE}", node.otherwise or (), inside)

    def __getitem__(self, ref: str) -> Location:
        """Return the location of an id, whatever its case; a number alone is that of a node.

        Raises:
            UnknownNodeError: Nothing has this id.
        """
        location = self._find(ref)
        if location is None:
            names = ", ".join(list(self.locations)[:_MOST_NAMED])
            raise UnknownNodeError(f"the procedure has no node {ref[:80]!r}; it has {names}")
        return location

    def _find(self, ref: str) -> Location | None:
        if ref in self.locations:
            return self.locations[ref]
        name = f"n{ref}" if ref.isdecimal() else ref.casefold()
        alike = [id_ for id_ in self.locations if id_.casefold() == name]
        return self.locations[alike[0]] if len(alike) == 1 else None

    def node(self, ref: str) -> Location:
        """Return the node of this id; for the only arm of a choice, that choice.

        Raises:
            UnknownNodeError: There is none.
            UnknownPlaceError: It is one of several arms.
        """
        location = self[ref]
        if not isinstance(location.thing, Arm):
            return location
        choice = self.choice_of(location)
        if len(choice.arms) > 1:
            raise UnknownPlaceError(
                f"{location.thing.id} is one of the answers of the choice {choice.id}: name that, "
                "or a step"
            )
        return self.locations[choice.id]

    def owner(self, id_: str) -> Node | None:
        """Return the innermost choice or loop that a node is in."""
        things = (self.locations[each].thing for each in reversed(self.locations[id_].above))
        return next((each for each in things if not isinstance(each, Arm)), None)

    def choice_of(self, location: Location) -> Choice:
        """Return the choice of an arm."""
        choice = self.locations[location.body].thing
        if not isinstance(choice, Choice):
            raise TypeError(f"{location.body} is no choice")
        return choice

    def body(self, ref: str) -> str:
        """Return the name of the body that a reference stands for.

        Raises:
            UnknownPlaceError: It stands for none, or for one of several.
        """
        if ref in self.bodies:
            return ref
        if ref.casefold() in _MAIN:
            return START
        lower = {name.casefold(): name for name in self.bodies}
        if ref.casefold() in lower:
            return lower[ref.casefold()]
        of, dot, rest = ref.rpartition(".")
        if dot and rest.casefold() == OTHERWISE[1:] and (location := self._find(of)) is not None:
            choice = location.body if isinstance(location.thing, Arm) else location.thing.id
            if f"{choice}{OTHERWISE}" in self.bodies:
                return f"{choice}{OTHERWISE}"
        location = self._find(ref)
        if location is None:
            raise UnknownPlaceError(
                f"{ref[:80]!r} is no body: name steps, verification, escalation, a part "
                f"({', '.join(self.procedure.parts) or 'it has none'}), an arm, a loop, or "
                f"a choice with {OTHERWISE} behind it"
            )
        thing = location.thing
        if isinstance(thing, Arm | Loop):
            return thing.id
        if not isinstance(thing, Choice):
            raise UnknownPlaceError(f"{thing.id} is a step: nothing can stand below it")
        if len(thing.arms) > 1:
            arms = ", ".join(arm.id for arm in thing.arms)
            raise UnknownPlaceError(f"{thing.id} has several answers: name one of {arms}")
        return thing.arms[0].id

    def replace(self, id_: str, now: Node | Arm | Body) -> Procedure:
        """Return the procedure with this in the place of the node or arm with this id."""
        if isinstance(now, Arm):
            return self.procedure.map(arm=lambda each: now if each.id == id_ else each)
        body = now if isinstance(now, tuple) else (now,)
        return self.procedure.map(node=lambda each: body if each.id == id_ else (each,))

    def target(self, ref: str) -> str:
        """Return the target of a jump: an id, or the name of a body with steps."""
        location = self._find(ref)
        if location is not None:
            return location.thing.id
        name = START if ref.casefold() in _MAIN else ref
        return next((each for each in self.targets if each.casefold() == name.casefold()), ref)

    @property
    def targets(self) -> set[str]:
        """All names and ids that a jump may lead to."""
        named = {name for name, body in self.procedure.bodies.items() if body}
        return {*self.locations, START, *named}

    def is_below(self, body: str, id_: str) -> bool:
        """Return True if the body is below the node or arm of this id."""
        owner = body.removesuffix(OTHERWISE)
        return owner == id_ or (owner in self.locations and id_ in self.locations[owner].above)

    def jumps(self) -> Iterator[Jump]:
        """Yield all jumps."""
        return (
            location.thing
            for location in self.locations.values()
            if isinstance(location.thing, Jump)
        )
