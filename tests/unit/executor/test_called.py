"""The call behind a composed step is what the executor binds it to."""

import pytest

from services.contracts.composing import ComposedCall, ComposedValue, ValueOrigin
from services.executor.bindings.binding import Argument, Origin
from services.executor.bindings.called import called
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.tool import Tool

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
    found = called("s1", text, CATALOGUE)
    return found.arguments if found else None


def test_values_fields_and_labels_are_read():
    assert bound('Tell them (say: where=<channel>, what="all, is well")') == {
        "where": Argument(origin=Origin.LABEL, value="channel"),
        "what": Argument(origin=Origin.GIVEN, value="all, is well"),
    }
    assert bound("Tell (say: where=noc, what=[show_bgp.state])")["what"] == Argument(
        origin=Origin.FIELD, value="show_bgp.state"
    )


@pytest.mark.parametrize("told", ["what=<secret>", 'what="a; reboot"', "nothing=1", ""])
def test_what_may_not_be_sent_or_is_blank_a_person_fills_in(told):
    assert bound(f"Tell (say: {told})" if told else "Tell (say)")["what"].origin is Origin.PERSON


@pytest.mark.parametrize("text", ["Tell them (see below)", "Tell (shout: what=x)", "say what=x"])
def test_other_brackets_are_no_call(text):
    assert bound(text) is None


def test_it_reads_what_the_composer_writes():
    from services.planner.composing.page import called as written

    call = ComposedCall(
        step="s1",
        does="Tell them",
        component="say",
        parameters={
            "where": ComposedValue(origin=ValueOrigin.LABEL, value="channel"),
            "what": ComposedValue(value="all, is well"),
        },
    )
    found = bound(f"Tell them ({written(call)})")
    assert {n: (a.origin.value, a.value) for n, a in found.items()} == {
        n: (v.origin.value, v.value) for n, v in call.parameters.items()
    }
