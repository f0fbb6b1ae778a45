"""Export and import of Mermaid flowcharts."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, groupby

from services.workflow.formats.mermaid_labels import escape_id, escape_label
from services.workflow.formats.mermaid_parser import (
    MOST_LINKS,
    Chart,
    FlowchartLink,
    MermaidError,
    Node,
    Subgraph,
    parse_chart,
)
from services.workflow.graph import reachable
from services.workflow.model import Step, StepKind, Transition, Workflow

_BRACKETS = {
    StepKind.PROCESS: ('["', '"]'),
    StepKind.DECISION: ('{"', '"}'),
    StepKind.TERMINAL: ('(["', '"])'),
}
_NO_HEADINGS: Mapping[str, str] = {}
_START_CLASS = "kind-start"
_KIND_CLASSES = {f"kind-{kind.value}": kind for kind in StepKind}
"""Classes that state a kind that shape and exits would not show."""


def to_mermaid(workflow: Workflow, headings: Mapping[str, str] = _NO_HEADINGS) -> str:
    """Write the flowchart; equal workflows give equal texts, and `from_mermaid` reads them back.

    `headings` are those above the steps, by step ids: consecutive steps below the same heading are
    drawn as a group of that name.

    Nothing in a text can leave its quotes. Commands, citations and provenance are not part of a
    flowchart; steps without a source are drawn dashed, and those in doubt dotted. If a decision was
    answered before, the arrow that holds is thick and the others are dotted.
    """
    lines = ["---", f"title: {_yaml_string(workflow.title)}", "---"] if workflow.title else []
    lines.append("flowchart TD")
    lines += _node_lines(workflow, headings)
    for edge in workflow.transitions:
        condition = f'|"{escape_label(edge.condition)}"|' if edge.condition else ""
        lines.append(f"    {escape_id(edge.source)} -->{condition} {escape_id(edge.target)}")
    ids = [step.id for step in workflow.steps]
    if ids and _start(ids, workflow.transitions) != ids[0]:
        lines.append(f"    class {escape_id(ids[0])} {_START_CLASS}")
    unsourced = [escape_id(step.id) for step in workflow.steps if not step.is_sourced]
    if unsourced:
        lines.append("    classDef unsourced stroke-dasharray: 5 4")
        lines.append(f"    class {','.join(unsourced)} unsourced")
    doubtful = [escape_id(step.id) for step in workflow.steps if step.doubt]
    if doubtful:
        lines.append("    classDef doubtful stroke-dasharray: 2 3")
        lines.append(f"    class {','.join(doubtful)} doubtful")
    lines += _answer_styles(workflow)
    return "\n".join(lines) + "\n"


def _node_lines(workflow: Workflow, headings: Mapping[str, str]) -> Iterator[str]:
    """Yield the nodes in their order, those below a heading within its group."""
    ids = (f"section-{number}" for number in count(1))
    free = (group for group in ids if group not in workflow.by_id)
    for heading, steps in groupby(workflow.steps, lambda step: headings.get(step.id, "")):
        nodes = []
        for step in steps:
            left, right = _BRACKETS[step.kind]
            node = f"{escape_id(step.id)}{left}{escape_label(step.text) or ' '}{right}"
            if _kind(step.kind is StepKind.DECISION, workflow.exits(step.id)) is not step.kind:
                node += f":::kind-{step.kind.value}"
            nodes.append(node)
        if heading:
            yield f'    subgraph {next(free)}["{escape_label(heading)}"]'
            yield from (f"        {node}" for node in nodes)
            yield "    end"
        else:
            yield from (f"    {node}" for node in nodes)


def _answer_styles(workflow: Workflow) -> list[str]:
    """Return style lines: arrows that hold are thick, those that are ruled out dotted."""
    states = [workflow.holds(edge) for edge in workflow.transitions]
    styles = ((True, "stroke-width:4px"), (False, "stroke-dasharray:2 3"))
    return [
        f"    linkStyle {','.join(str(n) for n, each in enumerate(states) if each is holds)}"
        f" {style}"
        for holds, style in styles
        if holds in states
    ]


def from_mermaid(text: str) -> Workflow:
    """Parse the first flowchart in `text`, fenced or bare, with or without prose around it.

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
    exits = defaultdict(list)
    for edge in transitions:
        exits[edge.source].append(edge)
    stated = next((node.id for node in nodes if _START_CLASS in node.classes), None)
    start = stated or _start([node.id for node in nodes], transitions)
    nodes.sort(key=lambda node: node.id != start)
    return Workflow(
        title=chart.title,
        steps=tuple(_step(node, exits[node.id]) for node in nodes),
        transitions=transitions,
    )


def _yaml_string(text: str) -> str:
    """Write a double-quoted scalar; characters that YAML refuses are escaped as in JSON.

    So is `<`: Mermaid takes it for a tag anywhere, and changes quotes after it.
    """
    quoted = json.dumps(text, ensure_ascii=False).replace("<", "\\u003c")
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in quoted)


def _kind(is_diamond: bool, exits: Sequence[Transition]) -> StepKind:
    if is_diamond or sum(bool(transition.condition) for transition in exits) >= 2:
        return StepKind.DECISION
    return StepKind.PROCESS if exits else StepKind.TERMINAL


def _step(node: Node, exits: Sequence[Transition]) -> Step:
    stated = (_KIND_CLASSES[name] for name in sorted(node.classes) if name in _KIND_CLASSES)
    return Step(
        id=node.id,
        kind=next(stated, None) or _kind(node.is_diamond, exits),
        text=node.id if node.label is None else node.label,
    )


def _start(ids: Sequence[str], transitions: Sequence[Transition]) -> str:
    """Return the first step, or a step without predecessors that leads to it."""
    sources: dict[str, list[str]] = {}
    for transition in transitions:
        sources.setdefault(transition.target, []).append(transition.source)
    before = reachable(ids[0], sources)
    return next((i for i in ids if i in before and i not in sources), ids[0])


def _resolved_links(chart: Chart) -> list[FlowchartLink]:
    """Resolve links to nodes only: a group becomes its first step or its ends."""
    entries: dict[str, str] = {}
    ends: dict[str, list[str]] = {}
    for name in chart.groups:
        members = _members(chart, name)
        entered = {link.target for link in chart.links if link.source in members}
        left = {link.source for link in chart.links if link.target in members}
        first = next(iter(members))
        entries[name] = next((each for each in members if each not in entered), first)
        ends[name] = [each for each in members if each not in left] or [*members][-1:]
    links: list[FlowchartLink] = []
    for link in chart.links:
        target = entries.get(link.target, link.target)
        links += [
            FlowchartLink(end, target, link.label) for end in ends.get(link.source, [link.source])
        ]
        if len(links) > MOST_LINKS:
            raise MermaidError(f"expected at most {MOST_LINKS} arrows", 1, "more than that")
    return links


def _members(chart: Chart, group: str) -> dict[str, None]:
    """Collect nodes in a group and its inner groups, in order; an empty group is its own member."""
    nodes: dict[str, None] = {}
    waiting = [group]
    seen: set[str] = set()
    while waiting:
        current = waiting.pop()
        inner = chart.groups.get(current)
        if inner is None:
            nodes[current] = None
        elif current not in seen:
            seen.add(current)
            waiting.extend(reversed(inner.members))
    return nodes or {group: None}


def _lone_groups(chart: Chart) -> list[Subgraph]:
    """Return the empty groups that an arrow names."""
    named = {end for link in chart.links for end in (link.source, link.target)}
    return [
        group
        for group in chart.groups.values()
        if group.id in named and list(_members(chart, group.id)) == [group.id]
    ]
