"""A model draws the graph of what was done, by graph-building calls and nothing else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.executor.bindings.binding import BadBindingError
from services.executor.summary.cases import Ending, case_of
from services.executor.summary.choose import Learn
from services.executor.summary.drawing import BadCallError, Drawing
from services.executor.summary.learned import Learned
from services.executor.summary.plan import Act, Ask, NotLearnedError, Plan, walked
from services.executor.summary.replay import replays
from services.executor.summary.summarise import checked, page_of
from services.executor.summary.trace import Call, Trace, is_hidden
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.tool import Effect, Tool
from services.llm.chat_model import ChatModel, ChatRequest, Message, ModelAnswerError
from services.llm.parsing import MAX_ANSWER_CHARS, json_objects
from services.llm.prompts import load_prompt

MOST_REPAIRS = 5
MOST_CALLS = 200
"""Graph-building calls of one answer."""
MOST_VALUE = 120
"""Characters of a field that a model is shown."""
_TEMPERATURE = 0.2

_PROMPT = load_prompt("services.executor", "summarise")


def by_model(model: ChatModel, catalogue: Catalogue, title: str) -> Learn:
    """Learns by asking a model; what does not hold is told it, a few times."""

    def learn(traces: Sequence[Trace]) -> Learned:
        return _Asking(model, catalogue, title, traces).learned()

    return learn


class _Asking:
    def __init__(
        self, model: ChatModel, catalogue: Catalogue, title: str, traces: Sequence[Trace]
    ) -> None:
        self._model = model
        self._catalogue = catalogue
        self._title = title
        self._traces = traces
        labels = [set(each.labels) for each in traces]
        self._drawing = Drawing(catalogue, frozenset(set.intersection(*labels)))

    def learned(self) -> Learned:
        """What is right on all traces at hand.

        Raises:
            NotLearnedError: It is not, after all repairs.
            ModelUnavailableError: See `ChatModel.complete`.
        """
        tools = [self._catalogue.by_name[name] for name in self._tools()]
        values = {
            "tools": "\n".join(map(_tool_in_words, tools)),
            "traces": "\n\n".join(map(_trace_in_words, self._traces)),
        }
        messages = _PROMPT.render(values)
        wrong: list[str] = []
        for _ in range(1 + MOST_REPAIRS):
            text = self._ask(messages)
            found, wrong = self._taken(text)
            if found is not None:
                return found
            state = f"The graph now:\n{self._drawing.told()}\n\nIt lacks:\n- " + "\n- ".join(wrong)
            messages = (
                *messages,
                Message(role="assistant", content=text),
                Message(role="user", content=f"{state}\n\nWrite the calls that mend it, as JSON."),
            )
        raise NotLearnedError(f"{self._model.name} drew no graph that holds: {wrong[0]}")

    def _ask(self, messages: tuple[Message, ...]) -> str:
        request = ChatRequest(messages=messages, temperature=_TEMPERATURE, prompt=_PROMPT.label)
        samples = self._model.complete(request).samples
        return samples[0].text[:MAX_ANSWER_CHARS] if samples else ""

    def _taken(self, text: str) -> tuple[Learned | None, list[str]]:
        """The workflow that the graph is by now, or what is wrong with it."""
        wrong = []
        try:
            calls = calls_of(text)
        except ModelAnswerError as error:
            return None, [str(error)]
        for call in calls:
            try:
                self._drawing.take(call)
            except BadCallError as error:
                wrong.append(f"{json.dumps(call)[:120]}: {error}")
        wrong += self._drawing.lacks()
        if wrong:
            return None, wrong
        try:
            return self._checked(self._drawing.plan()), []
        except (NotLearnedError, BadBindingError) as error:
            return None, [str(error)]

    def _checked(self, plan: Plan) -> Learned:
        self._check_changes(plan)
        page = page_of(plan, self._traces, self._catalogue, self._title, self._model.name)
        learned = checked(page)
        workflow = learned.workflow()
        for each in learned.bindings():
            conditions = frozenset(edge.condition for edge in workflow.exits(each.step))
            each.check(workflow.by_id[each.step], conditions, self._catalogue)
        played = replays(learned, self._traces, self._catalogue)
        if missed := [each for each in played if not each.is_right]:
            names = {t.id: f"ticket {n}" for n, t in enumerate(self._traces, 1)}
            told = "; ".join(
                f"{names[e.trace]} comes to {', '.join(e.changes) or 'no change'}, then {e.why!r}"
                for e in missed[:3]
            )
            raise NotLearnedError(f"carried out on the traces it does otherwise: {told}")
        return learned

    def _check_changes(self, plan: Plan) -> None:
        helped = {
            tool
            for each in map(case_of, self._traces)
            if each.ending is Ending.HELPED
            for tool in each.remedy
        }
        for act, is_asked in _with_asked(plan):
            if self._catalogue.tool(act.call.tool).effect is not Effect.CHANGE:
                continue
            if act.call.tool not in helped:
                raise NotLearnedError(f"{act.call.tool} was never seen to work")
            if not is_asked:
                raise NotLearnedError(f"nothing is asked in front of {act.call.tool}")
        for node in walked(plan):
            if isinstance(node, Ask) and is_hidden(node.test.value):
                raise NotLearnedError("a decision rests on something that was taken out")

    def _tools(self) -> list[str]:
        """Those that the traces use, and those by which they are verified."""
        used = dict.fromkeys(c.tool for each in self._traces for c in each.calls)
        known = [name for name in used if name in self._catalogue.by_name]
        verify = (self._catalogue.tool(name).verify for name in known)
        return [*dict.fromkeys([*known, *(each.tool for each in verify if each)])]


def _with_asked(plan: Plan, *, is_asked: bool = False) -> Iterator[tuple[Act, bool]]:
    """Each action, with whether a question stands before it."""
    for node in plan:
        if isinstance(node, Ask):
            is_asked = True
            yield from _with_asked(node.yes or (), is_asked=True)
            yield from _with_asked(node.no or (), is_asked=True)
        elif isinstance(node, Act):
            yield node, is_asked


def calls_of(text: str) -> list[Mapping[str, Any]]:
    """The graph-building calls of an answer: as JSON, else each object in whatever stands there.

    Raises:
        ModelAnswerError: There is none.
    """
    found: list[Mapping[str, Any]] = []
    for value in _values(text):
        if isinstance(value, Mapping) and isinstance(value.get("calls"), list):
            found += [each for each in value["calls"] if isinstance(each, Mapping)]
        elif isinstance(value, Mapping) and "call" in value:
            found.append(value)
    if not found:
        raise ModelAnswerError("no call was found: expected JSON, {'calls': [{'call': …}, …]}")
    return found[:MOST_CALLS]


def _values(text: str) -> list[object]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return [*json_objects(text)]
    return whole if isinstance(whole, list) else [whole]


def _tool_in_words(tool: Tool) -> str:
    fields = ", ".join(
        f"{name} ({'|'.join(field.values) or field.type})"
        for name, field in tool.output.fields.items()
    )
    takes = ", ".join(tool.parameters) or "nothing"
    verified = f"; verified by {tool.verify.tool}" if tool.verify else ""
    told = f"{tool.name} [{tool.effect}]: {tool.description}"
    return f"{told}; takes {takes}; tells {fields or 'text'}{verified}"


def _trace_in_words(trace: Trace) -> str:
    labels = ", ".join(f"{name}={value}" for name, value in trace.labels.items())
    ended = f"ended: {trace.ended.value.replace('_', ' ')}"
    return "\n".join([f"ticket with {labels}", *map(_call_in_words, trace.calls), ended])


def _call_in_words(call: Call) -> str:
    arguments = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    told = ", ".join(f"{name}={str(value)[:MOST_VALUE]}" for name, value in call.fields.items())
    how = ""
    if not call.succeeded:
        how = " failed"
    elif call.effect is Effect.CHANGE:
        how = " taken back" if call.undone else " worked" if call.verified else " did not show"
    return f"{call.at:.0f} s {call.effect} {call.tool}({arguments}) on {call.target}:{how} {told}"
