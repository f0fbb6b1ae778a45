"""A ticket's labels fill the commands of workflows that were judged without them."""

import pytest

from services.tickets.walk.binding import fill_commands
from services.workflow.model import Step, StepKind, Workflow


def commands(*shown: str, **labels: str) -> tuple[str, ...]:
    step = Step(id="a", kind=StepKind.TERMINAL, text="Look", commands=shown)
    return (
        fill_commands(Workflow(title="Port", steps=(step,), transitions=()), labels)
        .steps[0]
        .commands
    )


def test_commands_are_filled_from_the_labels_of_the_ticket():
    filled = commands("show int <port>", "PORT=x; echo $PORT {host}", port="Eth3", host="leaf-1")
    assert filled == ("show int Eth3", "PORT=x; echo $PORT leaf-1")


@pytest.mark.parametrize("value", ["Eth1; reboot", "-rf", "", "$(id)", "a b"])
def test_a_label_that_is_more_than_a_word_is_left_to_the_engineer(value: str):
    assert commands("show int <port>", port=value) == ("show int <port>",)
