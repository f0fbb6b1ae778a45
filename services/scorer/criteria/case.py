"""What a criterion looks at: one candidate beside the pages that it cites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from services.grounding.evidence import Evidence
from services.grounding.grounder import Grounded
from services.procedure.evidence.conditions import Condition
from services.procedure.evidence.decide import Decided
from services.procedure.evidence.drawn import Drawn
from services.scorer.criteria.weighing import Weighings
from services.workflow.graph import successors
from services.workflow.lint import Finding
from services.workflow.model import Workflow

_LONGEST_QUOTE = 80


@dataclass(frozen=True)
class ScoringCase:
    """One candidate before its judges. Nothing here knows the ticket, or what else was found."""

    evidence: Evidence
    """What the pages say that it cites."""
    workflow: Workflow
    grounded: tuple[Grounded, ...]
    """One entry per step, in the order of the steps."""
    findings: Sequence[Finding]
    drawn: Drawn
    """The workflow beside the lines that it cites."""
    decided: Sequence[Decided]
    """Its facts, each with the chance that it is right."""
    conditions: tuple[Condition, ...]
    """How likely each of its conditions is right: no part of any score."""
    weighings: Weighings
    """What signs say of each dimension."""

    @cached_property
    def told(self) -> tuple[Grounded, ...]:
        """The steps that a page should say; those that only follow from the others are left out."""
        return tuple(found for found in self.grounded if not found.step.implied)

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


def short(text: str) -> str:
    """A text in quotes, cut to a few words."""
    line = " ".join(text.split())
    cut = line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1].rstrip()}…"
    return f"“{cut}”"
