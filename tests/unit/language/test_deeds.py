import pytest

from services.language.deeds import (
    begins_with_condition,
    checks,
    cuts,
    first_stem,
    mends,
    only_finds_out,
    supplies,
)


@pytest.mark.parametrize(
    ("step", "does"),
    [
        ("Creating a volume", (True, False, True, False)),
        ("Remove the pod", (False, True, True, False)),
        ("Repair the table", (False, False, True, False)),
        ("Check the fan", (False, False, False, True)),
        ("", (False, False, False, False)),
    ],
)
def test_the_first_verb_tells_what_a_step_does(step, does):
    said = first_stem(step)
    assert (supplies(said), cuts(said), mends(said), checks(said)) == does


def test_a_step_that_only_finds_out_changes_nothing():
    assert only_finds_out("2) Then, re-check the link")
    assert not only_finds_out("Restart it and check")


def test_a_step_may_begin_with_its_condition():
    assert begins_with_condition("Only if it is red, replace it")
    assert not begins_with_condition("Replace it if it is red")
