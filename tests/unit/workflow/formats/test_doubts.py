"""Every form of a workflow says what to heed and what it is not sure of."""

import ast
import xml.etree.ElementTree as ET

from services.workflow.drawing.svg import to_svg
from services.workflow.formats.code import from_code, to_code
from services.workflow.formats.markdown import to_markdown
from services.workflow.formats.mermaid import from_mermaid, to_mermaid
from services.workflow.formats.text import from_text, to_text
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

CITED = (Citation(document_id="fan.md", start_line=3, end_line=3),)
FANS = Workflow(
    title="Fan failure",
    steps=(
        Step(
            id="reseat",
            kind=StepKind.PROCESS,
            text="Reseat the tray.",
            citations=CITED,
            notes=("The fans stop\nfor a moment.",),
            doubt="The page may mean this for spines only.",
        ),
        Step(id="helped", kind=StepKind.TERMINAL, text="Resolved", implied=True),
    ),
    transitions=(Transition(source="reseat", target="helped"),),
)
SVG = "{http://www.w3.org/2000/svg}"


def test_markdown_says_notes_doubts_and_what_is_implied() -> None:
    text = to_markdown(FANS)

    assert "*Note:* The fans stop for a moment." in text
    assert "*Not sure:* The page may mean this for spines only." in text
    assert "*Follows from the steps around it.*" in text
    assert "own step" not in text


def test_text_says_notes_and_doubts_and_reads_them_back() -> None:
    text = to_text(FANS)
    step = from_text(text).steps[0]

    assert "   Not sure: The page may mean this for spines only." in text
    assert step.text == "Reseat the tray."
    assert step.notes == ("The fans stop for a moment.",)
    assert step.doubt == FANS.steps[0].doubt


def test_code_says_them_in_comments() -> None:
    text = to_code(FANS)

    assert "    # note: The fans stop for a moment." in text
    assert "    # not sure: The page may mean this for spines only." in text
    assert ast.parse(text)
    assert [step.text for step in from_code(text).steps] == ["Reseat the tray.", "Resolved"]


def test_mermaid_draws_a_doubtful_step_dotted_and_reads_its_label_unchanged() -> None:
    chart = to_mermaid(FANS)

    assert "    class reseat doubtful\n" in chart
    assert "unsourced" not in chart
    assert from_mermaid(chart).steps[0].text == "Reseat the tray."


def test_the_drawing_marks_a_doubtful_step_and_leaves_an_implied_one_undashed() -> None:
    drawing = ET.fromstring(to_svg(FANS))
    doubtful, implied = drawing.iter(f"{SVG}a")

    assert doubtful.attrib["aria-label"] == "Step 1, process, not sure: Reseat the tray."
    assert next(doubtful.iter(f"{SVG}text")).text == "1?"
    assert "spines only" in str(next(doubtful.iter(f"{SVG}title")).text)
    assert implied.attrib["aria-label"] == "Step 2, terminal: Resolved"
    assert not any("stroke-dasharray" in element.attrib for element in implied)
