"""Drawing of the graph of what was done by a model, with graph-building calls and nothing else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.execution.bindings.binding import BadBindingError, conditions_of
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.tool import Tool, ToolEffect
from services.investigation.summary.cases import Ending, case_of
from services.investigation.summary.graph_draft import BadCallError, GraphDraft
from services.investigation.summary.learned_workflow import LearnedWorkflow
from services.investigation.summary.plan import Ask, NotLearnedError, Plan, ToolStep, iter_nodes
from services.investigation.summary.replay import replay_all
from services.investigation.summary.summarise import Learner, check_graph, page_of
from services.investigation.summary.trace import Trace, is_hidden
from services.llm.chat_model import ChatModel, ChatRequest, ModelAnswerError
from services.llm.prompts import load_prompt
from services.llm.structured import (
    MAX_ANSWER_CHARS,
    Turns,
    ask_until_valid,
    json_objects,
    reply_turns,
)

MOST_REPAIRS = 5
MOST_CALLS = 200
"""Most graph-building calls of one answer."""
MOST_VALUE = 120
"""Most characters of a field that a model is shown."""
_TEMPERATURE = 0.2

_PROMPT = load_prompt("services.investigation", "summarise")


def model_learner(model: ChatModel, catalogue: Catalogue, title: str) -> Learner:
    """Return a learner that asks a model, and tells it a few times what does not hold."""
    return lambda traces: _DrawingSession(model, catalogue, title, traces).learn()


class _UnsoundGraphError(ModelAnswerError):
    """The graph so far has problems, to be mended by further calls."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n- ".join(problems))
        self.problems = problems


class _DrawingSession:
    def __init__(
        self, model: ChatModel, catalogue: Catalogue, title: str, traces: Sequence[Trace]
    ) -> None:
        self._model = model
        self._catalogue = catalogue
        self._title = title
        self._traces = traces
        labels = [set(each.labels) for each in traces]
        self._draft = GraphDraft(catalogue, frozenset(set.intersection(*labels)))

    def learn(self) -> LearnedWorkflow:
        """Return what is right on all traces at hand.

        Raises:
            NotLearnedError: It is not, after all repairs.
            ModelUnavailableError: See `ChatModel.complete`.
        """
        used = dict.fromkeys(c.tool for each in self._traces for c in each.calls)
        in_catalogue = [name for name in used if name in self._catalogue.by_name]
        verifying = (self._catalogue.tool(name).verify for name in in_catalogue)
        names = dict.fromkeys([*in_catalogue, *(each.tool for each in verifying if each)])
        tools = [self._catalogue.by_name[name] for name in names]
        values = {
            "tools": "\n".join(map(_tool_in_words, tools)),
            "traces": "\n\n".join(map(_trace_in_words, self._traces)),
        }
        messages = _PROMPT.render(values)

        def ask(turns: Turns) -> str:
            request = ChatRequest(
                messages=(*messages, *turns), temperature=_TEMPERATURE, prompt=_PROMPT.label
            )
            return self._model.complete(request).samples[0].text[:MAX_ANSWER_CHARS]

        try:
            return ask_until_valid(
                ask, self._apply_answer, tries=1 + MOST_REPAIRS, correct=self._describe_problems
            )
        except _UnsoundGraphError as error:
            raise NotLearnedError(
                f"{self._model.name} drew no graph that holds: {error.problems[0]}"
            ) from error

    def _describe_problems(self, text: str, error: ModelAnswerError) -> Turns:
        """Return the turns that show the model the graph so far and the problems with it."""
        state = f"The graph now:\n{self._draft.describe()}\n\nIt lacks:\n- {error}"
        return reply_turns(text, f"{state}\n\nWrite the calls that mend it, as JSON.")

    def _apply_answer(self, text: str) -> LearnedWorkflow:
        """Return the workflow of the graph so far.

        Raises:
            _UnsoundGraphError: There are problems with it.
        """
        problems = []
        try:
            calls = parse_calls(text)
        except ModelAnswerError as error:
            raise _UnsoundGraphError([str(error)]) from error
        for call in calls:
            try:
                self._draft.apply(call)
            except BadCallError as error:
                problems.append(f"{json.dumps(call)[:120]}: {error}")
        problems += self._draft.defects()
        if problems:
            raise _UnsoundGraphError(problems)
        try:
            return self._check_plan(self._draft.to_plan())
        except (NotLearnedError, BadBindingError) as error:
            raise _UnsoundGraphError([str(error)]) from error

    def _check_plan(self, plan: Plan) -> LearnedWorkflow:
        self._check_changes(plan)
        page = page_of(plan, self._traces, self._catalogue, self._title, self._model.name)
        learned = check_graph(page)
        workflow = learned.workflow()
        for each in learned.bindings():
            conditions = conditions_of(workflow, each.step)
            each.check(workflow.by_id[each.step], conditions, self._catalogue)
        results = replay_all(learned, self._traces, self._catalogue)
        if missed := [each for each in results if not each.is_right]:
            names = {t.id: f"ticket {n}" for n, t in enumerate(self._traces, 1)}
            differences = "; ".join(
                f"{names[e.trace]} comes to {', '.join(e.changes) or 'no change'}, then {e.why!r}"
                for e in missed[:3]
            )
            raise NotLearnedError(f"carried out on the traces it does otherwise: {differences}")
        return learned

    def _check_changes(self, plan: Plan) -> None:
        helped = {
            tool
            for each in map(case_of, self._traces)
            if each.ending is Ending.HELPED
            for tool in each.remedy
        }
        for act, is_guarded in _with_guarded(plan):
            if self._catalogue.tool(act.call.tool).effect is not ToolEffect.CHANGE:
                continue
            if act.call.tool not in helped:
                raise NotLearnedError(f"{act.call.tool} was never seen to work")
            if not is_guarded:
                raise NotLearnedError(f"nothing is asked in front of {act.call.tool}")
        for node in iter_nodes(plan):
            if isinstance(node, Ask) and is_hidden(node.test.value):
                raise NotLearnedError("a decision rests on something that was taken out")


