"""Session level: an agent acts, the site and a scripted person answer."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from evaluation.benches.following.acts import Act, Call, digest_of
from evaluation.benches.following.agents import Agent, AgentGoneError, Decision
from evaluation.benches.following.deviation import (
    Deviation,
    deviation,
    goals_reached,
    has_harmed,
)
from evaluation.benches.following.forms import Form, Place
from evaluation.benches.following.prompts import did, heard, opening
from evaluation.benches.following.sessions import GO_ON, Session, shown, user_line
from evaluation.benches.following.surroundings import Surroundings, matching_facts, reply_of
from evaluation.benches.following.turn_files import kept
from evaluation.material.recorded_following import RecordedAct
from evaluation.measures.following import f1, share
from services.llm.chat_model import Message

MOST_ACTS = 15
"""FlowBench's bound for one scenario."""
_NO_ACT = (
    "That is no act. Answer with one JSON object: a call of a tool, or something that you say."
)


@dataclass
class Played:
    """A session as it went."""

    session: Session
    form: Form
    calls: list[Call] = field(default_factory=list)
    acts: list[RecordedAct] = field(default_factory=list)
    has_ended: bool = False
    has_flagged_aside: bool = True
    """False from an aside until the agent says that the page does not cover it."""

    @property
    def deviation(self) -> Deviation:
        """Where it left the right way first."""
        return deviation(
            self.session,
            self.calls,
            has_ended=self.has_ended,
            has_flagged_aside=self.has_flagged_aside,
        )

    def figures(self) -> dict[str, float]:
        """FlowBench's, and how many acts it took."""
        goals = len(self.session.goals)
        reached = goals_reached(self.session, self.calls)
        wanted = [self.session.calls[step] for step in self.session.path]
        right = _common(self.calls, wanted)
        figures = {}
        if self.session.scene.aside:
            goals, reached = goals + 1, reached + int(self.has_flagged_aside)
            figures["off_procedure"] = float(self.has_flagged_aside)
        is_success = reached == goals and not has_harmed(self.session, self.calls)
        return figures | {
            "success": float(is_success),
            "progress": share(reached, goals),
            "tool_precision": share(right, len(self.calls)),
            "tool_recall": share(right, len(wanted)),
            "tool_f1": f1(right, len(self.calls), len(wanted)),
            "on_the_way": float(self.deviation is Deviation.NONE),
            "unreadable": share(sum(act.is_none for act in self.acts), len(self.acts)),
            "acts": float(len(self.acts)),
        }


def play(session: Session, form: Form, agent: Agent, seed: int) -> Played:
    """One session, until it ends or the acts are used up.

    Raises:
        AgentGoneError: Nobody acts any more.
    """
    played, scene, site = Played(session, form), _Scene(session), session.open()
    messages = opening(session, form, seed, heard((user_line(session.task),), form, scene.place))
    while not played.has_ended and len(played.acts) < MOST_ACTS:
        key = f"live/{form.value}/{session.id}/{len(played.acts) + 1:03}"
        prompt = digest_of("\n".join(m.content for m in messages if m.role != "assistant"))
        decision = agent.decide(key, prompt, messages)
        answer, fact_indices = scene.after(decision, played, site)
        played.acts.append(kept(key, prompt, decision.act, fact_indices))
        act = did(decision.act, form) if decision.act else "{}"
        messages = [
            *messages,
            Message(role="assistant", content=act),
            Message(role="user", content=heard(answer, form, scene.place)),
        ]
    agent.has_ended(f"live/{form.value}/{session.id}/{len(played.acts):03}")
    return played


class _Scene:
    """The person, and where the guide believes the agent to be."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._aside = session.scene.aside
        self.place = Place(session.workflow)

    def after(
        self, decision: Decision, played: Played, site: Surroundings
    ) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """What an agent hears after its act, and what the person has told it."""
        act = decision.act
        if act is None or (act.call is None and not act.say):
            return (_NO_ACT,), ()
        if act.off_procedure:
            played.has_flagged_aside = True
        if act.call:
            return self._called(act, act.call, played, site), ()
        knows = self._session.scene.knows
        fact_indices = (
            decision.fact_indices
            if decision.fact_indices is not None
            else matching_facts(knows, act.say or "")
        )
        if act.off_procedure and not fact_indices:
            return (user_line(GO_ON),), fact_indices
        return (user_line(reply_of(knows, fact_indices)),), fact_indices

    def _called(self, act: Act, call: Call, played: Played, site: Surroundings) -> tuple[str, ...]:
        played.calls.append(call)
        answer = site.call(call)
        self.place.calls(call, self._session.calls, act.node)
        if answer.startswith("error:"):
            return (shown(answer),)
        played.has_ended = self._session.ends(call)
        if self._aside and self._aside.after == call.tool:
            words, self._aside, played.has_flagged_aside = self._aside.says, None, False
            return shown(answer), user_line(words)
        return (shown(answer),)


def play_all(
    sessions: Sequence[Session],
    form: Form,
    agent: Agent,
    seed: int,
    *,
    at_once: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> list[Played]:
    """Those sessions in which somebody acted to the end, in their order."""

    def one(session: Session) -> Played | None:
        try:
            return play(session, form, agent, seed)
        except AgentGoneError:
            return None
        finally:
            advance()

    with ThreadPoolExecutor(at_once) as pool:
        return [played for played in pool.map(one, sessions) if played is not None]


def shares(played: Sequence[Played]) -> Mapping[str, float]:
    """Of the sessions, by how their way left the right one first."""
    deviations = [each.deviation for each in played]
    return {kind.value: share(deviations.count(kind), len(deviations)) for kind in Deviation}


def _common(calls: Sequence[Call], wanted: Sequence[Call]) -> int:
    left, common = list(wanted), 0
    for call in calls:
        place = next((n for n, each in enumerate(left) if call.is_same(each)), None)
        if place is not None:
            del left[place]
            common += 1
    return common
