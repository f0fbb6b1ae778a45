"""A procedure that is written as a page is the same boxes when the page is read."""

from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.parsing import parse_page
from services.runbook.markdown import write_steps
from services.runbook.model import Do, Procedure

PUMP = Procedure.model_validate(
    {
        "title": "Pump",
        "steps": [
            {"do": "Look at the pump"},
            {
                "choice": "exclusive",
                "arms": [
                    {
                        "when": {
                            "all": ["Is it hot?", {"some": ["Is it loud?", {"not": "Is it on?"}]}]
                        },
                        "steps": [{"do": "Stop it"}, {"do": "Call the vendor"}],
                    }
                ],
                "otherwise": [{"do": "Leave it on"}],
            },
            {
                "choice": "in_order",
                "arms": [{"steps": [{"do": "Clean the filter"}]}, {"steps": [{"do": "Oil it"}]}],
            },
            {"repeat": [{"do": "Wait a minute"}], "until": "Is it cold?"},
            {"end": "resolved"},
        ],
    }
)


def test_a_written_procedure_is_read_as_the_same_boxes_in_their_order():
    lines: list[str] = ["# Pump", ""]
    body = write_steps(PUMP.body, lines)
    page = parse_page("\n".join(lines))
    boxes = {box.block.start_line: box.block.text for box in find_boxes(page, {})}
    steps = [node for node in PUMP.model_copy(update={"body": body}).walk() if isinstance(node, Do)]
    assert [boxes[first].splitlines()[0] for step in steps for first, _ in step.lines] == [
        f"{step.text}." for step in steps
    ]
    assert list(boxes) == sorted(boxes)


def test_a_condition_stands_above_its_steps_and_says_how_its_questions_go_together():
    lines: list[str] = []
    write_steps(PUMP.body, lines)
    assert lines[1:7] == [
        "2. If Is it hot? and (Is it loud? or not: Is it on?):",
        "   1. Stop it.",
        "   2. Call the vendor.",
        "",
        "   Otherwise:",
        "   1. Leave it on.",
    ]