def _with_guarded(plan: Plan, *, is_guarded: bool = False) -> Iterator[tuple[ToolStep, bool]]:
    """Yield each action, with whether a question comes before it."""
    for node in plan:
        if isinstance(node, Ask):
            is_guarded = True
            yield from _with_guarded(node.yes or (), is_guarded=True)
            yield from _with_guarded(node.no or (), is_guarded=True)
        elif isinstance(node, ToolStep):
            yield node, is_guarded


def parse_calls(text: str) -> list[Mapping[str, Any]]:
    """Return the graph-building calls of an answer: its JSON, else each JSON object in its text.

    Raises:
        ModelAnswerError: There is none.
    """
    try:
        whole = json.loads(text)
        values = whole if isinstance(whole, list) else [whole]
    except (ValueError, RecursionError):
        values = [*json_objects(text)]
    calls: list[Mapping[str, Any]] = []
    for value in values:
        if isinstance(value, Mapping) and isinstance(value.get("calls"), list):
            calls += [each for each in value["calls"] if isinstance(each, Mapping)]
        elif isinstance(value, Mapping) and "call" in value:
            calls.append(value)
    if not calls:
        raise ModelAnswerError("no call was found: expected JSON, {'calls': [{'call': …}, …]}")
    return calls[:MOST_CALLS]


def _tool_in_words(tool: Tool) -> str:
    fields = ", ".join(
        f"{name} ({'|'.join(field.values) or field.type})"
        for name, field in tool.output.fields.items()
    )
    takes = ", ".join(tool.parameters) or "nothing"
    verified = f"; verified by {tool.verify.tool}" if tool.verify else ""
    summary = f"{tool.name} [{tool.effect}]: {tool.description}"
    return f"{summary}; takes {takes}; tells {fields or 'text'}{verified}"


def _trace_in_words(trace: Trace) -> str:
    labels = ", ".join(f"{name}={value}" for name, value in trace.labels.items())
    lines = [f"ticket with {labels}"]
    for call in trace.calls:
        arguments = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
        fields = ", ".join(f"{name}={str(v)[:MOST_VALUE]}" for name, v in call.fields.items())
        how = ""
        if not call.succeeded:
            how = " failed"
        elif call.effect is ToolEffect.CHANGE:
            how = " taken back" if call.undone else " worked" if call.verified else " did not show"
        made = f"{call.at:.0f} s {call.effect} {call.tool}({arguments})"
        lines.append(f"{made} on {call.target}:{how} {fields}")
    return "\n".join([*lines, f"ended: {trace.ended.value.replace('_', ' ')}"])
