from services.knowledge.markdown import parse
from services.planner.draft import Ask, Do
from services.planner.references import titles_of, with_titles

LIST = "4. Read the log.\n5. Ping the peer. It answers within a second.\n"


def titles() -> dict[int, str]:
    return titles_of(parse(LIST).root.blocks[0])


def test_a_step_is_known_by_its_number_on_the_page() -> None:
    assert titles() == {4: "Read the log", 5: "Ping the peer"}


def test_a_reference_says_what_the_step_says_in_branches_too() -> None:
    asked = Ask("Clock drifts?", yes=(Do("Go to step 5"),))
    named = with_titles(asked, titles())
    assert isinstance(named, Ask)
    assert named.yes[0].text == "Go to “Ping the peer”"


def test_a_step_of_another_list_keeps_its_number() -> None:
    assert with_titles(Do("Go to step 9"), titles()).text == "Go to step 9"
