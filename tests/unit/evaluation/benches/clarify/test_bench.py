import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.benches.clarify.bench import (
    by_gain,
    drawn,
    everything,
    measure,
    nothing,
    page_alone,
)
from evaluation.benches.clarify.hidden_facts import drawn_path, texts_of
from evaluation.benches.clarify.setup import Setting
from evaluation.benches.clarify.simulated_user import SimulatedUser
from evaluation.material.logic_rows import GoldGraph, LogicRow
from evaluation.measures.logic import Likeness
from evaluation.report.clarify_report import report
from services.cli import app
from services.knowledge.embedding.embedders import HashingEmbedder
from services.tickets.clarify.branches import branch_questions
from services.tickets.clarify.dialogue import Dialogue
from tests.readings import drawn_reading
from tests.unit.evaluation.drawings import drawn as drawing
from tests.unit.runbook.programs import ask, do

EMBEDDER = HashingEmbedder()

CHART = drawing(
    "A[Look at the pump panel] --> B{Is the inlet valve shut?}",
    "B -- Yes --> C[Replace the valve seal]",
    "B -- No --> D{Does the rotor grind loudly?}",
    "D -- Yes --> E[Replace the bearing]",
    "D -- No --> F[Read the oil gauge]",
    "C --> G{Did pressure recover afterwards?}",
    "G -- Yes --> X([Resolved])",
    "G -- No --> Y([Escalate])",
    "E --> X",
    "F --> X",
)


def row(id_: str = "pump", description: str = "", chart: GoldGraph = CHART) -> LogicRow:
    ticket = {"title": "Station seven reports trouble", "description": description}
    return LogicRow.model_validate(
        {"id": id_, "doc": "set/page.md", "ticket": ticket, "reference": chart}
    )


def path_of(logic_row: LogicRow, seed: int = 0):
    return drawn_path(logic_row, seed, Likeness.of(texts_of(logic_row), EMBEDDER))


def seed_for(logic_row: LogicRow, *answers: str) -> int:
    """A seed whose path has these answers."""
    return next(s for s in range(200) if [f.answer for f in path_of(logic_row, s)] == list(answers))


def test_a_path_is_drawn_by_its_seed_and_is_a_way_through_the_page():
    assert path_of(row(), 3) == path_of(row(), 3)
    ways = {tuple((f.node.id, f.answer) for f in path_of(row(), seed)) for seed in range(40)}
    assert ways == {
        (("B", "Yes"), ("G", "Yes")),
        (("B", "Yes"), ("G", "No")),
        (("B", "No"), ("D", "Yes")),
        (("B", "No"), ("D", "No")),
    }


def test_what_comes_after_a_change_is_no_fact_of_the_start():
    path = path_of(row(), seed_for(row(), "Yes", "No"))
    assert [(fact.node.id, fact.counts) for fact in path] == [("B", True), ("G", False)]


def test_what_the_ticket_names_is_not_hidden():
    logic_row = row(description="Is the inlet valve shut.")
    path = path_of(logic_row, seed_for(logic_row, "No", "Yes"))
    assert [(fact.node.id, fact.counts) for fact in path] == [("B", False), ("D", True)]


def test_a_page_without_anything_hidden_has_no_path():
    straight = drawing("A[Look] --> X([Resolved])")
    assert path_of(row(chart=straight)) == ()
    assert measure([row(chart=straight)], drawn, nothing, EMBEDDER, 0)[0][1] is None


def test_the_user_chooses_what_holds_on_the_path():
    logic_row = row()
    path = path_of(logic_row, seed_for(logic_row, "No", "Yes"))
    workflow = drawn(logic_row, Dialogue()).workflow
    user = SimulatedUser(path, CHART, workflow, "set/page.md", EMBEDDER)
    question = branch_questions(workflow, Dialogue())[0]
    reply = user.reply(question, "set/page.md")
    assert (question.text, reply.choice.text) == ("Is the inlet valve shut?", "No")
    assert reply.fact_ids == {"B"}


