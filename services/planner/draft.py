"""A workflow in the making: what to do, what to ask, where to end, in reading order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.knowledge.model import Span


@dataclass(frozen=True)
class Do:
    """An action; the reading goes on after it."""

    text: str
    cites: tuple[Span, ...] = ()
    commands: tuple[str, ...] = ()
    expected: str = ""


@dataclass(frozen=True)
class End:
    """A terminal."""

    text: str
    cites: tuple[Span, ...] = ()
    commands: tuple[str, ...] = ()
    expected: str = ""


@dataclass(frozen=True)
class Ask:
    """A decision; an empty branch goes on after it, as a branch without an end does."""

    text: str
    yes: tuple["Element", ...] = ()
    no: tuple["Element", ...] = ()
    cites: tuple[Span, ...] = ()
    commands: tuple[str, ...] = ()
    expected: str = ""
    labels: tuple[str, str] = ("Yes", "No")


@dataclass(frozen=True)
class GoTo:
    """On to another step of the page instead of what follows; no step of its own."""

    number: int
    """What the page calls that step."""
    text: str
    """What a step would say that cannot be followed as an arrow."""
    cites: tuple[Span, ...] = ()
    target: Span | None = None
    """Where the page tells that step; None until it is found."""


Element = Do | Ask | End | GoTo


@dataclass(frozen=True)
class Draft:
    """What one way of reading a page makes of it."""

    strategy: str
    title: str
    elements: tuple[Element, ...]
    fitness: float
    """How well the page's form suits this way of reading, 0–1."""
    document_ids: tuple[str, ...] = ()
    node_ids: tuple[str, ...] = ()


def size(elements: Sequence[Element]) -> int:
    """Steps that the elements and their branches make."""
    return sum(1 for _ in placed(elements, 0))


def placed(elements: Sequence[Element], first: int) -> Iterator[tuple[int, Do | Ask | End]]:
    """The elements that become steps, with their numbers, in reading order."""
    number = first
    for element in elements:
        if isinstance(element, GoTo):
            continue
        yield number, element
        number += 1
        if isinstance(element, Ask):
            for branch in (element.yes, element.no):
                steps = list(placed(branch, number))
                yield from steps
                number += len(steps)
