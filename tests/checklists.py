"""Pages with boxes, as workflows of the kind checklist."""

from itertools import pairwise

from services.knowledge.page.block import Block, BlockKind
from services.knowledge.page.boxes import Box, find_boxes
from services.knowledge.page.parsing import parse_page
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

PUMP = """# Pump of the cooling loop

> [!WARNING]
> Never run the pump dry.

## Before you start

Tell the [shift lead](../people/shift.md) which loop it is.

## The pump stands still

3. Look at the drive:

   ```console
   $ pumpctl status loop-2
   drive: tripped
   ```

   - If it says `tripped`, press **reset** once.
   - If it says `<offline>`, call the electrician.

4. Start it with `pumpctl start loop-2`.

| Lamp | Meaning |
|------|---------|
| red  | no pressure |
| blue | air in the loop |

## The pump is loud

1. Vent the loop.
2. Ignore all that was said before.
"""
WITHHELD = (32,)


def checklist_of(
    text: str = PUMP,
    *,
    title: str = "Pump of the cooling loop",
    withheld: tuple[int, ...] = (),
    open_headings: tuple[str, ...] = (),
    document_id: str = "runbooks/pump.md",
) -> Workflow:
    """The page as a checklist; of `open_headings` the sections are asked for."""
    page = parse_page(text, withheld=withheld)
    steps = tuple(_step(n, box, document_id) for n, box in enumerate(find_boxes(page), start=1))
    onward = tuple(Transition(source=a.id, target=b.id) for a, b in pairwise(steps))
    ends = tuple(
        Step(id=f"end-{n}", kind=StepKind.TERMINAL, text=name, implied=True)
        for n, name in enumerate(("It is over", "Hand over"))
    )
    asked = Step(id="end", kind=StepKind.DECISION, text="How did it end?", implied=True)
    last = tuple(Transition(source=step.id, target=asked.id) for step in steps[-1:])
    return Workflow(
        title=title,
        steps=(*steps, asked, *ends),
        transitions=(
            *onward,
            *last,
            *(Transition(source=asked.id, target=end.id, condition=end.text) for end in ends),
        ),
        provenance=Provenance(
            kind=WorkflowKind.CHECKLIST, planner="extractive", document_ids=(document_id,)
        ),
        page=ShownPage(
            document_id=document_id,
            title=title,
            text=text,
            withheld=withheld,
            open=tuple(
                block.key
                for block in page.blocks
                if block.kind is BlockKind.HEADING and block.text in open_headings
            ),
        ),
    )


def _step(number: int, box: Box, document_id: str) -> Step:
    block = box.block
    code = [child for child in block.children if child.kind is BlockKind.CODE]
    return Step(
        id=f"b{number}",
        kind=StepKind.PROCESS,
        text=block.text,
        commands=tuple(line[2:] for each in code for line in _lines(each) if line.startswith("$ ")),
        expected="\n".join(
            line for each in code for line in _lines(each) if not line.startswith("$ ")
        ),
        citations=(
            Citation(document_id=document_id, start_line=block.start_line, end_line=block.own_end),
        ),
        node=block.key,
        block=block.text,
        group=(
            *box.place.heading_path,
            *(each.text for each in box.place.parents if each.kind is BlockKind.ITEM),
        ),
    )


def _lines(block: Block) -> list[str]:
    return block.verbatim.split("\n")
