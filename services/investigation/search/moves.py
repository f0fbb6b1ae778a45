"""Next move of a search: a pure function of the search, its events, and the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from services.contracts.searching import (
    HypothesisState,
    NodeState,
    SearchAnswer,
    SearchOutcome,
)
from services.execution.engine import Emit, Wait
from services.execution.tools.tool import BadArgumentError
from services.investigation.search.answer import build_answer, evidence_of, vocabulary_of
from services.investigation.search.claims import find_unsupported
from services.investigation.search.events import NewSearchEvent, SearchEventKind, Stage
from services.investigation.search.model_questions import (
    ANSWERS,
    MOST_CLAIMS,
    MOST_FINDINGS,
    LookChoice,
    Plan,
    Reflection,
    act_messages,
    plan_messages,
    reflect_messages,
)
from services.investigation.search.search import RETRIEVE, Search, nearest_expert
from services.investigation.search.state import (
    FRUITLESS,
    ROOT,
    Call,
    ExpertObservation,
    SearchState,
    SubtaskNode,
)
from services.llm.chat_model import Message, ModelAnswerError
from services.llm.structured import parse_answer

MOST_MISREAD = 3
"""Most unusable answers to one question: the first, and two corrected ones."""
FRUITLESS_AT_POINT = 2
"""Fruitless looks in a row after which a point is left."""
MOST_SAME = 3
"""Most times that the same look may be made in a search."""
REPEAT_AFTER_S = 30.0
"""Seconds after which a second look may show if a counter rises."""
CLOSING_SHARE = 0.9
"""Share of tokens, questions and time from which on nothing new is begun."""
LONGEST_SILENCE_S = 600.0
MOST_CHARACTERS = 500
"""Most characters of a subtask, a hypothesis, or a finding."""


@dataclass(frozen=True)
class Ask:
    """Move: ask the model."""

    stage: Stage
    node: int
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class SearchLook:
    """Move: call a tool that changes nothing, or look into documents."""

    node: int
    call: Call


Move = Wait | Emit[NewSearchEvent] | Ask | SearchLook


class _UnusableAnswerError(Exception):
    """Error of an answer that can be parsed but not used; the model is told why."""


def next_move(search: Search, state: SearchState, now: float) -> Move:
    """Return the next move of the search."""
    return _SearchMoves(search, state, now).next()


@dataclass(frozen=True)
class _SearchMoves:
    search: Search
    state: SearchState
    now: float

    def next(self) -> Move:  # noqa: PLR0911 - what comes first wins
        state, limits = self.state, self.search.limits
        over_at = state.begun_at + limits.within_s
        if state.outcome:
            return Wait()
        if self.now > over_at:
            return self._end_without("its time is over")
        if state.paused_by:
            return Wait(over_at + 1, f"paused by {state.paused_by}")
        if state.open == ROOT and state.requests:
            return self._open_requested_node()
        if state.pending is not None and self._is_current_question(
            state.pending.stage, state.pending.node
        ):
            return self._read_answer()
        if state.open != ROOT:
            return self._advance_node(state.nodes[state.open])
        if state.here not in self.points and self.points:
            to = next((p for p in state.path(state.here) if p in self.points), self.points[0])
            return Emit((_moved(to, "nothing more can be looked at from here", is_back=True),))
        return self._ask(Stage.PLAN, ROOT)

    # Points

    @cached_property
    def points(self) -> tuple[int, ...]:
        """Points from which a look may go on; none once the bounds are near."""
        if self.is_closing:
            return ()
        return tuple(point for point in (ROOT, *self.state.nodes) if self._is_open(point))

    @property
    def is_closing(self) -> bool:
        """True if nothing new is begun any more."""
        state, limits = self.state, self.search.limits
        return (
            state.calls >= limits.calls
            or state.questions >= limits.questions * CLOSING_SHARE
            or state.tokens >= limits.tokens * CLOSING_SHARE
            or self.now - state.begun_at >= limits.within_s * CLOSING_SHARE
        )

    def _is_open(self, point: int) -> bool:
        state, limits = self.state, self.search.limits
        own = [node for node in state.children(point) if not node.requested_by]
        if len(own) >= limits.width or state.depth(point) >= limits.depth:
            return False
        if point == ROOT:
            return True
        if any(state.nodes[p].state is not NodeState.INFORMATIVE for p in state.path(point) if p):
            return False
        last = own[-FRUITLESS_AT_POINT:]
        if len(last) == FRUITLESS_AT_POINT and all(node.state in FRUITLESS for node in last):
            return False
        return not self._is_refuted(state.nodes[point].hypothesis)

    def _is_refuted(self, hypothesis: str) -> bool:
        return bool(hypothesis) and (
            self.state.hypothesis_state(hypothesis) is HypothesisState.REFUTED
        )

    # Asking

    def _is_current_question(self, stage: Stage, node: int) -> bool:
        """Return True if an answer is for the question that would be asked now."""
        if self.state.open == ROOT:
            return stage is Stage.PLAN
        now = self.state.nodes[self.state.open]
        wanted = Stage.REFLECT if now.observation else Stage.ACT
        return (stage, node) == (wanted, now.id)

    def _advance_node(self, node: SubtaskNode) -> Move:
        if node.failed:
            return self._settle(node, NodeState.FAILED, node.failed)
        if node.call is None:
            if self.state.calls >= self.search.limits.calls:
                return self._settle(node, NodeState.FAILED, "no look is left")
            return self._ask(Stage.ACT, node.id)
        if not node.observation:
            return SearchLook(node.id, node.call)
        return self._ask(Stage.REFLECT, node.id)

    def _ask(self, stage: Stage, node: int) -> Move:
        state, limits = self.state, self.search.limits
        if state.is_refused:
            return self._end_without(f"the model refused to answer: {state.silent_why}")
        if state.silences >= limits.silences:
            return self._end_without("the model did not answer")
        if state.silences:
            waits = min(LONGEST_SILENCE_S, limits.silence_s * 2 ** (state.silences - 1))
            if self.now < state.silent_at + waits:
                return Wait(state.silent_at + waits, "the model did not answer")
        if state.questions >= limits.questions or state.tokens >= limits.tokens:
            what = "questions to the model" if state.tokens < limits.tokens else "tokens"
            return self._end_without(f"its {what} are used up")
        if len(state.misread) >= MOST_MISREAD:
            return self._give_up_asking(stage, node)
        if stage is Stage.PLAN:
            messages = plan_messages(self.search, state, self.points, is_last=self.is_closing)
        elif stage is Stage.ACT:
            messages = act_messages(self.search, state, state.nodes[node])
        else:
            messages = reflect_messages(state, state.nodes[node])
        return Ask(stage, node, messages)

    def _give_up_asking(self, stage: Stage, node: int) -> Move:
        why = self.state.misread[-1].why
        if stage is Stage.PLAN:
            return self._end_without(f"the model answered nothing that can be used: {why}")
        if stage is Stage.ACT:
            return self._settle(self.state.nodes[node], NodeState.FAILED, f"no look: {why}")
        reason = f"nothing that can be used was said of it: {why}"
        return self._settle(self.state.nodes[node], NodeState.NOTHING, reason)

    # Reading

    def _read_answer(self) -> Move:
        """Return the move that follows from the model's answer."""
        pending = self.state.pending
        assert pending is not None  # noqa: S101 - `next` has looked
        try:
            parsed = parse_answer(pending.text, ANSWERS[pending.stage])
            if isinstance(parsed, Plan):
                return self._apply_plan(parsed)
            node = self.state.nodes[pending.node]
            if isinstance(parsed, LookChoice):
                call = self._validate_call(node, parsed)
                if why := self._repeats(call):
                    return self._settle(node, NodeState.FAILED, why, is_cut=True)
                facts = {**call.facts, "why": _short(parsed.why)}
                return Emit((NewSearchEvent(SearchEventKind.CALLED, node.id, facts),))
            return self._apply_reflection(node, parsed)
        except (ModelAnswerError, _UnusableAnswerError) as error:
            why, text = str(error)[:MOST_CHARACTERS], pending.text[: 4 * MOST_CHARACTERS]
            misread = {"stage": pending.stage.value, "text": text, "why": why}
            return Emit((NewSearchEvent(SearchEventKind.MISREAD, pending.node, misread),))

    def _apply_plan(self, plan: Plan) -> Move:
        if plan.choice == "look":
            return self._open_node(plan)
        if plan.choice == "give_up":
            return self._end_without(f"gave up: {_short(plan.why) or 'nothing was said of it'}")
        if not plan.claims or not plan.cause.strip():
            raise _UnusableAnswerError("an answer has a cause and claims, each with its evidence")
        plan = plan.model_copy(update={"claims": plan.claims[:MOST_CLAIMS]})
        answer = build_answer(self.search, self.state, plan)
        if not answer.cause:
            struck = next((each.struck for each in answer.claims if each.struck), "")
            last = len(self.state.misread) + 1 >= MOST_MISREAD or not self.points
            if not last:  # it may look on, or cite the lines that say it
                raise _UnusableAnswerError(
                    f"no claim rests on what a device told: {struck or 'documents alone'}"
                )
            return _end(
                SearchOutcome.NOT_FOUND,
                "what the model answered is not in what was seen",
                answer,
            )
        return _end(SearchOutcome.DIAGNOSED, _short(plan.why), answer)

    def _open_node(self, plan: Plan) -> Move:
        points, state = self.points, self.state
        if not points:
            raise _UnusableAnswerError("no look is left: answer, or give up")
        point = state.here if plan.point < 0 and state.here in points else plan.point
        if point not in points:
            raise _UnusableAnswerError(
                f"from {plan.point} no look goes on: {', '.join(map(str, points))}"
            )
        if plan.expert not in self.search.expert_named:
            names = ", ".join(self.search.expert_named)
            raise _UnusableAnswerError(f"there is no expert {plan.expert!r}: {names}")
        if not plan.subtask.strip():
            raise _UnusableAnswerError("a look has a subtask")
        hypothesis, new = self._resolve_hypothesis(plan.hypothesis)
        if self._is_refuted(hypothesis):
            raise _UnusableAnswerError(f"{hypothesis} is refuted: suppose something else")
        events = []
        if point != state.here:
            is_back = point not in state.nodes or state.nodes[point].parent != state.here
            events.append(_moved(point, _short(plan.why), is_back=is_back))
        facts = {
            "parent": point,
            "expert": plan.expert,
            "subtask": _short(plan.subtask),
            "hypothesis": hypothesis,
            "why": _short(plan.why),
            "asked_by": "",
        }
        facts |= {"supposes": new} if new else {}
        return Emit((*events, NewSearchEvent(SearchEventKind.OPENED, self._next_node, facts)))

    def _open_requested_node(self) -> Move:
        """Open the look that a person asked for, right below the ticket; no model chooses it."""
        request = self.state.requests[0]
        if self.state.calls >= self.search.limits.calls:
            return self._end_without("no look is left for what was asked")
        says = {name: tool.description for name, tool in self.search.tool_named.items()}
        named = self.search.expert_named.get(request.expert)
        expert = named or nearest_expert(self.search.experts, request.what, says)
        facts = {
            "parent": ROOT,
            "expert": expert.name,
            "subtask": request.what,
            "hypothesis": "",
            "why": "",
            "asked_by": request.by,
        }
        return Emit((NewSearchEvent(SearchEventKind.OPENED, self._next_node, facts),))

    def _resolve_hypothesis(self, text: str) -> tuple[str, str]:
        """Return the id of a hypothesis, and its text if it is new."""
        text, existing = _short(text), self.state.hypotheses
        if not text:
            return "", ""
        first = text.split(":")[0].strip().upper()
        if first in existing:
            return first, ""
        same = next(
            (i for i, statement in existing.items() if statement.casefold() == text.casefold()), ""
        )
        return (same, "") if same else (f"H{len(existing) + 1}", text)

    def _validate_call(self, node: SubtaskNode, act: LookChoice) -> Call:
        expert = self.search.expert_named[node.expert]
        if act.tool == RETRIEVE:
            query = _short(act.arguments.get("query", ""))
            if not query:
                raise _UnusableAnswerError("retrieve takes a query")
            return Call(RETRIEVE, "", {"query": query}, f"documents: {query}")
        if act.tool not in expert.tools:
            raise _UnusableAnswerError(
                f"{act.tool!r} is no tool of {expert.name}: {', '.join(expert.tools)}, {RETRIEVE}"
            )
        tool = self.search.tool_named[act.tool]
        mine = [name for name, kind in self.search.targets.items() if kind == tool.target]
        if act.target not in mine:
            raise _UnusableAnswerError(
                f"{tool.name} is for a {tool.target}, and {act.target!r} is none:"
                f" {', '.join(mine[:20])}"
            )
        try:
            arguments = tool.checked(act.arguments)
        except BadArgumentError as error:
            raise _UnusableAnswerError(str(error)) from error
        return Call(tool.name, act.target, arguments, tool.shown(arguments))

    def _repeats(self, call: Call) -> str:
        """Return why this look would only repeat another; empty if it may show something new."""
        state = self.state
        same = [seq for seq, each in state.tried if _is_same(each, call)]
        if not same:
            return ""
        seen = [o for o in state.observations.values() if _is_same(o.call, call)]
        where = f" ({seen[-1].id})" if seen else ""
        if len(same) >= MOST_SAME:
            return f"this was looked at {len(same)} times{where}: it goes round in circles"
        is_new = any(o.seq > same[-1] and self._is_news(o) for o in state.observations.values())
        is_later = bool(seen) and self.now - seen[-1].at >= REPEAT_AFTER_S and len(same) == 1
        if is_new or is_later:
            return ""
        return f"this was looked at before{where}, and nothing new was seen since"

    def _is_news(self, seen: ExpertObservation) -> bool:
        """Return True if no earlier look observed the same."""
        content = (seen.fields, seen.lines)
        return not any(
            _is_same(o.call, seen.call) and (o.fields, o.lines) == content and o.seq < seen.seq
            for o in self.state.observations.values()
        )

    def _apply_reflection(self, node: SubtaskNode, reflection: Reflection) -> Move:
        kept = sum(not f.struck for n in self.state.nodes.values() for f in n.findings)
        words = vocabulary_of(self.search, self.state)
        findings: list[dict[str, object]] = []
        for each in reflection.findings[:MOST_FINDINGS]:
            cited = self.state.observations[node.observation].citation_of(each.lines, each.fields)
            why = "it cites no line that is there"
            if cited.lines or cited.fields:
                evidence = evidence_of(self.state, (cited,))
                why = find_unsupported(each.text, evidence, words)
            kept += not why
            findings.append(
                {
                    "id": "" if why else f"F{kept}",
                    "text": _short(each.text),
                    "cited": [cited.model_dump(mode="json")],
                    "supports": [h for h in each.supports if h in self.state.hypotheses],
                    "refutes": [h for h in each.refutes if h in self.state.hypotheses],
                    "struck": why,
                }
            )
        facts = {"findings": findings, "why": _short(reflection.why)}
        reflected = NewSearchEvent(SearchEventKind.REFLECTED, node.id, facts)
        supported = [each for each in findings if not each["struck"]]
        if not supported:
            why = next((str(each["struck"]) for each in findings), _short(reflection.why))
            return self._settle(node, NodeState.NOTHING, why, before=(reflected,))
        refutes = any(node.hypothesis in _as_list(each["refutes"]) for each in supported)
        supports = any(node.hypothesis in _as_list(each["supports"]) for each in supported)
        if node.hypothesis and refutes and not supports:
            why = f"speaks against {node.hypothesis}"
            return self._settle(node, NodeState.REFUTED, why, before=(reflected,))
        return self._settle(
            node, NodeState.INFORMATIVE, _short(reflection.why), before=(reflected,)
        )

    # What becomes of a node

    def _settle(
        self,
        node: SubtaskNode,
        became: NodeState,
        why: str,
        *,
        before: Sequence[NewSearchEvent] = (),
        is_cut: bool = False,
    ) -> Move:
        facts = {"state": became.value, "why": why[:MOST_CHARACTERS], "is_cut": is_cut}
        settled = NewSearchEvent(SearchEventKind.SETTLED, node.id, facts)
        if became is NodeState.INFORMATIVE:
            if node.requested_by:
                return Emit((*before, settled))  # it goes on from where it was
            return Emit((*before, settled, _moved(node.id, "", is_back=False)))
        to, reason = self._back_to(node, became), f"{became.value}: {why}"[:MOST_CHARACTERS]
        if node.requested_by:
            return Emit((*before, settled))
        return Emit((*before, settled, _moved(to, reason, is_back=True)))

    def _back_to(self, node: SubtaskNode, became: NodeState) -> int:
        """Return the point to go on from after a fruitless look, or a refuted hypothesis."""
        state, point = self.state, node.parent
        if became is NodeState.REFUTED:  # what was supposed on the way here is gone with it
            while point and state.nodes[point].hypothesis == node.hypothesis:
                point = state.nodes[point].parent
        siblings = [each for each in state.children(node.parent) if not each.requested_by]
        earlier = siblings[-FRUITLESS_AT_POINT:-1]  # the node itself is the last
        is_left = bool(earlier) and all(each.state in FRUITLESS for each in earlier)
        if point == node.parent and point and is_left:
            point = state.nodes[point].parent
        return point

    @property
    def _next_node(self) -> int:
        return len(self.state.nodes) + 1

    def _end_without(self, why: str) -> Move:
        answer = build_answer(self.search, self.state, None)
        return _end(SearchOutcome.NOT_FOUND, why, answer)


def _end(outcome: SearchOutcome, why: str, answer: SearchAnswer) -> Emit[NewSearchEvent]:
    facts = {"outcome": outcome.value, "why": why, "answer": answer.model_dump(mode="json")}
    return Emit((NewSearchEvent(SearchEventKind.ENDED, facts=facts),))


def _moved(to: int, why: str, *, is_back: bool) -> NewSearchEvent:
    return NewSearchEvent(SearchEventKind.MOVED, to, {"to": to, "why": why, "is_back": is_back})


def _is_same(one: Call, other: Call) -> bool:
    return (one.tool, one.target, dict(one.arguments)) == (
        other.tool,
        other.target,
        dict(other.arguments),
    )


def _as_list(value: object) -> Sequence[str]:
    return value if isinstance(value, list) else ()


def _short(text: str) -> str:
    return " ".join(text.split())[:MOST_CHARACTERS]
