from services.workflow.graph import cycles, reachable

ARROWS = {"a": ["b"], "b": ["c", "d"], "c": ["b"], "d": ["e"], "e": ["e"], "x": ["a"]}


def test_what_can_be_reached_includes_the_start() -> None:
    assert reachable("b", ARROWS) == {"b", "c", "d", "e"}


def test_a_path_ends_at_a_step_that_does_not_pass() -> None:
    assert reachable("a", ARROWS, passes=lambda step: step != "b") == {"a", "b"}


def test_cycles_are_found_whole_and_in_order() -> None:
    assert sorted(cycles(["a", "b", "c", "d", "e", "x"], ARROWS)) == [["b", "c"], ["e"]]


def test_cycles_through_left_out_steps_do_not_count() -> None:
    assert cycles(["a", "b", "d", "x"], ARROWS) == []


def test_a_long_chain_needs_no_deep_stack() -> None:
    chain = {str(n): [str(n + 1)] for n in range(5000)} | {"5000": ["0"]}

    assert len(cycles([str(n) for n in range(5001)], chain)[0]) == 5001
