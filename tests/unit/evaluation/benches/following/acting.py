"""Agents that are scripted from the right way through a session."""

from collections.abc import Callable, Sequence
from functools import cache

from evaluation.benches.following.acts import Act, Call
from evaluation.benches.following.agents import Decision
from evaluation.benches.following.sessions import Session, sessions
from services.llm.chat_model import Message

Change = Callable[[Session, list[Act]], list[Act]]


class ScriptedAgent:
    """Does what is right in each session, as far as `change` leaves it so; then it is silent."""

    def __init__(self, change: Change = lambda _session, acts: acts) -> None:
        self._change = change

    def decide(self, key: str, _prompt: str, _messages: Sequence[Message]) -> Decision:
        _, _, name, number = key.split("/")
        session = by_id()[name]
        acts = self._change(session, [turn.act for turn in session.turns])
        place = int(number) - 1
        return Decision(acts[place] if place < len(acts) else None)

    def has_ended(self, _key: str) -> None:
        pass


@cache
def by_id() -> dict[str, Session]:
    return {session.id: session for session in sessions()}


def called(acts: Sequence[Act], tool: str) -> int:
    """The first act that calls it."""
    return next(place for place, act in enumerate(acts) if act.call and act.call.tool == tool)


def without(tool: str) -> Change:
    """Skips that step."""

    def change(_session: Session, acts: list[Act]) -> list[Act]:
        place = called(acts, tool)
        return acts[:place] + acts[place + 1 :]

    return change


def instead(tool: str, other: str) -> Change:
    """Does another step of the page in the place of one."""

    def change(session: Session, acts: list[Act]) -> list[Act]:
        place = called(acts, tool)
        call = next(call for call in session.calls.values() if call.tool == other)
        return [*acts[:place], Act(call=call), *acts[place + 1 :]]

    return change


def with_argument(tool: str, name: str, value: str) -> Change:
    """Gives one argument wrong."""

    def change(_session: Session, acts: list[Act]) -> list[Act]:
        place = called(acts, tool)
        call = acts[place].call or Call(tool=tool)
        wrong = Call(tool=tool, arguments={**call.arguments, name: value})
        return [*acts[:place], Act(call=wrong), *acts[place + 1 :]]

    return change


def swapped(first: str, second: str) -> Change:
    """Does two steps the other way round."""

    def change(_session: Session, acts: list[Act]) -> list[Act]:
        one, other = called(acts, first), called(acts, second)
        acts = list(acts)
        acts[one], acts[other] = acts[other], acts[one]
        return acts

    return change


def deaf(_session: Session, acts: list[Act]) -> list[Act]:
    """Passes over what the page does not cover."""
    return [act for act in acts if not act.off_procedure]
