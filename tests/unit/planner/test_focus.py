from services.planner.focus import Focus

PAGE = "The fan tray of the leaf failed. A fan tray has two fans. Check the tray. Lunch is at noon."
POINTS = ["the fan tray is loose", "a fan of the tray is worn out", "lunch is late"]


def test_what_the_page_keeps_talking_about_weighs_most() -> None:
    focus = Focus(PAGE, POINTS)
    weights = [focus.weight(index, place=0) for index in range(len(POINTS))]
    assert weights[0] > weights[2]
    assert weights[1] > weights[2]


def test_a_point_further_down_its_list_weighs_less() -> None:
    focus = Focus(PAGE, POINTS)
    assert focus.weight(0, place=3) < focus.weight(0, place=0)


def test_a_page_of_one_point_has_a_weight_too() -> None:
    assert Focus("", ["x"]).weight(0, place=0) > 0
