"""What a form writes, it reads back: any workflow for Mermaid, sound ones for text and code."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.errors import InvalidInputError
from services.workflow.formats.code import from_code, to_code
from services.workflow.formats.mermaid import from_mermaid, to_mermaid
from services.workflow.formats.text import from_text, to_text
from services.workflow.model import Step, StepKind, Transition, Workflow

TEXTS = st.one_of(
    st.text(max_size=30),
    st.text("[](){}<>|\"'`#&;%-=.~:\\/*_ \n\t1axo$", max_size=30),
    st.sampled_from(["direction LR", "style a:#b;", "%%{init", "#quot;", "&amp;", "end", "<br/>"]),
)
IDS = st.one_of(
    st.text(min_size=1, max_size=8),
    st.sampled_from(["end", "A", "a-b", "id_a", "id_5f_", "x", "1", "style", "graph.x", "v-1"]),
)


@st.composite
def any_workflow(draw: st.DrawFn) -> Workflow:
    ids = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    ends = st.sampled_from(ids)
    edge = st.builds(Transition, source=ends, target=ends, condition=TEXTS)
    return Workflow(
        title=draw(TEXTS),
        steps=tuple(
            Step(id=i, kind=draw(st.sampled_from(StepKind)), text=draw(TEXTS)) for i in ids
        ),
        transitions=tuple(draw(st.lists(edge, max_size=8))),
    )


@st.composite
def sound_workflow(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> Workflow:
    """Every kind agrees with its exits; conditions of one decision differ."""
    size = draw(st.integers(1, 6))
    steps, transitions = [], []
    for place in range(size):
        exits = 0 if place == size - 1 else draw(st.integers(0, 3))
        kind = [StepKind.TERMINAL, StepKind.PROCESS, StepKind.DECISION][min(exits, 2)]
        commands = tuple(draw(st.lists(texts.filter(bool), max_size=2)))
        steps.append(Step(id=str(place + 1), kind=kind, text=draw(texts), commands=commands))
        for exit_ in range(exits):
            target = str(draw(st.integers(1, size)))
            condition = f"{draw(texts)} {exit_}".strip() if exits > 1 else ""
            transitions.append(
                Transition(source=str(place + 1), target=target, condition=condition)
            )
    return Workflow(title=draw(texts), steps=tuple(steps), transitions=tuple(transitions))


WORDS = st.lists(
    st.sampled_from(
        ["check", "if", "yes,", "go", "to", "step", "2.", "$", "|", ">", "end.", "otherwise:", "#",
         "1.", "then", '"', "'", "\\", "→", "def", "END", "`x`", "3:"]
    ),
    max_size=6,
).map(" ".join)  # fmt: skip


def without_ids(workflow: Workflow) -> tuple[object, ...]:
    numbers = {step.id: number for number, step in enumerate(workflow.steps)}
    return (
        workflow.title,
        [(s.kind, s.text, s.commands, s.expected) for s in workflow.steps],
        [(numbers[t.source], numbers[t.target], t.condition) for t in workflow.transitions],
    )


@given(any_workflow())
def test_mermaid_keeps_any_workflow(workflow: Workflow) -> None:
    assert from_mermaid(to_mermaid(workflow)) == workflow


@pytest.mark.parametrize(("write", "read"), [(to_text, from_text), (to_code, from_code)])
@given(workflow=sound_workflow(WORDS))
def test_text_and_code_keep_a_sound_workflow(
    write: Callable[[Workflow], str], read: Callable[[str], Workflow], workflow: Workflow
) -> None:
    assert without_ids(read(write(workflow))) == without_ids(workflow)


@given(workflow=sound_workflow(TEXTS))
def test_code_keeps_texts_of_any_characters(workflow: Workflow) -> None:
    assert without_ids(from_code(to_code(workflow))) == without_ids(workflow)


@given(st.text('AB[](){}|"-=.>ox~&;:%\n @#subgraph end', max_size=60))
def test_any_text_is_read_or_refused_as_input(text: str) -> None:
    for read in (from_mermaid, from_text, from_code):
        with suppress(InvalidInputError):
            assert read(f"flowchart TD\n{text}").steps
