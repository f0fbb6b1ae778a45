"""What a criterion looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from services.contracts.ticket import TicketDraft
from services.grounding.evidence import Evidence, terms_of
from services.grounding.grounder import Grounded
from services.knowledge.model import KnowledgeContext
from services.procedure.evidence.decide import Decided
from services.procedure.evidence.drawn import Drawn
from services.scorer.criteria.fit import fit_of_documents
from services.scorer.criteria.weighing import Weighings
from services.workflow.graph import successors
from services.workflow.lint import Finding
from services.workflow.model import Workflow

_LONGEST_QUOTE = 80


@dataclass(frozen=True)
class ScoringCase:
    """One candidate before its judges."""

    ticket: TicketDraft
    context: KnowledgeContext
    evidence: Evidence
    workflow: Workflow
    grounded: tuple[Grounded, ...]
    """One entry per step, in the order of the steps."""
    findings: Sequence[Finding]
    drawn: Drawn
    """The workflow beside the lines that it cites."""
    reading: Drawn | None
    """What the rules read on the same pages; None where the candidate is that reading."""
    decided: Sequence[Decided]
    """Its facts, each with the chance that it is right."""
    weighings: Weighings
    """What signs say of each dimension."""

    @cached_property
    def told(self) -> tuple[Grounded, ...]:
        """The steps that a page should say; those that only follow from the others are left out."""
        return tuple(found for found in self.grounded if not found.step.implied)

    @cached_property
    def fits(self) -> Mapping[str, float]:
        """How well each document fits the ticket, 0–1."""
        return fit_of_documents(self.context)

    @cached_property
    def depths(self) -> Mapping[str, int]:
        """Transitions from the first step to each step that can be reached."""
        depths = {self.workflow.steps[0].id: 0} if self.workflow.steps else {}
        arrows = successors(self.workflow.transitions)
        waiting = list(depths)
        for step_id in waiting:
            for target in arrows.get(step_id, ()):
                if target not in depths:
                    depths[target] = depths[step_id] + 1
                    waiting.append(target)
        return depths

    @cached_property
    def ticket_terms(self) -> frozenset[str]:
        """The words of the ticket that the context knows."""
        ticket = self.ticket
        text = "\n".join((ticket.title, ticket.description, ticket.alert_name))
        return frozenset(term for term in terms_of(text) if self.evidence.knows(term))

    @cached_property
    def said(self) -> frozenset[str]:
        """All words of the workflow."""
        return frozenset(
            term
            for step in self.workflow.steps
            for term in terms_of("\n".join((step.text, *step.commands)))
        )


def short(text: str) -> str:
    """A text in quotes, cut to a few words."""
    line = " ".join(text.split())
    cut = line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1].rstrip()}…"
    return f"“{cut}”"
