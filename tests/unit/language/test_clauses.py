import pytest

from services.language.clauses import Condition, condition


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("If the fan is dead, replace it.", Condition("if", "the fan is dead", "replace it.")),
        ("If the fan is dead then replace it", Condition("if", "the fan is dead", "replace it")),
        (
            "If the fan, the pump or the valve is dead, replace it; otherwise wait an hour",
            Condition("if", "the fan, the pump or the valve is dead", "replace it", "wait an hour"),
        ),
        ("If the fan is dead:", Condition("if", "the fan is dead")),
        (
            "If you wish to keep the fan run the following:",
            Condition("if", "you wish to keep the fan", "run the following:"),
        ),
        ("If the fan is stuck reboot it", Condition("if", "the fan is stuck", "reboot it")),
        (
            "If the tray has a bent pin update the spare list",
            Condition("if", "the tray has a bent pin", "update the spare list"),
        ),
        (
            "If one of the fans is off on the racks restart the controller",
            Condition("if", "one of the fans is off on the racks", "restart the controller"),
        ),
        (
            "If the fan is stuck you can reboot it",
            Condition("if", "the fan is stuck", "you can reboot it"),
        ),
        (
            "If you see an error you need to do this: reboot it",
            Condition("if", "you see an error", "you need to do this: reboot it"),
        ),
        (
            "Unless the fan is new, replace it",
            Condition("unless", "the fan is new", "replace it"),
        ),
        (
            "Replace the fan if it is dead",
            Condition("if", "it is dead", "Replace the fan", leads=False),
        ),
    ],
)
def test_a_condition_is_read_with_what_it_guards(sentence, found):
    assert condition(sentence) == found


@pytest.mark.parametrize(
    "sentence",
    [
        "Check if the fan is dead",
        "The fan is dead",
        "Otherwise, if it is dead, replace it",
        "The fan stops if it is dead",
        "Check the fans if any of them is dead or not",
        "Replace the fan",
        "Replace the fan (beside a turning one if necessary) and close the lid",
    ],
)
def test_other_sentences_have_none(sentence):
    assert condition(sentence) is None


def test_unless_negates():
    found = condition("Unless the fan is new, replace it")
    assert found is not None
    assert found.negated
