import json

from evaluation.material.recorded_choices import (
    answered,
    read_page_choices,
    write_page_choices,
)

SHOWN = {"k1": ("fan.md", "pump.md"), "k2": ("fan.md",), "k3": ("fan.md",)}


def test_answers_are_kept_by_case_and_those_that_name_no_page_are_left_out(tmp_path):
    answers = {
        "k1": {"page": "2", "chance": 90},
        "k2": {"page": 0, "chance": 60},
        "k3": {"page": "7", "chance": 99},
        "gone": {"page": "1", "chance": 50},
    }
    (tmp_path / "answer-1.json").write_text(json.dumps(answers), encoding="utf-8")
    choices = answered(tmp_path, SHOWN, "page-choice@1")
    path = tmp_path / "kept" / "choices.jsonl"
    write_page_choices(path, reversed(choices))
    kept = read_page_choices(path)
    assert list(kept) == ["k1", "k2"]
    assert (kept["k1"].page, kept["k1"].stated, kept["k1"].place) == ("pump.md", 0.9, 2)
    assert kept["k2"].page == ""
    assert read_page_choices(tmp_path / "nothing.jsonl") == {}
