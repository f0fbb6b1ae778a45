"""Questions one after the other, each asked where the one before was answered by No."""

from collections.abc import Sequence
from dataclasses import replace

from services.planner.draft import Ask, Do, Element

MOST_QUESTIONS = 40
"""In one chain. Nobody answers more; what else the document asks is to be looked up there."""


def chained(asked: Sequence[Ask]) -> tuple[Element, ...]:
    """The chain as one element, or none; of what stands beyond `MOST_QUESTIONS` it says where."""
    rest = cut(asked, MOST_QUESTIONS)[MOST_QUESTIONS:]
    for question in reversed(asked[:MOST_QUESTIONS]):
        rest = (replace(question, no=rest),)
    return rest


def cut(elements: Sequence[Element], most: int) -> tuple[Element, ...]:
    """At most so many elements; where there are more, another one says where they go on."""
    if len(elements) <= most:
        return tuple(elements)
    beyond = elements[most]
    return (*elements[:most], Do(f"Go on in the document: {beyond.text}", beyond.cites))
