"""A workflow as Markdown for people: numbered, with commands, output, doubts and sources."""

from collections.abc import Callable

from services.workflow.effects.effect import effect_of
from services.workflow.formats.markdown_escape import escape_markdown, fence_code, is_safe_address
from services.workflow.model import Citation, Step, StepKind, Workflow

CitationLink = Callable[[Citation], str]
"""The address of a source's text."""


def to_markdown(workflow: Workflow, *, link: CitationLink | None = None) -> str:
    """Write the workflow; all text is escaped, so no HTML or Markdown in it takes effect.

    `link` gives the address of a citation, relative or http(s); without it, or where it gives
    anything else, the source is named only.
    """
    numbers = {step.id: number for number, step in enumerate(workflow.steps, 1)}
    parts = [f"# {_words(workflow.title) or 'Workflow'}"]
    parts += [_item(step, workflow, numbers, link) for step in workflow.steps]
    return "\n\n".join(parts) + "\n"


def _item(
    step: Step, workflow: Workflow, numbers: dict[str, int], link: CitationLink | None
) -> str:
    marker = f"{numbers[step.id]}. "
    blocks = [f"**{_words(step.text) or '…'}**"]
    for command in step.commands:
        if words := effect_of(command).words:
            blocks.append(f"*{_words(words)}*")
        blocks.append(fence_code(command, "sh"))
    if step.expected:
        blocks += ["Expected:", fence_code(step.expected, "text")]
    blocks += [f"*Note:* {_words(note)}" for note in step.notes]
    if step.doubt:
        blocks.append(f"*Not sure:* {_words(step.doubt)}")
    if step.settled:
        blocks.append(f"*Settled:* **{_words(step.settled)}** {_words(step.settled_by)}".rstrip())
    if exits := _exits(step, workflow, numbers):
        blocks.append(exits)
    blocks.append(_sources(step, link))
    indent = " " * len(marker)
    body = "\n\n".join(blocks)
    return marker + body.replace("\n", f"\n{indent}").replace(f"\n{indent}\n", "\n\n")


def _exits(step: Step, workflow: Workflow, numbers: dict[str, int]) -> str:
    """Return the exits as a list; the one that holds for an answered question is bold."""
    exits = workflow.exits(step.id)
    if not exits:
        return "*End.*" if step.kind is StepKind.TERMINAL else ""
    if len(exits) == 1 and not exits[0].condition:
        target = numbers[exits[0].target]
        return "" if target == numbers[step.id] + 1 else f"→ step {target}"
    items = []
    for edge in exits:
        text = f"{_words(edge.condition) or 'otherwise'} → step {numbers[edge.target]}"
        match workflow.holds(edge):
            case True:
                text = f"**{text}**"
            case False:
                text += " (ruled out)"
        items.append(f"- {text}")
    return "\n".join(items)


def _sources(step: Step, link: CitationLink | None) -> str:
    if not step.citations:
        if step.implied:
            return "*Follows from the steps around it.*"
        return "*No source: the planner's own step.*"
    sources = []
    for citation in step.citations:
        name = f"{_words(citation.document_id)}:{citation.start_line}"
        if citation.end_line != citation.start_line:
            name += f"–{citation.end_line}"
        address = link(citation) if link else ""
        sources.append(f"[{name}](<{address}>)" if is_safe_address(address) else name)
    return "Source: " + "; ".join(sources)


def _words(text: str) -> str:
    """Return the text on one line, without effect as Markdown or HTML."""
    return escape_markdown(text).strip()
