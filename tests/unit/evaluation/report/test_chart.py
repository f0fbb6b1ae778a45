from xml.etree import ElementTree

import pytest

from evaluation.report.chart import Bar, Chart

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(*bars, signed=False):
    return ElementTree.fromstring(Chart("F1 <of> all", bars, signed=signed).svg())


def rectangles(picture):
    """The bars, without the ground."""
    return picture.findall(f"{NAMESPACE}rect")[1:]


def texts(picture):
    return [text.text for text in picture.findall(f"{NAMESPACE}text")]


def test_bars_are_as_long_as_their_values():
    first, second = rectangles(drawn(Bar("a", 20, 18, 22), Bar("b", 40, 35, 45)))
    assert float(second.get("width")) == pytest.approx(2 * float(first.get("width")), abs=0.2)
    assert first.get("x") == second.get("x")


def test_a_loss_points_to_the_left_of_a_gain():
    gain, loss = rectangles(drawn(Bar("up", 10, 8, 12), Bar("down", -10, -12, -8)))
    assert float(loss.get("x")) + float(loss.get("width")) == pytest.approx(float(gain.get("x")))


def test_the_whisker_ends_where_the_interval_ends():
    picture = drawn(Bar("a", 20, 10, 40))
    bar = rectangles(picture)[0]
    per_point = float(bar.get("width")) / 20
    start = float(bar.get("x"))
    ends = {line.get("x1") for line in picture.findall(f"{NAMESPACE}line")}
    assert {f"{start + 10 * per_point:.1f}", f"{start + 40 * per_point:.1f}"} <= ends


def test_numbers_stand_beside_the_bars_with_their_sign_where_they_are_differences():
    bar = Bar("a", -1.25, -2.0, 0.5)
    assert "−1.2 (−2.0 to 0.5)" in texts(drawn(bar))
    assert "−1.2 (−2.0 to +0.5)" in texts(drawn(bar, signed=True))


def test_every_bar_and_whisker_lies_within_the_picture():
    for values in [(0, 0, 0), (0.01, -0.03, 0.02), (99, 98, 100), (-300, -400, 5)]:
        picture = drawn(Bar("a", *values))
        width = float(picture.get("viewBox").split()[2])
        places = [
            float(line.get(x)) for line in picture.iter(f"{NAMESPACE}line") for x in ("x1", "x2")
        ]
        assert min(places) >= 0
        assert max(places) <= width


def test_texts_are_escaped():
    assert texts(drawn(Bar("<script>", 1, 1, 1)))[0] == "F1 <of> all"
    assert "<script>" not in Chart("", [Bar("<script>", 1, 1, 1)]).svg()
