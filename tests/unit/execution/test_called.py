"""The call behind a composed step is what the executor binds it to."""

import pytest

from services.contracts.composing import ComposedCall, ComposedValue, ValueOrigin
from services.execution.bindings.binding import Argument, Origin, parse_written_call
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.tool import Tool

CATALOGUE = Catalogue(
    tools=(
        Tool.model_validate(
            {
                "name": "say",
                "description": "Say something somewhere",
                "effect": "change",
                "target": "team",
                "way": {"by": "http", "method": "POST", "path": "/say"},
                "parameters": {
                    "where": {"labels": ["channel"]},
                    "what": {"pattern": "[^;]+"},
                },
            }
        ),
    )
)


def bound(text):
    call = parse_written_call("s1", text, CATALOGUE)
    return call.arguments if call else None


def test_values_fields_and_labels_are_read():
    assert bound('Tell them (say: where=<channel>, what="all, is well")') == {
        "where": Argument(origin=Origin.LABEL, value="channel"),
        "what": Argument(origin=Origin.LITERAL, value="all, is well"),
    }
    assert bound("Tell (say: where=noc, what=[show_bgp.state])")["what"] == Argument(
        origin=Origin.FIELD, value="show_bgp.state"
    )


@pytest.mark.parametrize("parameters", ["what=<secret>", 'what="a; reboot"', "nothing=1", ""])
def test_what_may_not_be_sent_or_is_blank_a_person_fills_in(parameters):
    assert (
        bound(f"Tell (say: {parameters})" if parameters else "Tell (say)")["what"].origin
        is Origin.PERSON
    )


@pytest.mark.parametrize("text", ["Tell them (see below)", "Tell (shout: what=x)", "say what=x"])
def test_other_brackets_are_no_call(text):
    assert bound(text) is None


def test_it_reads_what_the_composer_writes():
    from services.planner.composing.drafting import describe_call as written

    call = ComposedCall(
        step="s1",
        does="Tell them",
        component="say",
        parameters={
            "where": ComposedValue(origin=ValueOrigin.LABEL, value="channel"),
            "what": ComposedValue(value="all, is well"),
        },
    )
    arguments = bound(f"Tell them ({written(call)})")
    assert {n: (a.origin.value, a.value) for n, a in arguments.items()} == {
        n: (v.origin.value, v.value) for n, v in call.parameters.items()
    }
