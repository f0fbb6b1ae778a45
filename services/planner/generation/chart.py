"""The paper's way for large models: free Mermaid, read by the workflow's own parser."""

import re
from collections.abc import Mapping

from services.knowledge.model import Span
from services.planner.generation.outline import LONGEST_TEXT, MOST_STEPS, OutlineError, claims
from services.workflow.formats.mermaid import from_mermaid
from services.workflow.model import Step, Workflow

_CITES = re.compile(r"\s*[\[(]\s*((?:[nc]\d+[\s,;]*)+)[\])]\s*\.?\s*$")
"""Ids at the end of a label, such as `Check the fan [n1, c2]`."""


def workflow_of_chart(text: str, title: str, spans: Mapping[str, Span]) -> Workflow:
    """The flowchart in the answer; ids in brackets at the end of a label are its citations.

    Raises:
        MermaidError: No flowchart, or a line that cannot be read.
        OutlineError: More steps than a workflow may have.
    """
    workflow = from_mermaid(text)
    if len(workflow.steps) > MOST_STEPS:
        raise OutlineError(f"at most {MOST_STEPS} steps, got {len(workflow.steps)}")
    steps = tuple(_cited(step, spans) for step in workflow.steps)
    return Workflow(title=title, steps=steps, transitions=workflow.transitions)


def _cited(step: Step, spans: Mapping[str, Span]) -> Step:
    found = _CITES.search(step.text)
    cites = re.findall(r"[nc]\d+", found[1]) if found else ()
    text = step.text[: found.start()] if found else step.text
    return step.model_copy(
        update={"text": text[:LONGEST_TEXT].strip() or step.id, "citations": claims(cites, spans)}
    )
