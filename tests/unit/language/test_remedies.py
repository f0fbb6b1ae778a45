import pytest

from services.language.remedies import names_remedies, remedy


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Configuring a second pump for spare capacity.",
            "Configure a second pump for spare capacity.",
        ),
        ("Increase of the oil quota", "Increase the oil quota"),
        ("Restarting the pump clears most faults", ""),
        ("Draining the tank should be done with care", ""),
        ("Capacity of the tank", ""),
        ("Swap the pump", ""),
    ],
)
def test_a_remedy_that_is_told_as_a_thing_is_an_instruction(text, told):
    assert remedy(text) == told


def test_what_names_remedies_is_known():
    assert names_remedies("Depending on its cause, the mitigation can be:")
    assert not names_remedies("The solution does not cover these causes:")
    assert not names_remedies("The mitigation is described below.")
