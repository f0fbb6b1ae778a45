import pytest

from services.language.clauses import ConditionClause, parse_condition


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "If the fan is dead, replace it.",
            ConditionClause("if", "the fan is dead", "replace it."),
        ),
        (
            "If the fan is dead then replace it",
            ConditionClause("if", "the fan is dead", "replace it"),
        ),
        (
            "If the fan, the pump or the valve is dead, replace it; otherwise wait an hour",
            ConditionClause(
                "if", "the fan, the pump or the valve is dead", "replace it", "wait an hour"
            ),
        ),
        ("If the fan is dead:", ConditionClause("if", "the fan is dead")),
        (
            "If you wish to keep the fan run the following:",
            ConditionClause("if", "you wish to keep the fan", "run the following:"),
        ),
        ("If the fan is stuck reboot it", ConditionClause("if", "the fan is stuck", "reboot it")),
        (
            "If the tray has a bent pin update the spare list",
            ConditionClause("if", "the tray has a bent pin", "update the spare list"),
        ),
        (
            "If one of the fans is off on the racks restart the controller",
            ConditionClause("if", "one of the fans is off on the racks", "restart the controller"),
        ),
        (
            "If the fan is stuck you can reboot it",
            ConditionClause("if", "the fan is stuck", "you can reboot it"),
        ),
        (
            "If you see an error you need to do this: reboot it",
            ConditionClause("if", "you see an error", "you need to do this: reboot it"),
        ),
        (
            "Unless the fan is new, replace it",
            ConditionClause("unless", "the fan is new", "replace it"),
        ),
        (
            "Replace the fan if it is dead",
            ConditionClause("if", "it is dead", "Replace the fan", leads=False),
        ),
    ],
)
def test_a_condition_is_read_with_what_it_guards(sentence, expected):
    assert parse_condition(sentence) == expected


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
    assert parse_condition(sentence) is None


def test_unless_negates():
    clause = parse_condition("Unless the fan is new, replace it")
    assert clause is not None
    assert clause.negated
