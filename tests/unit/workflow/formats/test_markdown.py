import pytest
from markdown_it import MarkdownIt

from services.workflow.formats.markdown import to_markdown
from services.workflow.formats.mermaid import from_mermaid
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

FANS = Workflow(
    title="Fan failure",
    steps=(
        Step(
            id="a",
            kind=StepKind.PROCESS,
            text="Check the fans.",
            commands=("show environment fan",),
            expected="Fan 1 ok",
            citations=(
                Citation(document_id="docs/fans.md", start_line=3, end_line=9),
                Citation(document_id="docs/env.md", start_line=4, end_line=4),
            ),
        ),
        Step(id="b", kind=StepKind.DECISION, text="Any failed?"),
        Step(id="c", kind=StepKind.TERMINAL, text="Done"),
    ),
    transitions=(
        Transition(source="a", target="b"),
        Transition(source="b", target="a", condition="yes"),
        Transition(source="b", target="c", condition="no"),
    ),
)


def test_people_see_commands_exits_and_sources() -> None:
    assert to_markdown(FANS, link=lambda c: f"/source?d={c.document_id}") == (
        "# Fan failure\n\n"
        "1. **Check the fans.**\n\n"
        "   ```sh\n   show environment fan\n   ```\n\n"
        "   Expected:\n\n"
        "   ```text\n   Fan 1 ok\n   ```\n\n"
        "   Source: [docs/fans.md:3–9](</source?d=docs/fans.md>); "
        "[docs/env.md:4](</source?d=docs/env.md>)\n\n"
        "2. **Any failed?**\n\n"
        "   - yes → step 1\n   - no → step 3\n\n"
        "   *No source: the planner's own step.*\n\n"
        "3. **Done**\n\n"
        "   *End.*\n\n"
        "   *No source: the planner's own step.*\n"
    )


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "a b", "x>y", "", "vbscript:x"]
)
def test_a_dangerous_address_is_no_link(address: str) -> None:
    assert "](" not in to_markdown(FANS, link=lambda _: address)


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![x](http://example.org/x.png)",
        "**bold** `code` _it_ ~~no~~",
        "# heading",
        "- item",
        "1. item",
        "> quote",
        "a | b\n--|--\nc | d",
        "<http://example.org>",
        "&lt;b&gt;",
        "line\n\n# heading",
    ],
)
def test_no_markup_of_a_document_takes_effect(attack: str) -> None:
    step = Step(id="a", kind=StepKind.TERMINAL, text=attack)
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(
        to_markdown(Workflow(title="t", steps=(step,)))
    )

    body = rendered.split("<strong>")[1].split("</strong>")[0]
    assert "<" not in body


def test_a_command_cannot_leave_its_fence() -> None:
    step = Step(
        id="a", kind=StepKind.TERMINAL, text="x", commands=("```\n<script>\n````",), expected="```"
    )

    rendered = MarkdownIt().render(to_markdown(Workflow(title="t", steps=(step,))))

    assert "<script>" not in rendered
    assert rendered.count("<pre>") == 2


def test_a_jump_is_named_and_the_next_step_is_not() -> None:
    text = to_markdown(from_mermaid("flowchart TD\nA --> B --> C --> A"))

    assert "→ step 1" in text
    assert text.count("→") == 1
