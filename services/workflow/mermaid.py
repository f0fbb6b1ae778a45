"""Mermaid flowcharts out and in."""

import json
from collections.abc import Sequence

from services.workflow.graph import reachable, successors
from services.workflow.mermaid_labels import escape_id, escape_label
from services.workflow.mermaid_parser import Chart, Group, Link, MermaidError, Node, parse_chart
from services.workflow.model import Step, StepKind, Transition, Workflow

__all__ = ["MermaidError", "from_mermaid", "to_mermaid"]

_BRACKETS = {
    StepKind.PROCESS: ('["', '"]'),
    StepKind.DECISION: ('{"', '"}'),
    StepKind.TERMINAL: ('(["', '"])'),
}
_START_CLASS = "kind-start"
_KIND_CLASSES = {f"kind-{kind.value}": kind for kind in StepKind}
"""Classes that say outright what shape and exits would not tell."""


def to_mermaid(workflow: Workflow) -> str:
    """The same workflow always gives the same text, and `from_mermaid` reads it back.

    Nothing in a text can leave its quotes. Commands, citations and provenance are not part of a
    flowchart; steps without a source are drawn dashed.
    """
    lines = ["---", f"title: {_yaml_string(workflow.title)}", "---"] if workflow.title else []
    lines.append("flowchart TD")
    lines += [f"    {_node_line(step, workflow)}" for step in workflow.steps]
    lines += [f"    {_edge_line(transition)}" for transition in workflow.transitions]
    ids = [step.id for step in workflow.steps]
    if ids and _start(ids, workflow.transitions) != ids[0]:
        lines.append(f"    class {escape_id(ids[0])} {_START_CLASS}")
    unsourced = [escape_id(step.id) for step in workflow.steps if not step.is_sourced]
    if unsourced:
        lines.append("    classDef unsourced stroke-dasharray: 5 4")
        lines.append(f"    class {','.join(unsourced)} unsourced")
    return "\n".join(lines) + "\n"


def from_mermaid(text: str) -> Workflow:
    """The first flowchart in `text`, in a fence or bare, with prose around it or not.

    A diamond, or a node with two labelled exits or more, is a decision; a node without exits is a
    terminal; any other a process. An arrow into a subgraph leads to its first step, an arrow out
    of it leaves from each of its ends. Styling, links and comments are ignored.

    Raises:
        MermaidError: No flowchart, none with a step in it, or a line that cannot be read.
    """
    chart = parse_chart(text)
    if not chart.nodes and not chart.groups:
        raise MermaidError("expected at least one step", 1, text)
    links = _resolved_links(chart)
    nodes = [node for node in chart.nodes.values() if node.id not in chart.groups]
    nodes += [Node(group.id, group.title) for group in _lone_groups(chart)]
    transitions = tuple(
        Transition(source=link.source, target=link.target, condition=link.label) for link in links
    )
    return Workflow(
        title=chart.title,
        steps=tuple(_step(node, transitions) for node in _start_first(nodes, transitions)),
        transitions=transitions,
    )


def _node_line(step: Step, workflow: Workflow) -> str:
    exits = workflow.exits(step.id)
    left, right = _BRACKETS[step.kind]
    line = f"{escape_id(step.id)}{left}{escape_label(step.text) or ' '}{right}"
    if _kind(step.kind is StepKind.DECISION, exits) is not step.kind:
        line += f":::kind-{step.kind.value}"
    return line


def _edge_line(transition: Transition) -> str:
    condition = f'|"{escape_label(transition.condition)}"|' if transition.condition else ""
    return f"{escape_id(transition.source)} -->{condition} {escape_id(transition.target)}"


def _yaml_string(text: str) -> str:
    """A double-quoted scalar; what YAML refuses is escaped as in JSON.

    So is `<`: Mermaid takes it for a tag, wherever it stands, and changes quotes after it.
    """
    quoted = json.dumps(text, ensure_ascii=False).replace("<", "\\u003c")
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in quoted)


def _kind(is_diamond: bool, exits: Sequence[Transition]) -> StepKind:
    if is_diamond or sum(bool(transition.condition) for transition in exits) >= 2:
        return StepKind.DECISION
    return StepKind.PROCESS if exits else StepKind.TERMINAL


def _step(node: Node, transitions: Sequence[Transition]) -> Step:
    exits = [transition for transition in transitions if transition.source == node.id]
    stated = (_KIND_CLASSES[name] for name in sorted(node.classes) if name in _KIND_CLASSES)
    return Step(
        id=node.id,
        kind=next(stated, None) or _kind(node.is_diamond, exits),
        text=node.id if node.label is None else node.label,
    )


def _start(ids: Sequence[str], transitions: Sequence[Transition]) -> str:
    """The first step, unless a step that nothing leads to leads to it."""
    arrows = successors(transitions)
    targets = {target for found in arrows.values() for target in found}
    roots = (step_id for step_id in ids if step_id not in targets)
    if ids[0] not in targets:
        return ids[0]
    return next((root for root in roots if ids[0] in reachable(root, arrows)), ids[0])


def _start_first(nodes: list[Node], transitions: Sequence[Transition]) -> list[Node]:
    stated = next((node.id for node in nodes if _START_CLASS in node.classes), None)
    start = stated or _start([node.id for node in nodes], transitions)
    return sorted(nodes, key=lambda node: node.id != start)


def _resolved_links(chart: Chart) -> list[Link]:
    """Links between nodes only: a group stands for its first step or for its ends."""
    links: list[Link] = []
    for link in chart.links:
        sources = _ends(chart, link.source)
        targets = _entry(chart, link.target)
        links += [Link(source, target, link.label) for source in sources for target in targets]
    return links


def _entry(chart: Chart, name: str) -> list[str]:
    members = _members(chart, name)
    entered = {link.target for link in chart.links if link.source in members}
    return [member for member in members if member not in entered][:1] or members[:1]


def _ends(chart: Chart, name: str) -> list[str]:
    members = _members(chart, name)
    left = {link.source for link in chart.links if link.target in members}
    return [member for member in members if member not in left] or members[-1:]


def _members(chart: Chart, name: str) -> list[str]:
    """Nodes within a group and its inner groups; a node, or a group without any, is its own."""
    found: list[str] = []
    waiting = [name]
    seen: set[str] = set()
    while waiting:
        current = waiting.pop(0)
        group = chart.groups.get(current)
        if current in seen:
            continue
        seen.add(current)
        if group is None:
            found.append(current)
        else:
            waiting = group.members + waiting
    return found or [name]


def _lone_groups(chart: Chart) -> list[Group]:
    """Groups that hold no step but that an arrow names."""
    named = {end for link in chart.links for end in (link.source, link.target)}
    return [
        group
        for group in chart.groups.values()
        if group.id in named and _members(chart, group.id) == [group.id]
    ]
