"""A workflow as Markdown for people: numbered, with commands, output, doubts and sources."""

from collections.abc import Callable

from services.workflow.effects.effect import effect_of
from services.workflow.formats.markdown_escape import escape_markdown, fence_code, is_safe_address
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

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
    blocks += [block for command in step.commands for block in _command(command)]
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


def _command(command: str) -> list[str]:
    """Return the command, below its effect unless it is read-only."""
    words = effect_of(command).words
    return [*([f"*{_words(words)}*"] if words else []), fence_code(command, "sh")]


def _exits(step: Step, workflow: Workflow, numbers: dict[str, int]) -> str:
    exits = workflow.exits(step.id)
    if not exits:
        return "*End.*" if step.kind is StepKind.TERMINAL else ""
    if len(exits) == 1 and not exits[0].condition:
        target = numbers[exits[0].target]
        return "" if target == numbers[step.id] + 1 else f"→ step {target}"
    return "\n".join(_exit(workflow, edge, numbers[edge.target]) for edge in exits)


def _exit(workflow: Workflow, edge: Transition, target: int) -> str:
    """Return one exit as a list item; the exit that holds for an answered question is bold."""
    text = f"{_words(edge.condition) or 'otherwise'} → step {target}"
    holds = workflow.holds(edge)
    if holds is None:
        return f"- {text}"
    return f"- **{text}**" if holds else f"- {text} (ruled out)"


def _sources(step: Step, link: CitationLink | None) -> str:
    if not step.citations:
        if step.implied:
            return "*Follows from the steps around it.*"
        return "*No source: the planner's own step.*"
    return "Source: " + "; ".join(_source(citation, link) for citation in step.citations)


def _source(citation: Citation, link: CitationLink | None) -> str:
    lines = f"{citation.start_line}–{citation.end_line}"
    if citation.start_line == citation.end_line:
        lines = str(citation.start_line)
    name = f"{_words(citation.document_id)}:{lines}"
    address = link(citation) if link else ""
    return f"[{name}](<{address}>)" if is_safe_address(address) else name


def _words(text: str) -> str:
    """Return the text on one line, without effect as Markdown or HTML."""
    return escape_markdown(text).strip()
