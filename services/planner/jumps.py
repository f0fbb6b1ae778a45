"""Where a page says `go to step 5`: arrows to that step instead of to what follows.

Jumps are taken where their target is there, and where the graph stays sound; else a branch says in
words where to go, and what stands alone between two steps is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from services.knowledge.model import Span
from services.planner.draft import Ask, Do, Element, End, GoTo, placed
from services.planner.sentences import ends_path


def follows(elements: Sequence[Element]) -> Iterator[GoTo]:
    """All jumps, those in branches too."""
    for element in elements:
        if isinstance(element, GoTo):
            yield element
        elif isinstance(element, Ask):
            yield from follows((*element.yes, *element.no))


def is_within(step: Do | Ask | End, target: Span) -> bool:
    """Whether the page tells the step there."""
    told = step.cites[0] if step.cites else None
    return (
        told is not None
        and told.document_id == target.document_id
        and target.start_line <= told.start_line <= target.end_line
    )


def settled(elements: Sequence[Element]) -> tuple[Element, ...]:
    """Only jumps to steps that are there, and none to what follows anyway."""
    made = _settled_once(elements)
    # A question that is dropped may have been where another jump led to.
    return made if made == tuple(elements) else settled(made)


def _settled_once(elements: Sequence[Element]) -> tuple[Element, ...]:
    steps = [step for _, step in placed(elements, 1)]
    lost = {
        jump
        for jump in follows(elements)
        if jump.target is None or not any(is_within(step, jump.target) for step in steps)
    }
    kept = [element for element in elements if element not in lost]
    return _settled(kept, None, lost)


def _settled(
    elements: Sequence[Element], after: Element | None, lost: set[GoTo]
) -> tuple[Element, ...]:
    found: list[Element] = []
    for element, follower in zip(elements, (*elements[1:], after), strict=False):
        if isinstance(element, Ask):
            found += _decided(element, follower, lost)
        else:
            found.append(_told(element, lost))
    return tuple(found)


def _decided(asked: Ask, follower: Element | None, lost: set[GoTo]) -> tuple[Element, ...]:
    """The decision; where both answers lead to the same step only its commands are worth a step."""
    yes, no = (
        _without_idle_jump(_settled(branch, follower, lost), follower)
        for branch in (asked.yes, asked.no)
    )
    if yes or no:
        return (replace(asked, yes=yes, no=no),)
    shown = Do(asked.text, asked.cites, asked.commands, asked.expected)
    return (shown,) if asked.commands else ()


def _without_idle_jump(
    branch: tuple[Element, ...], follower: Element | None
) -> tuple[Element, ...]:
    last = branch[-1] if branch else None
    if not isinstance(last, GoTo) or last.target is None or isinstance(follower, GoTo | None):
        return branch
    return branch[:-1] if is_within(follower, last.target) else branch


def ended(elements: Sequence[Element]) -> tuple[Element, ...]:
    """The work is over where the page says so right before a step that a jump leads to."""
    targets = [jump.target for jump in follows(elements) if jump.target]
    return tuple(
        End(element.text, element.cites, element.commands, element.expected)
        if isinstance(element, Do)
        and ends_path(element.text)
        and isinstance(follower, Do | Ask)
        and any(is_within(follower, target) for target in targets)
        else element
        for element, follower in zip(elements, (*elements[1:], None), strict=True)
    )


def in_order(elements: Sequence[Element]) -> tuple[Element, ...]:
    """Without the jumps between two steps, which leave out what stands between them."""
    return tuple(element for element in elements if not isinstance(element, GoTo))


def as_told(elements: Sequence[Element]) -> tuple[Element, ...]:
    """Without any arrow: branches say where to go."""
    kept = in_order(elements)
    return _settled(kept, None, set(follows(kept)))


def _told(element: Element, lost: set[GoTo]) -> Element:
    is_lost = isinstance(element, GoTo) and element in lost
    return Do(element.text, element.cites) if is_lost else element
