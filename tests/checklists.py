"""Checklist workflows made of the text of a page, for tests."""

from itertools import pairwise

from services.knowledge.page.block import BlockKind
from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.parsing import parse_page
from services.language.sentences import sentences
from services.workflow.model import (
    Citation,
    Provenance,
    ShownPage,
    Step,
    StepKind,
    Transition,
    Workflow,
    WorkflowKind,
)

PAGE = "runbooks/page.md"


def checklist_of(text, *, document_id=PAGE, title="Page", headings=(), corrections=None):
    """The checklist of a page; `headings` are the words of those whose sections stand open."""
    page = parse_page(text)
    boxes = {box.block.key: box for box in find_boxes(page, corrections or {})}
    open_ = [
        block.key
        for block in page.blocks
        if block.kind is BlockKind.HEADING and block.text in headings
    ]
    drafts = []
    for place in page.places():
        block = place.block
        if block.key in boxes:
            drafts.append((place, [], [(block.start_line, block.own_end)]))
        elif block.kind is BlockKind.CODE and drafts:
            drafts[-1][1].append(block.verbatim)
            drafts[-1][2].append((block.start_line, block.end_line))
    steps = [
        Step(
            id=f"s{number}",
            kind=StepKind.PROCESS,
            text=(sentences(place.block.text) or [place.block.text])[0].rstrip(":."),
            commands=tuple(commands),
            citations=tuple(
                Citation(document_id=document_id, start_line=first, end_line=last)
                for first, last in lines
            ),
            node=place.block.key,
            block="\n".join(page.lines[place.block.start_line - 1 : place.block.own_end]),
            group=place.heading_path,
        )
        for number, (place, commands, lines) in enumerate(drafts, start=1)
    ]
    ending = Step(id="end", kind=StepKind.DECISION, text="How did it end?", implied=True)
    ends = [
        Step(id=id_, kind=StepKind.TERMINAL, text=words, implied=True)
        for id_, words in (("over", "It is over"), ("hand-over", "Hand over"))
    ]
    return Workflow(
        title=title,
        steps=(*steps, ending, *ends),
        transitions=(
            *(Transition(source=a.id, target=b.id) for a, b in pairwise([*steps, ending])),
            *(Transition(source="end", target=e.id, condition=e.text) for e in ends),
        ),
        provenance=Provenance(
            kind=WorkflowKind.CHECKLIST, planner="extractive", document_ids=(document_id,)
        ),
        page=ShownPage(document_id=document_id, title=title, text=text, open=tuple(open_)),
    )
