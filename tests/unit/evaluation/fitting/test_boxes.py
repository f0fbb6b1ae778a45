from dataclasses import replace

import numpy as np

from evaluation.fitting.boxes import f1, fit_boxes, left_out_chances, page_rows
from evaluation.material.gold_pages import own_page, step_lines
from evaluation.material.logic_rows import GoldGraph, LogicRow

TEXT = """# Tank {n}

The tank belongs to the night shift and holds what the pumps bring.

## What to do

1. Read the gauge of tank {n}:
2. Open the valve.
3. Close the lid again.
"""
STEPS = [(7, 7), (8, 8), (9, 9)]


def row(name: str, number: int) -> LogicRow:
    nodes = [{"id": f"n{a}", "kind": "process", "lines": [(a, z)]} for a, z in STEPS]
    nodes.append({"id": "end", "kind": "terminal", "lines": [(3, 3)]})
    reference = {"nodes": nodes}
    text = TEXT.format(n=number)
    fields = {"id": f"{name}-{number}", "set": name, "text": text, "reference": reference}
    return LogicRow.model_validate(fields)


ROWS = [row(name, number) for name in ("east", "west") for number in range(25)]


def test_a_block_is_a_step_where_a_step_of_the_drawing_has_a_line_in_it():
    (page,) = page_rows(ROWS[:1], own_page)
    assert page.is_step == (False, True, True, True)


def test_lines_of_ends_are_no_steps():
    drawing = GoldGraph.model_validate(
        {
            "nodes": [
                {"id": "a", "lines": [(2, 4)]},
                {"id": "b", "kind": "terminal", "lines": [(9, 9)]},
            ]
        }
    )
    assert set(step_lines(drawing)) == {2, 3, 4}


def test_what_is_fitted_on_one_set_tells_the_steps_of_the_other():
    pages = page_rows(ROWS, own_page)
    fitted = fit_boxes(pages, "a test")
    assert fitted.figures["all"] == {
        "pages": 50,
        "f1": 1.0,
        "wrong_median": 0.0,
        "wrong_p90": 0,
    }
    assert set(fitted.figures) == {"all", "east", "west"}
    assert fitted.are_steps(pages[0].signs, pages[0].lists) == list(pages[0].is_step)
    assert fitted.provenance == "a test"


def test_no_page_is_judged_by_a_fit_that_saw_its_set():
    pages = page_rows(ROWS, own_page)
    turned = [
        page
        if page.set == "east"
        else replace(page, is_step=tuple(not is_step for is_step in page.is_step))
        for page in pages
    ]
    chances = left_out_chances(turned)
    assert f1([c >= 0.5 for c in chances], [np.array(p.is_step) for p in turned]) < 0.2
