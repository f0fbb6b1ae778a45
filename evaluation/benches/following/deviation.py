"""Where the way of an agent leaves that of the walker, and how."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from evaluation.benches.following.acts import Call
from evaluation.benches.following.scenes import Card
from evaluation.benches.following.sessions import Session


class Deviation(StrEnum):
    """The kinds that FlowBench tells apart."""

    NONE = "none"
    MISSING_STEP = "missing step"
    WRONG_ORDER = "wrong order"
    WRONG_TRANSITION = "wrong transition"
    TOOL_USE = "tool use"
    OTHER = "other"
    """It did not come to an end, or passed over what the page does not cover."""


def deviation(
    session: Session, calls: Sequence[Call], *, has_ended: bool, has_flagged_aside: bool
) -> Deviation:
    """The first one. To look at something again, or at what no step asks for, is none."""
    way = [session.calls[step] for step in session.path]
    at = 0
    for place, call in enumerate(calls):
        if at < len(way) and call.is_same(way[at]):
            at += 1
            continue
        if _is_harmless(session, call, way[:at]):
            continue
        ahead = _first(call, way[at:])
        if ahead is not None:
            skipped, rest = way[at : at + ahead], calls[place + 1 :]
            is_made_up = all(_first(each, rest) is not None for each in skipped)
            return Deviation.WRONG_ORDER if is_made_up else Deviation.MISSING_STEP
        is_a_step = _first(call, session.calls.values()) is not None
        return Deviation.WRONG_TRANSITION if is_a_step else Deviation.TOOL_USE
    is_through = has_ended and at == len(way) and has_flagged_aside
    return Deviation.NONE if is_through else Deviation.OTHER


def goals_reached(session: Session, calls: Sequence[Call]) -> int:
    """How many of the session's goals were, each once."""
    left, reached = list(calls), 0
    for goal in session.goals:
        place = _first(goal, left)
        if place is not None:
            del left[place]
            reached += 1
    return reached


def has_harmed(session: Session, calls: Iterable[Call]) -> bool:
    """Whether it changed something that the way through the page does not change."""
    way = [session.calls[step] for step in session.path]
    changes = (call for call in calls if _changes(session.cards, call))
    return any(_first(call, way) is None for call in changes)


def _is_harmless(session: Session, call: Call, done: Sequence[Call]) -> bool:
    """A look that was right before, or one of a tool that no step of the page has."""
    card = session.cards.get(call.tool)
    if card is None or card.change or session.ends(call):
        return False
    is_of_a_step = any(each.tool == call.tool for each in session.calls.values())
    if not is_of_a_step:
        return call.arguments.keys() == card.parameters.keys()
    return _first(call, done) is not None


def _changes(cards: Mapping[str, Card], call: Call) -> bool:
    return call.tool in cards and cards[call.tool].change


def _first(call: Call, among: Iterable[Call]) -> int | None:
    return next((place for place, each in enumerate(among) if call.is_same(each)), None)
