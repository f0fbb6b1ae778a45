"""What a language model is shown of a request: ticket, context and candidates as plain text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.contracts.scorer import Score, ScoreRequest
from services.contracts.ticket import TicketDraft
from services.knowledge.model import KnowledgeContext, Span
from services.workflow.canonical import canonical_text

_LONGEST_TICKET = 4_000
"""Characters; what an engineer would read before he begins."""


@dataclass(frozen=True)
class Subject:
    """One request as texts, with what the evidence says of each candidate."""

    ticket: str
    context: str
    plain: tuple[str, ...]
    """Each candidate's canonical text."""
    detailed: tuple[str, ...]
    """The same with its commands."""
    evidence: tuple[Score, ...]

    @classmethod
    def of(cls, request: ScoreRequest, evidence: Sequence[Score], *, characters: int) -> "Subject":
        """`characters` is what the context may take."""
        workflows = [candidate.workflow for candidate in request.candidates]
        return cls(
            ticket=ticket_text(request.ticket),
            context=context_text(request.context, characters),
            plain=tuple(canonical_text(workflow) for workflow in workflows),
            detailed=tuple(canonical_text(workflow, with_commands=True) for workflow in workflows),
            evidence=tuple(evidence),
        )


def ticket_text(ticket: TicketDraft) -> str:
    """Title, alert and description; the start of it where it is long."""
    parts = dict.fromkeys((ticket.title, ticket.alert_name, ticket.description))
    return "\n".join(part for part in parts if part.strip())[:_LONGEST_TICKET]


def context_text(context: KnowledgeContext, characters: int) -> str:
    """The most relevant passages under their headings, at most so many characters.

    Nodes and chunks take turns; lines that were shown already are left out.
    """
    shown: list[str] = []
    seen: list[Span] = []
    left = characters
    for heading, text, span in _passages(context):
        piece = f"[{heading}]\n{text.strip()}"
        if left <= len(heading) + 2 or any(_holds(other, span) for other in seen):
            continue
        shown.append(piece[:left])
        seen.append(span)
        left -= len(piece) + 2
    return "\n\n".join(shown) or "(nothing)"


def _passages(context: KnowledgeContext) -> Iterator[tuple[str, str, Span]]:
    nodes = [hit.node for hit in context.nodes]
    chunks = [hit.chunk for hit in context.chunks]
    for place in range(max(len(nodes), len(chunks))):
        for node in nodes[place : place + 1]:
            for passage in node.all_passages():
                heading = " > ".join(dict.fromkeys((node.name, *passage.heading_path[-1:])))
                yield heading, passage.text, passage.span
        for chunk in chunks[place : place + 1]:
            yield " > ".join(chunk.heading_path), chunk.text, chunk.span


def _holds(outer: Span, inner: Span) -> bool:
    return (
        outer.document_id == inner.document_id
        and outer.start_line <= inner.start_line
        and inner.end_line <= outer.end_line
    )
