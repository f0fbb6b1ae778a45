"""What the model is asked, and what it may answer; ticket and devices stand in marked blocks."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from services.contracts.searching import Cited, NodeState
from services.executor.search.events import Stage
from services.executor.search.experts import RETRIEVE, Expert
from services.executor.search.search import Search
from services.executor.search.state import LEFT_OUT, ROOT, Misread, Node, Observation, SearchState
from services.executor.tools.tool import Parameter, Tool
from services.knowledge.screening.screening import screen_message
from services.llm.chat_model import JsonSchema, Message
from services.llm.prompts import Prompt, load_prompt

_PROMPTS = {stage: load_prompt("services.executor", f"search_{stage.value}") for stage in Stage}
MOST_FINDINGS = 5
MOST_CLAIMS = 8
_MOST_TARGETS = 60
"""Names of devices in one question; those that the ticket names come first."""
_FEW = 3
"""Calls or questions left of which the model is told that the bounds are near."""


def _texts(told: object) -> object:
    """Numbers as texts: tools take words."""
    if not isinstance(told, dict):
        return told or {}
    return {str(name): str(value) for name, value in told.items() if value is not None}


class ToldFinding(BaseModel):
    """As the model writes it."""

    text: str = Field(min_length=1)
    lines: list[int] = Field(default=[])
    fields: list[str] = Field(default=[])
    supports: list[str] = Field(default=[])
    refutes: list[str] = Field(default=[])


class ToldCitation(BaseModel):
    """As the model writes it."""

    observation: str
    lines: list[int] = Field(default=[])
    fields: list[str] = Field(default=[])

    @property
    def cited(self) -> Cited:
        """As it is kept."""
        return Cited(
            observation=self.observation.strip().upper(),
            lines=tuple(self.lines),
            fields=tuple(self.fields),
        )


class ToldClaim(BaseModel):
    """As the model writes it."""

    text: str = Field(min_length=1)
    evidence: list[ToldCitation] = Field(default=[])


class ToldSuggestion(BaseModel):
    """As the model writes it."""

    tool: str
    target: str = ""
    arguments: dict[str, str] = Field(default={})
    why: str = ""

    _as_text = field_validator("arguments", mode="before")(_texts)


class Plan(BaseModel):
    """What is done next."""

    model_config = ConfigDict(populate_by_name=True)

    choice: Literal["look", "answer", "give_up"]
    point: int = Field(default=-1, alias="from")
    """-1: where the search stands."""
    expert: str = ""
    subtask: str = ""
    hypothesis: str = ""
    cause: str = ""
    claims: list[ToldClaim] = Field(default=[])
    suggestion: ToldSuggestion | None = None
    why: str = ""


class Act(BaseModel):
    """What an expert looks at."""

    tool: str
    target: str = ""
    arguments: dict[str, str] = Field(default={})
    why: str = ""

    _as_text = field_validator("arguments", mode="before")(_texts)


class Reflection(BaseModel):
    """What an observation tells."""

    findings: list[ToldFinding] = Field(default=[])
    why: str = ""


ANSWERS: dict[Stage, type[Plan | Act | Reflection]] = {
    Stage.PLAN: Plan,
    Stage.ACT: Act,
    Stage.REFLECT: Reflection,
}


def label_of(stage: Stage) -> str:
    """The name and version of its prompt."""
    return _PROMPTS[stage].label


def schema_of(stage: Stage) -> JsonSchema:
    """What an answer must look like."""
    return ANSWERS[stage].model_json_schema(by_alias=True)


def plan_messages(
    search: Search, state: SearchState, points: Sequence[int], *, is_last: bool
) -> tuple[Message, ...]:
    """What is done next? Without points, or at the last, only an answer or giving up are left."""
    told = {
        "ticket": ticket_told(search),
        "experts": _experts(search),
        "tree": tree_told(state),
        "points": _points(state, [] if is_last else points),
        "left": _left(search, state, is_last=is_last or not points),
    }
    return _asked(_PROMPTS[Stage.PLAN], told, state.misread)


def act_messages(search: Search, state: SearchState, node: Node) -> tuple[Message, ...]:
    """What does the expert look at?"""
    expert = search.expert_named[node.expert]
    tools = [search.tool_named[name] for name in expert.tools]
    told = {
        "role": f"{expert.name}: {expert.role}",
        "subtask": _subtask(state, node),
        "ticket": ticket_told(search),
        "tools": tools_told(tools, expert),
        "targets": targets_told(search, {tool.target for tool in tools}),
        "seen": tree_told(state),
    }
    return _asked(_PROMPTS[Stage.ACT], told, state.misread)


def reflect_messages(state: SearchState, node: Node) -> tuple[Message, ...]:
    """What does the observation tell?"""
    seen = state.observations[node.observation]
    told = {
        "subtask": _subtask(state, node),
        "hypotheses": "\n".join(_hypotheses(state)) or "none yet",
        "seen": "\n".join(_findings(state)) or "nothing yet",
        "observation": observation_told(seen, range(1, len(seen.lines) + 1)),
    }
    return _asked(_PROMPTS[Stage.REFLECT], told, state.misread)


def _asked(prompt: Prompt, told: dict[str, str], misread: Sequence[Misread]) -> tuple[Message, ...]:
    turns: list[Message] = []
    for each in misread:
        said = f"That cannot be used: {each.why}. Answer with the JSON only."
        turns += [
            Message(role="assistant", content=each.text),
            Message(role="user", content=said),
        ]
    return (*prompt.render(told), *turns)


def ticket_told(search: Search) -> str:
    """Title, text and labels."""
    labels = [f"{name}: {value}" for name, value in search.ticket.labels.items()]
    return "\n".join(filter(None, (search.ticket.title, search.ticket.text, *labels)))


def _experts(search: Search) -> str:
    lines = []
    for expert in search.experts:
        lines.append(f"{expert.name}: {expert.role}")
        lines.append(f"  has {', '.join((*expert.tools, RETRIEVE))}")
    lines += ["", "Their tools:"]
    lines += [f"  {t.name}: {_said(t.description)} (of a {t.target})" for t in search.tools]
    lines.append(f"  {RETRIEVE}: look something up in documents")
    kinds = set(search.targets.values())
    lines += ["", "Devices:", targets_told(search, kinds)]
    if search.changes:
        lines += ["", "Tools that change something; they can be suggested with an answer:"]
        lines += [
            f"  {each.name}({', '.join(each.parameters)}): {_said(each.description)}"
            for each in search.changes
        ]
    return "\n".join(lines)


def tools_told(tools: Sequence[Tool], expert: Expert | None = None) -> str:
    """Tools with their parameters and what they tell."""
    lines = []
    for tool in tools:
        lines.append(f"{tool.name}: {_said(tool.description)} (of a {tool.target})")
        lines += [f"  {name}: {_parameter(each)}" for name, each in tool.parameters.items()]
        if fields := [f"{n} ({_said(f.description)})" for n, f in tool.output.fields.items()]:
            lines.append(f"  tells {', '.join(fields)}")
    knowledge = (
        f", those below {', '.join(expert.knowledge)}" if expert and expert.knowledge else ""
    )
    lines.append(f"{RETRIEVE}: look something up in documents{knowledge}\n  query: a few words")
    return "\n".join(lines)


def _said(description: str) -> str:
    """What the catalogue says of itself, which may have been imported: data as everything else."""
    return screen_message(description).text.strip() or LEFT_OUT


def _parameter(parameter: Parameter) -> str:
    told = [_said(parameter.description)] if parameter.description else []
    if parameter.values:
        told.append(f"one of {', '.join(parameter.values)}")
    if parameter.pattern:
        told.append(f"matches {parameter.pattern}")
    if parameter.minimum is not None or parameter.maximum is not None:
        told.append(f"from {parameter.minimum} to {parameter.maximum}")
    return "; ".join(told) or "one word"


def targets_told(search: Search, kinds: set[str]) -> str:
    """Names of the devices, by kind; of very many some, those that the ticket names first."""
    ticket = ticket_told(search)
    names = [name for name, kind in search.targets.items() if kind in kinds]
    names.sort(key=lambda name: name not in ticket)
    lines = []
    for kind in sorted(kinds):
        mine = [name for name in names if search.targets[name] == kind]
        more = f" and {len(mine) - _MOST_TARGETS} more" if len(mine) > _MOST_TARGETS else ""
        lines.append(f"{kind}: {', '.join(mine[:_MOST_TARGETS])}{more}")
    return "\n".join(lines) or "none"


def tree_told(state: SearchState) -> str:
    """The tree, then hypotheses and observations as far as they were found to tell something."""
    if not state.nodes:
        return "nothing yet"
    lines = [line for node in state.children(ROOT) for line in _node(state, node)]
    if hypotheses := list(_hypotheses(state)):
        lines += ["", "Hypotheses:", *hypotheses]
    shown = [*_observations(state)]
    return "\n".join([*lines, "", "Observations:", *shown] if shown else lines)


def _node(state: SearchState, node: Node) -> Iterator[str]:
    if node.state is NodeState.PRUNED:
        return
    indent = "  " * (node.depth - 1)
    aims = f" [{node.hypothesis}]" if node.hypothesis else ""
    yield f"{indent}{node.id}. {node.expert}: {node.subtask}{aims} - {node.state.value}"
    if node.call is not None:
        seen = f" -> {node.observation}" if node.observation else ""
        yield f"{indent}   looked: {node.call.shown}{node.call.on_target}{seen}"
    if node.state_why and node.state is not NodeState.TOLD:
        yield f"{indent}   {node.state_why}"
    for finding in node.findings:
        if not finding.struck:
            bears = [f"supports {', '.join(finding.supports)}"] if finding.supports else []
            bears += [f"refutes {', '.join(finding.refutes)}"] if finding.refutes else []
            told = f" ({'; '.join(bears)})" if bears else ""
            yield f"{indent}   {finding.id}: {finding.text}{told}"
    for child in state.children(node.id):
        yield from _node(state, child)


def _hypotheses(state: SearchState) -> Iterator[str]:
    for id_, text in state.hypotheses.items():
        yield f"{id_}: {text} - {state.standing(id_).value}"


def _findings(state: SearchState) -> Iterator[str]:
    for each in state.findings:
        yield f"{each.id}: {each.text}"


def _observations(state: SearchState) -> Iterator[str]:
    """Of each that told something, the lines that findings cite, and its fields."""
    cited: dict[str, set[int]] = {}
    for finding in state.findings:
        for each in finding.cited:
            cited.setdefault(each.observation, set()).update(each.lines)
    for id_, seen in state.citable.items():
        if id_ in cited:
            yield observation_told(seen, sorted(cited[id_]))


def observation_told(seen: Observation, numbers: Sequence[int] | range) -> str:
    """Its call, fields and these of its lines."""
    head = f"{seen.id}: {seen.call.tool}: {seen.call.shown}{seen.call.on_target}"
    lines = [f"  {n} | {line}" for n, line in enumerate(seen.read_lines, 1) if n in numbers]
    fields = [f"  {name} = {value}" for name, value in seen.read_fields.items()]
    cut = ["  (it was longer; the rest is not shown)"] if seen.is_cut else []
    return "\n".join([head, *fields, *lines, *cut] if fields or lines else [head, "  (empty)"])


def _points(state: SearchState, points: Sequence[int]) -> str:
    if not points:
        return "none: answer, or give up"
    told = []
    for point in points:
        here = " - the search stands here" if point == state.here else ""
        what = state.nodes[point].subtask if point else "the ticket itself"
        told.append(f"{point}: {what}{here}")
    return "\n".join(told)


def _left(search: Search, state: SearchState, *, is_last: bool) -> str:
    limits = search.limits
    if is_last:
        return "nothing: answer with what was found, or give up"
    calls, questions = limits.calls - state.calls, limits.questions - state.questions
    near = "; the bounds are near" if calls <= _FEW or questions <= 3 * _FEW else ""
    return f"{calls} looks, {limits.depth} deep at most{near}"


def _subtask(state: SearchState, node: Node) -> str:
    supposed = state.hypotheses.get(node.hypothesis, "")
    told = [node.subtask]
    if supposed:
        told.append(f"It is to confirm or rule out {node.hypothesis}: {supposed}")
    return "\n".join(told)
