from services.planner.matching import best_match, match


def test_each_cause_gets_the_remedy_it_shares_most_with() -> None:
    causes = ["the fan tray is loose", "the power cord is loose", "dust in the filter"]
    remedies = ["clean the filter", "reseat the fan tray", "seat the power cord"]
    assert match(causes, remedies) == {0: 1, 1: 2, 2: 0}


def test_what_shares_nothing_stays_alone() -> None:
    assert match(["the optic is dirty"], ["call the provider"]) == {}


def test_the_best_of_several_is_found() -> None:
    assert best_match("replace the fan tray", ["dirty optic", "fan tray worn out"]) == 1
