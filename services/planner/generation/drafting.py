"""Drafts of the model: made into workflows, judged, and verified against their sources."""

import re
from collections.abc import Iterator, Mapping, Sequence

from services.contracts.planner import PlanRequest
from services.grounding.evidence import Evidence, terms_of, units_of_page
from services.grounding.grounder import GROUNDED, Grounder, RecentVectors, cite
from services.planner.generation.numbered_excerpts import NumberedExcerpts
from services.planner.metrics import CITATIONS
from services.runbook.checking.walker import PathFinding, findings_of
from services.runbook.lowering import lower
from services.runbook.model import End, Procedure
from services.workflow.lint import Severity, lint
from services.workflow.model import Workflow
from services.workflow.plain import plain

_MOST_LINES = 40
"""Line limit of a claim: more lines contain nearly any words, and one sentence must say it."""
_SAME = 0.6
"""Share of a text's words in one sentence from which it counts as a paraphrase of it."""
_LEAST_WORDS = 5
"""Minimum of content words; fewer agree with the model's orders by chance."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*[-*]\s+")


def to_workflow(procedure: Procedure, shown: NumberedExcerpts) -> Workflow:
    """Convert the program to a graph that cites documents; an end with own text is not implied."""
    workflow = lower(procedure, "shown")
    ends = {n.id for n in procedure.walk() if isinstance(n, End) and n.text}
    steps = tuple(
        step.model_copy(
            update={
                "text": plain(step.text),
                "citations": shown.source_citations(step.citations),
                "implied": step.implied and step.node not in ends,
                "node": "",  # it belongs to no reading of the page
            }
        )
        for step in workflow.steps
    )
    return workflow.model_copy(update={"steps": steps})


def findings_for(
    procedures: Sequence[Procedure],
    shown: NumberedExcerpts,
    labels: Mapping[str, str],
    most_steps: int,
) -> list[PathFinding]:
    """Return the findings for the model: the walker's, and those that rule the program out."""
    findings = findings_of(procedures, shown.text, partly=True)
    if len(procedures) > 1:
        findings.append(PathFinding("expected one procedure, the one for this ticket"))
    for procedure in procedures:
        findings += map(PathFinding, faults(to_workflow(procedure, shown), labels, most_steps))
    return findings


def faults(workflow: Workflow, labels: Mapping[str, str], most_steps: int) -> Iterator[str]:
    """Yield the reasons why the workflow is no candidate."""
    if len(workflow.steps) > most_steps:
        yield f"at most {most_steps} steps and questions, got {len(workflow.steps)}"
    if not all(step.text for step in workflow.steps):
        yield "a step says nothing"
    for finding in lint(workflow, bindings=labels):
        # A page may be dangerous at once, but a model's workflow may not.
        if finding.severity is Severity.ERROR or finding.check == "danger_without_check":
            yield finding.message


def evidence_of(request: PlanRequest, shown: NumberedExcerpts) -> Evidence:
    """Collect the sentences of the context, then those of shown pages that it lacks."""
    documents = {excerpt.document_id for excerpt in shown.excerpts}
    units = list(Evidence.of(request.context).units)
    seen = {(unit.document_id, unit.start_line, unit.text) for unit in units}
    for page in request.pages:
        if page.text and page.document_id in documents:
            units += [
                unit
                for unit in units_of_page(page.document_id, page.text)
                if (unit.document_id, unit.start_line, unit.text) not in seen
            ]
    return Evidence(units)


def verify_citations(workflow: Workflow, evidence: Evidence, vectors: RecentVectors) -> Workflow:
    """Return the workflow with verified citations, and no commands or notes without a source.

    Claimed lines that say the step are kept. Where they do not say it, lines of the context that do
    are cited instead; where none do, the step is left without a source, which marks it as the
    model's own. A command that no source shows is taken out, and a note that none says.
    """
    narrowed_steps = tuple(
        step.model_copy(update={"citations": ()})
        if sum(c.end_line - c.start_line + 1 for c in step.citations) > _MOST_LINES
        else step
        for step in workflow.steps
    )
    narrowed = workflow.model_copy(update={"steps": narrowed_steps})
    (grounded,) = Grounder(evidence, vectors).ground([narrowed])
    steps = []
    for step, one, cited in zip(workflow.steps, grounded, cite(grounded), strict=True):
        is_kept = one.is_grounded and one.claimed
        if step.citations and not step.implied:
            moved = "moved" if one.is_grounded else "removed"
            CITATIONS.labels("kept" if is_kept else moved).inc()
        update = {
            "citations": step.citations if step.implied or is_kept else cited.citations,
            "commands": tuple(filter(evidence.quotes, step.commands)),
            "notes": tuple(
                note
                for note in step.notes
                if any(share >= GROUNDED for _, share in evidence.nearest(terms_of(note), 1))
            ),
        }
        steps.append(step.model_copy(update=update))
    return workflow.model_copy(update={"steps": tuple(steps)})


def find_prompt_leak(workflow: Workflow, orders: Sequence[str], evidence: Evidence) -> str | None:
    """Return the first sentence of the workflow that one of `orders` says and no source does.

    `orders` are the platform's own messages to the model; they have no place in a workflow.
    """
    own = [terms_of(part) for order in orders for part in _SENTENCE_END.split(order)]
    for text in (part for whole in _texts(workflow) for part in _SENTENCE_END.split(whole)):
        terms = terms_of(text)
        if len(terms) < _LEAST_WORDS:
            continue
        nearest = evidence.nearest(terms, 1)
        if nearest and len(terms & nearest[0][0].terms) / len(terms) >= _SAME:
            continue
        if any(len(terms & order_terms) >= _SAME * len(terms) for order_terms in own):
            return text
    return None


def _texts(workflow: Workflow) -> Iterator[str]:
    for step in workflow.steps:
        yield step.text
        yield from step.commands
        yield step.expected
        yield from step.notes
    for transition in workflow.transitions:
        if transition.condition not in {"Yes", "No"}:
            yield transition.condition
