"""Small workflows that questions are asked about."""

from services.workflow.formats.mermaid import from_mermaid
from services.workflow.model import Citation, Provenance, Workflow

PAGE = "runbooks/Disk.md"


def chart(*lines: str) -> Workflow:
    """A flowchart whose steps all cite the page."""
    drawn = from_mermaid("\n".join(("flowchart TD", *lines)))
    cited = (Citation(document_id=PAGE, start_line=3, end_line=4),)
    steps = tuple(step.model_copy(update={"citations": cited}) for step in drawn.steps)
    origin = Provenance(planner="extractive", document_ids=(PAGE,))
    return drawn.model_copy(update={"steps": steps, "provenance": origin})


DISK = chart(
    "A[List the largest files] --> B{Is the log partition full?}",
    "B -- Yes --> C[Rotate the logs]",
    "B -- No --> D{Does a snapshot hold deleted blocks?}",
    "D -- Yes --> E[Remove the snapshot]",
    "D -- No --> F{Which team owns the volume?}",
    "F -- storage --> G[Ask storage to grow it]",
    "F -- database --> H[Ask the database team to vacuum]",
    "C --> I{Did that help?}",
    "E --> I",
    "I -- Yes --> J([Resolved])",
    "I -- No --> K([Escalate])",
    "G --> J",
    "H --> J",
)
"""Two questions that are answered one after the other, one in other words, one about a remedy."""
