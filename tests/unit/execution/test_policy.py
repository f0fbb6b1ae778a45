from datetime import UTC, datetime, time

import pytest
from pydantic import ValidationError

from services.execution.tools.policy import ChangeSwitches, ChangeWindow, Policy, Weekday
from services.execution.tools.target import Target
from tests.unit.execution.carrying import catalogue

AT = datetime(2026, 11, 24, 12, tzinfo=UTC)  # a Tuesday
LEAF = Target(name="leaf-1", kind="switch", host="127.0.0.1", simulated=True)
PAGE = frozenset({"a.md"})
ON = {"installation": True, "tools": ("bgp_session_clear",), "documents": ("a.md",)}


def denied(policy, *, documents=PAGE, at=AT, lately=0, target=LEAF):
    return policy.reason_to_deny_change(
        catalogue().tool("bgp_session_clear"), target, documents, at, lately
    )


def test_everything_is_off_by_default():
    assert denied(Policy()) == "changes are off in this installation"


@pytest.mark.parametrize("switch", ["installation", "tools", "documents"])
def test_each_switch_alone_stops_a_change(switch):
    assert not denied(Policy(changes=ChangeSwitches(**ON)))
    assert denied(
        Policy(changes=ChangeSwitches(**{name: on for name, on in ON.items() if name != switch}))
    )


def test_a_step_without_a_source_changes_nothing():
    assert denied(Policy(changes=ChangeSwitches(**ON)), documents=frozenset())


def test_a_step_of_two_documents_needs_both():
    assert denied(Policy(changes=ChangeSwitches(**ON)), documents=frozenset({"a.md", "b.md"}))


def test_a_target_is_changed_so_often_in_an_hour_and_no_more():
    policy = Policy(changes=ChangeSwitches(**ON), changes_per_target_and_hour=2)
    assert not denied(policy, lately=1)
    assert "2 times" in denied(policy, lately=2)


def test_denied_targets_and_tools_and_other_kinds():
    assert denied(Policy(changes=ChangeSwitches(**ON), denied_targets=("leaf-1",)))
    assert denied(Policy(changes=ChangeSwitches(**ON), denied_tools=("bgp_session_clear",)))
    assert denied(Policy(changes=ChangeSwitches(**ON)), target=Target(name="h", kind="host"))


@pytest.mark.parametrize(
    ("moment", "holds"),
    [
        (datetime(2026, 11, 24, 23, tzinfo=UTC), True),
        (datetime(2026, 11, 25, 3, tzinfo=UTC), True),
        (datetime(2026, 11, 25, 5, tzinfo=UTC), False),
        (datetime(2026, 11, 25, 23, tzinfo=UTC), False),
        (datetime(2026, 11, 24, 21, tzinfo=UTC), False),
    ],
)
def test_a_window_over_midnight_belongs_to_the_day_it_begins_on(moment, holds):
    window = ChangeWindow(days=(Weekday.TUE,), begins=time(22), ends=time(4))
    assert window.contains(moment) is holds
    policy = Policy(changes=ChangeSwitches(**ON), windows=(window,))
    assert bool(denied(policy, at=moment)) is not holds


def test_a_misspelt_key_is_an_error_and_no_leave():
    with pytest.raises(ValidationError):
        Policy.model_validate({"denied_target": ["leaf-1"]})
    with pytest.raises(ValidationError):
        Policy.model_validate({"changes": {"installation": True, "tool": ["x"]}})


def test_only_a_device_on_loopback_counts_as_simulated():
    assert LEAF.is_simulated
    assert not Target(name="x", kind="switch", host="10.0.0.1", simulated=True).is_simulated
