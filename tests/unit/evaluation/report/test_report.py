import io
import json

from rich.console import Console

from evaluation.measures.figures import Report, markdown_table, mean_over_sets


def report(**sections: object) -> Report:
    sets = {"a/A": {"n": 10, "f1": 60.0}, "b/B": {"n": 6, "f1": 40.0}}
    return Report.model_validate(
        {
            "benchmark": "workflows",
            "overall": mean_over_sets(sets),
            "sets": sets,
            "config": {"seed": 1},
            "seconds": 1.5,
            **sections,
        }
    )


def test_the_mean_over_sets_leaves_small_sets_out():
    sets = {"a": {"n": 5, "f1": 60.0}, "b": {"n": 900, "f1": 40.0}, "c": {"n": 4, "f1": 0.0}}
    assert mean_over_sets(sets) == {"f1": 50.0}


def test_where_all_sets_are_small_they_all_count():
    assert mean_over_sets({"a": {"n": 1, "f1": 10.0}, "b": {"n": 2, "f1": 20.0}}) == {"f1": 15.0}


def test_a_figure_that_a_set_has_not_is_left_out_of_its_mean():
    sets = {"a": {"n": 5, "f1": 10.0, "supported": 1.0}, "b": {"n": 5, "f1": 30.0}}
    assert mean_over_sets(sets) == {"f1": 20.0, "supported": 1.0}


def test_the_file_has_the_shape_that_other_tools_read(tmp_path):
    path = tmp_path / "deep" / "out.json"
    report(baselines={"random": {"overall": {"f1": 26.0}, "sets": {}}}).write(path)
    written = json.loads(path.read_text())
    assert {"benchmark", "overall", "sets", "config", "seconds", "baselines"} == set(written)
    assert written["overall"] == {"f1": 50.0}
    assert written["sets"]["a/A"]["n"] == 10


def test_tables_show_sets_sections_and_nested_sections():
    sections = {"tiers": {"A": {"f1": 60.0}}, "baselines": {"random": {"overall": {"f1": 26.5}}}}
    console = Console(width=120, record=True, file=io.StringIO())
    for table in report(**sections).tables():
        console.print(table)
    shown = console.export_text()
    assert "mean over sets" in shown
    assert "tiers" in shown
    assert "26.5" in shown


def test_markdown_has_one_row_per_set_and_blanks_for_what_is_unknown():
    lines = markdown_table({"a": {"n": 3, "f1": 61.234}, "b": {"mrr": 0.5}}, "set").splitlines()
    assert lines[0] == "| set | n | f1 | mrr |"
    assert lines[2:] == ["| a | 3 | 61.2 |  |", "| b |  |  | 0.500 |"]


def test_a_report_in_markdown_names_what_was_measured_and_shows_each_section():
    text = report(tiers={"A": {"f1": 60.0}}).markdown()
    assert text.startswith("## workflows\n\nseed 1; 2 s.\n")
    assert "| **mean over sets** |  | 50 |" in text
    assert "### tiers" in text


def test_figures_written_as_json_come_back_as_they_were(tmp_path):
    path = tmp_path / "out.json"
    whole = report(tiers={"A": {"f1": 60.0}})
    whole.write(path)
    assert Report.model_validate_json(path.read_text()) == whole
