"""The table of the page is what the command prints of the figures that are kept."""

from pathlib import Path

from typer.testing import CliRunner

from evaluation.commands import app
from evaluation.measures.capacity import Costs, Demand
from evaluation.report.capacity_report import BEGIN, END, markdown, put

ROOT = Path(__file__).parents[4]
FIGURES = ROOT / "docs" / "figures" / "capacity.json"
PAGE = ROOT / "docs" / "operate" / "scaling.md"


def test_the_page_shows_what_the_command_prints_of_the_kept_figures():
    done = CliRunner().invoke(app, ["capacity", "--costs", str(FIGURES)])
    assert done.exit_code == 0, done.output
    shown = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert shown.strip() == done.output.strip(), (
        "run `flowxpert bench capacity --costs docs/figures/capacity.json "
        "--page docs/operate/scaling.md`"
    )


def test_the_table_has_a_row_for_each_demand():
    costs = Costs.model_validate_json(FIGURES.read_bytes())
    text = markdown(costs, [Demand(tickets=1234), Demand(tickets=1_000_000)])
    rows = [line for line in text.splitlines() if line.startswith("| 1,")]
    assert [row.split(" | ")[0] for row in rows] == ["| 1,234", "| 1,000,000"]
    widths = {line.count("|") for line in text.partition("| tickets a month")[2].splitlines()[1:]}
    assert len(widths) == 1


def test_a_page_keeps_what_stands_around_the_table(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put(page, "| new |\n")
    assert page.read_text() == f"before\n{BEGIN}\n\n| new |\n\n{END}\nafter\n"
    put(page, "| newer |\n")
    assert page.read_text().count("new") == 1
