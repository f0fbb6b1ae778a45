"""What a model claims as source is looked up before anybody sees it."""

from services.grounding.evidence import Evidence, terms_of
from services.grounding.grounder import GROUNDED, Grounded, Grounder, cite
from services.grounding.vectors import RecentVectors
from services.planner.metrics import CITATIONS
from services.workflow.model import Citation, Step, Workflow

_MOST_LINES = 40
"""Of a claim; more of them hold nearly any words together, and one sentence has to say it."""


def verified(workflow: Workflow, evidence: Evidence, vectors: RecentVectors) -> Workflow:
    """The workflow with citations that hold, and nothing else in the words of a source.

    Claimed lines that say the step are kept. Where they do not say it, lines of the context that do
    are cited instead; where none do, the step is left without a source, which marks it as the
    model's own. A command that no source shows is taken out, and a note that none says.
    """
    asked = workflow.model_copy(update={"steps": tuple(map(_narrow, workflow.steps))})
    (grounded,) = Grounder(evidence, vectors).ground([asked])
    found = zip(workflow.steps, grounded, cite(grounded), strict=True)
    steps = tuple(_verified(step, one, cited.citations, evidence) for step, one, cited in found)
    return workflow.model_copy(update={"steps": steps})


def _narrow(step: Step) -> Step:
    """Without a claim that is too wide to be one."""
    lines = sum(c.end_line - c.start_line + 1 for c in step.citations)
    return step.model_copy(update={"citations": ()}) if lines > _MOST_LINES else step


def _verified(step: Step, found: Grounded, cited: tuple[Citation, ...], evidence: Evidence) -> Step:
    is_kept = found.is_grounded and found.claimed
    _count(step, found, is_kept=is_kept)
    claimed = step.citations if is_kept else cited
    return step.model_copy(
        update={
            "citations": step.citations if step.implied else claimed,
            "commands": tuple(filter(evidence.quotes, step.commands)),
            "notes": tuple(
                note
                for note in step.notes
                if any(share >= GROUNDED for _, share in evidence.nearest(terms_of(note), 1))
            ),
        }
    )


def _count(step: Step, found: Grounded, *, is_kept: bool) -> None:
    if step.citations and not step.implied:
        moved = "moved" if found.is_grounded else "removed"
        CITATIONS.labels("kept" if is_kept else moved).inc()
