"""Questions of a search to the model, and the answers that it may give.

Ticket and devices are in marked blocks.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from services.contracts.searching import NodeState
from services.execution.tools.tool import ParameterSpec, Tool
from services.investigation.search.events import Stage
from services.investigation.search.search import RETRIEVE, Expert, Search
from services.investigation.search.state import (
    LEFT_OUT,
    ROOT,
    ExpertObservation,
    SearchState,
    SubtaskNode,
    UnusableAnswer,
    screen_output,
)
from services.llm.chat_model import JsonSchema, Message
from services.llm.prompts import Prompt, load_prompt
from services.llm.structured import correction_turns

PROMPTS = {stage: load_prompt("services.investigation", f"search_{stage.value}") for stage in Stage}
MOST_FINDINGS = 5
MOST_CLAIMS = 8
_MOST_TARGETS = 60
"""Most names of devices in one question; those that the ticket names come first."""
_NEAR_LIMIT = 3
"""Remaining calls or questions from which on the model is told that the bounds are near."""


def _as_text_values(arguments: object) -> object:
    """Convert the values of arguments to text: tools take words."""
    if not isinstance(arguments, dict):
        return arguments or {}
    return {str(name): str(value) for name, value in arguments.items() if value is not None}


class ModelFinding(BaseModel):
    """As the model writes it."""

    model_config = ConfigDict(title="ToldFinding")

    text: str = Field(min_length=1)
    lines: list[int] = Field(default=[])
    fields: list[str] = Field(default=[])
    supports: list[str] = Field(default=[])
    refutes: list[str] = Field(default=[])


class ModelCitation(BaseModel):
    """As the model writes it."""

    model_config = ConfigDict(title="ToldCitation")

    observation: str
    lines: list[int] = Field(default=[])
    fields: list[str] = Field(default=[])


class ModelClaim(BaseModel):
    """As the model writes it."""

    model_config = ConfigDict(title="ToldClaim")

    text: str = Field(min_length=1)
    evidence: list[ModelCitation] = Field(default=[])


class ModelSuggestion(BaseModel):
    """As the model writes it."""

    model_config = ConfigDict(title="ToldSuggestion")

    tool: str
    target: str = ""
    arguments: dict[str, str] = Field(default={})
    why: str = ""

    _as_text = field_validator("arguments", mode="before")(_as_text_values)


class Plan(BaseModel):
    """What is done next."""

    model_config = ConfigDict(populate_by_name=True)

    choice: Literal["look", "answer", "give_up"]
    point: int = Field(default=-1, alias="from")
    """Point to go on from; -1 for the current one."""
    expert: str = ""
    subtask: str = ""
    hypothesis: str = ""
    cause: str = ""
    claims: list[ModelClaim] = Field(default=[])
    suggestion: ModelSuggestion | None = None
    why: str = ""


class LookChoice(BaseModel):
    """What an expert looks at."""

    model_config = ConfigDict(title="Act")

    tool: str
    target: str = ""
    arguments: dict[str, str] = Field(default={})
    why: str = ""

    _as_text = field_validator("arguments", mode="before")(_as_text_values)


class Reflection(BaseModel):
    """What an observation tells."""

    findings: list[ModelFinding] = Field(default=[])
    why: str = ""


ANSWERS: dict[Stage, type[Plan | LookChoice | Reflection]] = {
    Stage.PLAN: Plan,
    Stage.ACT: LookChoice,
    Stage.REFLECT: Reflection,
}


def schema_of(stage: Stage) -> JsonSchema:
    """Return the JSON schema of an answer at a stage."""
    return ANSWERS[stage].model_json_schema(by_alias=True)


def plan_messages(
    search: Search, state: SearchState, points: Sequence[int], *, is_last: bool
) -> tuple[Message, ...]:
    """Build the question for the next step of the search.

    Without points, or at the last, only an answer or giving up are left.
    """
    values = {
        "ticket": describe_ticket(search),
        "experts": _describe_experts(search),
        "tree": describe_tree(state),
        "points": _describe_points(state, [] if is_last else points),
        "left": _describe_budget(search, state, is_last=is_last or not points),
    }
    return _render(PROMPTS[Stage.PLAN], values, state.misread)


def act_messages(search: Search, state: SearchState, node: SubtaskNode) -> tuple[Message, ...]:
    """Build the question to an expert for its next look."""
    expert = search.expert_named[node.expert]
    tools = [search.tool_named[name] for name in expert.tools]
    values = {
        "role": f"{expert.name}: {expert.role}",
        "subtask": _describe_subtask(state, node),
        "ticket": describe_ticket(search),
        "tools": describe_tools(tools, expert),
        "targets": describe_targets(search, {tool.target for tool in tools}),
        "seen": describe_tree(state),
    }
    return _render(PROMPTS[Stage.ACT], values, state.misread)


def reflect_messages(state: SearchState, node: SubtaskNode) -> tuple[Message, ...]:
    """Build the question for the findings in an observation."""
    seen = state.observations[node.observation]
    values = {
        "subtask": _describe_subtask(state, node),
        "hypotheses": "\n".join(_hypothesis_lines(state)) or "none yet",
        "seen": "\n".join(f"{each.id}: {each.text}" for each in state.findings) or "nothing yet",
        "observation": describe_observation(seen, range(1, len(seen.lines) + 1)),
    }
    return _render(PROMPTS[Stage.REFLECT], values, state.misread)


def _render(
    prompt: Prompt, values: dict[str, str], misread: Sequence[UnusableAnswer]
) -> tuple[Message, ...]:
    turns = (turn for each in misread for turn in correction_turns(each.text, each.why))
    return (*prompt.render(values), *turns)


def describe_ticket(search: Search) -> str:
    """Return title, text and labels of the ticket as text."""
    labels = [f"{name}: {value}" for name, value in search.ticket.labels.items()]
    return "\n".join(filter(None, (search.ticket.title, search.ticket.text, *labels)))


def _describe_experts(search: Search) -> str:
    lines = []
    for expert in search.experts:
        lines.append(f"{expert.name}: {expert.role}")
        lines.append(f"  has {', '.join((*expert.tools, RETRIEVE))}")
    lines += ["", "Their tools:"]
    lines += [f"  {t.name}: {_screened(t.description)} (of a {t.target})" for t in search.tools]
    lines.append(f"  {RETRIEVE}: look something up in documents")
    kinds = set(search.targets.values())
    lines += ["", "Devices:", describe_targets(search, kinds)]
    if search.changes:
        lines += ["", "Tools that change something; they can be suggested with an answer:"]
        lines += [
            f"  {each.name}({', '.join(each.parameters)}): {_screened(each.description)}"
            for each in search.changes
        ]
    return "\n".join(lines)


def describe_tools(tools: Sequence[Tool], expert: Expert | None = None) -> str:
    """Return tools with their parameters and output fields as text."""
    lines = []
    for tool in tools:
        lines.append(f"{tool.name}: {_screened(tool.description)} (of a {tool.target})")
        lines += [
            f"  {name}: {_describe_parameter(each)}" for name, each in tool.parameters.items()
        ]
        if fields := [f"{n} ({_screened(f.description)})" for n, f in tool.output.fields.items()]:
            lines.append(f"  tells {', '.join(fields)}")
    knowledge = (
        f", those below {', '.join(expert.knowledge)}" if expert and expert.knowledge else ""
    )
    lines.append(f"{RETRIEVE}: look something up in documents{knowledge}\n  query: a few words")
    return "\n".join(lines)


def _screened(description: str) -> str:
    """Screen a description of the catalogue: it may have been imported, so it is data too."""
    return screen_output(description).strip() or LEFT_OUT


def _describe_parameter(parameter: ParameterSpec) -> str:
    parts = [_screened(parameter.description)] if parameter.description else []
    if parameter.values:
        parts.append(f"one of {', '.join(parameter.values)}")
    if parameter.pattern:
        parts.append(f"matches {parameter.pattern}")
    if parameter.minimum is not None or parameter.maximum is not None:
        parts.append(f"from {parameter.minimum} to {parameter.maximum}")
    return "; ".join(parts) or "one word"


def describe_targets(search: Search, kinds: set[str]) -> str:
    """Return the names of devices by kind; of very many some, those in the ticket first."""
    ticket = describe_ticket(search)
    names = [name for name, kind in search.targets.items() if kind in kinds]
    names.sort(key=lambda name: name not in ticket)
    lines = []
    for kind in sorted(kinds):
        mine = [name for name in names if search.targets[name] == kind]
        more = f" and {len(mine) - _MOST_TARGETS} more" if len(mine) > _MOST_TARGETS else ""
        lines.append(f"{kind}: {', '.join(mine[:_MOST_TARGETS])}{more}")
    return "\n".join(lines) or "none"


def describe_tree(state: SearchState) -> str:
    """Return the tree, hypotheses, and cited observations as text."""
    if not state.nodes:
        return "nothing yet"
    lines = [line for node in state.children(ROOT) for line in _node_lines(state, node)]
    if hypotheses := list(_hypothesis_lines(state)):
        lines += ["", "Hypotheses:", *hypotheses]
    shown = [*_cited_observations(state)]
    return "\n".join([*lines, "", "Observations:", *shown] if shown else lines)


def _node_lines(state: SearchState, node: SubtaskNode) -> Iterator[str]:
    if node.state is NodeState.PRUNED:
        return
    indent = "  " * (node.depth - 1)
    aims = f" [{node.hypothesis}]" if node.hypothesis else ""
    yield f"{indent}{node.id}. {node.expert}: {node.subtask}{aims} - {node.state.value}"
    if node.call is not None:
        seen = f" -> {node.observation}" if node.observation else ""
        yield f"{indent}   looked: {node.call.shown}{node.call.on_target}{seen}"
    if node.state_why and node.state is not NodeState.INFORMATIVE:
        yield f"{indent}   {node.state_why}"
    for finding in node.findings:
        if not finding.struck:
            bears = [f"supports {', '.join(finding.supports)}"] if finding.supports else []
            bears += [f"refutes {', '.join(finding.refutes)}"] if finding.refutes else []
            bearing = f" ({'; '.join(bears)})" if bears else ""
            yield f"{indent}   {finding.id}: {finding.text}{bearing}"
    for child in state.children(node.id):
        yield from _node_lines(state, child)


def _hypothesis_lines(state: SearchState) -> Iterator[str]:
    for id_, text in state.hypotheses.items():
        yield f"{id_}: {text} - {state.hypothesis_state(id_).value}"


def _cited_observations(state: SearchState) -> Iterator[str]:
    """Yield each cited observation, with its fields and the lines that findings cite."""
    cited: dict[str, set[int]] = {}
    for finding in state.findings:
        for each in finding.cited:
            cited.setdefault(each.observation, set()).update(each.lines)
    for id_, seen in state.citable.items():
        if id_ in cited:
            yield describe_observation(seen, sorted(cited[id_]))


def describe_observation(seen: ExpertObservation, numbers: Sequence[int] | range) -> str:
    """Return the call of an observation, its fields and these of its lines as text."""
    head = f"{seen.id}: {seen.call.tool}: {seen.call.shown}{seen.call.on_target}"
    lines = [f"  {n} | {line}" for n, line in enumerate(seen.read_lines, 1) if n in numbers]
    fields = [f"  {name} = {value}" for name, value in seen.read_fields.items()]
    cut = ["  (it was longer; the rest is not shown)"] if seen.is_cut else []
    return "\n".join([head, *fields, *lines, *cut] if fields or lines else [head, "  (empty)"])


def _describe_points(state: SearchState, points: Sequence[int]) -> str:
    if not points:
        return "none: answer, or give up"
    lines = []
    for point in points:
        here = " - the search stands here" if point == state.here else ""
        what = state.nodes[point].subtask if point else "the ticket itself"
        lines.append(f"{point}: {what}{here}")
    return "\n".join(lines)


def _describe_budget(search: Search, state: SearchState, *, is_last: bool) -> str:
    limits = search.limits
    if is_last:
        return "nothing: answer with what was found, or give up"
    calls, questions = limits.calls - state.calls, limits.questions - state.questions
    near = "; the bounds are near" if calls <= _NEAR_LIMIT or questions <= 3 * _NEAR_LIMIT else ""
    return f"{calls} looks, {limits.depth} deep at most{near}"


def _describe_subtask(state: SearchState, node: SubtaskNode) -> str:
    hypothesis = state.hypotheses.get(node.hypothesis, "")
    lines = [node.subtask]
    if hypothesis:
        lines.append(f"It is to confirm or rule out {node.hypothesis}: {hypothesis}")
    return "\n".join(lines)
