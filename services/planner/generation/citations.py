"""What a model claims as source is looked up before anybody sees it."""

from collections.abc import Iterable

from services.grounding.evidence import Evidence
from services.grounding.grounder import Grounded, Grounder, cite
from services.grounding.vectors import RecentVectors
from services.planner.metrics import CITATIONS
from services.workflow.model import Workflow


def verified(workflow: Workflow, evidence: Evidence, vectors: RecentVectors) -> Workflow:
    """The workflow with citations that hold and commands that a source quotes.

    A claimed passage is narrowed to the lines that say the step. Where it does not say it, lines of
    the context that do are cited instead; where none do, the step is left without a source, which
    marks it as the model's own. A command that no source holds is taken out.
    """
    (grounded,) = Grounder(evidence, vectors, jointly=False).ground([workflow])
    _count(grounded)
    steps = tuple(
        step.model_copy(update={"commands": tuple(filter(evidence.quotes, step.commands))})
        for step in cite(grounded)
    )
    return workflow.model_copy(update={"steps": steps})


def _count(grounded: Iterable[Grounded]) -> None:
    for found in grounded:
        if found.step.citations:
            holds = "kept" if found.claimed else "moved"
            CITATIONS.labels(holds if found.is_grounded else "removed").inc()
