"""Every form of a workflow says which exit of an answered question holds, and how that is known."""

import ast
import xml.etree.ElementTree as ET

from services.workflow.drawing.svg import to_svg
from services.workflow.formats.code import from_code, to_code
from services.workflow.formats.markdown import to_markdown
from services.workflow.formats.mermaid import from_mermaid, to_mermaid
from services.workflow.formats.text import from_text, to_text
from services.workflow.model import Workflow

OPEN = from_mermaid(
    "flowchart TD\n"
    "1{Is the pump loud?} -- Yes --> 2[Grease it]\n"
    "1 -- No --> 3{Which colour is the lamp?}\n"
    "3 -- red --> 2\n"
    "3 -- green --> 4([Resolved])\n"
    "2 --> 4"
)
WHY = "You answered: Is the pump\nloud? No"
ANSWERED = OPEN.model_copy(
    update={
        "steps": tuple(
            step.model_copy(update={"settled": "No", "settled_by": WHY}) if step.id == "1" else step
            for step in OPEN.steps
        )
    }
)
SVG = "{http://www.w3.org/2000/svg}"


def test_the_exit_that_holds_is_told_by_its_condition() -> None:
    assert [ANSWERED.holds(edge) for edge in ANSWERED.transitions] == [
        False,
        True,
        None,
        None,
        None,
    ]


def test_markdown_says_it_and_rules_the_other_exits_out() -> None:
    text = to_markdown(ANSWERED)

    assert "*Settled:* **No** You answered: Is the pump loud? No" in text
    assert "- Yes → step 2 (ruled out)" in text
    assert "- **No → step 3**" in text
    assert "- red → step 2\n" in text


def test_markdown_of_a_document_takes_no_effect_in_an_answer() -> None:
    hostile = ANSWERED.steps[0].model_copy(update={"settled_by": "<b>**x**</b>"})
    text = to_markdown(ANSWERED.model_copy(update={"steps": (hostile, *ANSWERED.steps[1:])}))

    assert r"&lt;b&gt;\*\*x\*\*&lt;/b&gt;" in text


def test_text_says_it_and_reads_it_back() -> None:
    text = to_text(ANSWERED)
    read = from_text(text)

    assert "   Settled: No\n   Settled by: You answered: Is the pump loud? No\n" in text
    assert (read.steps[0].text, read.steps[0].settled) == ("Is the pump loud?", "No")
    assert read.steps[0].settled_by == "You answered: Is the pump loud? No"
    assert read.holds(read.exits("1")[1])


def test_code_says_it_in_a_comment() -> None:
    text = to_code(ANSWERED)

    assert "    # settled: No. You answered: Is the pump loud? No\n" in text
    assert ast.parse(text)
    assert len(from_code(text).transitions) == len(ANSWERED.transitions)


def test_mermaid_draws_the_arrow_that_holds_thick_and_the_others_dotted() -> None:
    chart = to_mermaid(ANSWERED)

    assert "    linkStyle 1 stroke-width:4px\n    linkStyle 0 stroke-dasharray:2 3\n" in chart
    assert from_mermaid(chart) == OPEN
    assert "linkStyle" not in to_mermaid(OPEN)


def test_the_drawing_shows_the_arrow_that_holds_thick_and_the_others_faint() -> None:
    def drawn(workflow: Workflow) -> list[tuple[str | None, str | None]]:
        groups = ET.fromstring(to_svg(workflow)).findall(f"{SVG}g[@class='arrow']")
        return [(group.get("opacity"), group[0].get("stroke-width")) for group in groups]

    assert drawn(ANSWERED)[:3] == [("0.35", "1.5"), (None, "3"), (None, "1.5")]
    assert {*drawn(OPEN)} == {(None, "1.5")}
    assert "loud? No" in to_svg(ANSWERED)