def test_the_user_does_not_know_what_the_path_does_not_tell():
    logic_row = row()
    path = path_of(logic_row, seed_for(logic_row, "Yes", "Yes"))
    workflow = drawn(logic_row, Dialogue()).workflow
    user = SimulatedUser(path, CHART, workflow, "set/page.md", EMBEDDER)
    about_rotor = branch_questions(workflow, Dialogue(unknown=("Is the inlet valve shut?",)))[0]
    assert about_rotor.decisions == ("Does the rotor grind loudly?",)
    assert user.reply(about_rotor, "set/page.md") is None


def figures(ask, *, see=drawn, seed=0, logic_row=None):
    return measure([logic_row or row()], see, ask, EMBEDDER, seed)[0][1]


def test_a_question_for_each_decision_on_the_way_finds_it_and_nothing_finds_nothing():
    seed = seed_for(row(), "No", "Yes")
    shares = figures(by_gain(0.5, 3), seed=seed)
    assert (shares["found_2"], shares["solved"], shares["asked"], shares["reached"]) == (1, 1, 2, 1)
    none = figures(nothing, seed=seed)
    assert (none["found"], none["asked"], none["reached"]) == (0, 0, 0)


def test_asking_everything_costs_a_question_for_each_decision():
    shares = figures(everything, seed=seed_for(row(), "Yes", "No"))
    assert (shares["found"], shares["of_path"], shares["asked"]) == (1, 1, 3)
    assert shares["unanswered"] == 1


def test_questions_end_at_the_most():
    assert figures(by_gain(0.0, 0))["asked"] == 0


def test_a_page_that_is_read_alone_is_asked_about_by_its_reading():
    text = (
        "# Pump trouble\n\n## Mitigation\n\n1. Look at the pump panel.\n"
        "2. If the inlet valve is shut, replace the valve seal.\n"
        "3. If the rotor grinds loudly, replace the bearing.\n"
    )
    logic_row = row().model_copy(update={"text": text})
    see = page_alone(
        lambda _row: pytest.fail("the row holds its text"),
        lambda _page: drawn_reading(
            "Pump trouble",
            do("Look at the pump panel", 5),
            ask("Is the inlet valve shut?", do("Replace the valve seal", 6), at=[[6, 6]]),
            ask("Does the rotor grind loudly?", do("Replace the bearing", 7), at=[[7, 7]]),
        ),
    )
    seen = see(logic_row, Dialogue())
    assert seen.workflow is not None
    seed = seed_for(logic_row, "Yes", "Yes")
    assert figures(by_gain(0.25, 3), see=see, seed=seed, logic_row=logic_row)["asked"] >= 1


def test_the_report_sets_the_ways_side_by_side():
    rows = [(row().id, row().set, figures(by_gain(0.5, 3)))]
    silent = [(row().id, row().set, figures(nothing))]
    made = report({"by gain": rows, "nothing": silent}, {"ids": "odd"}, 2, 1.0)
    assert made.overall["n"] == 1
    assert made.ways["nothing"]["found"] == 0
    assert made.config["nothing_hidden"] == 2


def test_rows_without_a_drawing_take_no_part(tmp_path: Path):
    straight = LogicRow(id="a", doc="a.md")
    assert Setting(None, tmp_path / "pairs.jsonl", "drawn").rows([straight, row()]) == [row()]


def test_the_command_measures_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evaluation.commands.clarify.embedder_of", lambda _platform: EMBEDDER)
    pairs, out = tmp_path / "pages.jsonl", tmp_path / "out.json"
    pairs.write_text(row().model_dump_json(by_alias=True) + "\n", encoding="utf-8")
    options = ["--pairs", str(pairs), "--reader", "drawn", "--ids", "all", "--out", str(out)]
    done = CliRunner().invoke(app, ["bench", "clarify", *options, "--json"])
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["benchmark"] == "clarify"
    assert list(written["ways"]) == ["by gain", "everything", "nothing"]
    assert written["config"]["reader"] == "drawn"
