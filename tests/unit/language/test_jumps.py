import pytest

from services.language.jumps import Leads, leads


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Go to step 4", Leads("", number=4)),
        ("Stop the pump and go back to step 2.", Leads("Stop the pump", number=2)),
        ("Continue with 'Replace the supply'", Leads("", title="Replace the supply")),
        ("Skip ahead to Mitigation", Leads("", title="Mitigation")),
    ],
)
def test_a_jump_tells_where_it_leads(sentence, found):
    assert leads(sentence) == found


def test_other_sentences_lead_nowhere():
    assert leads("The pump has 4 steps") is None
