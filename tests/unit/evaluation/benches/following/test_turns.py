import json

import pytest
from typer.testing import CliRunner

from evaluation.benches.following.acts import Act, digest_of
from evaluation.benches.following.forms import Form
from evaluation.benches.following.prompts import as_text
from evaluation.benches.following.turn_files import kept, key_of, read_turns, write_turns
from evaluation.benches.following.turns import by_model, by_record, measure_turns
from evaluation.material.recorded_following import keep_acts, read_acts
from evaluation.measures.figures import Report
from evaluation.report.results_page import results_page
from services.cli import app
from services.llm.scripted import ScriptedChatModel
from tests.unit.evaluation.benches.following.acting import by_id

SESSIONS = tuple(by_id().values())
PERFECT = {"tool_precision": 1, "tool_recall": 1, "tool_f1": 1, "parameter_f1": 1}


def write_answers(folder, form, change=lambda key, act: act):
    acts = {
        key_of(session, place): change(key_of(session, place), turn.act.model_dump(mode="json"))
        for session in SESSIONS
        for place, turn in enumerate(session.turns)
    }
    (folder / f"{form.value}.answers.json").write_text(json.dumps(acts))


def measured(folder, form):
    acts = {act.key: act for act in read_turns(SESSIONS, form, 0, folder)}
    return {row.session: row.figures for row in measure_turns(SESSIONS, form, by_record(acts), 0)}


@pytest.mark.parametrize("form", list(Form))
def test_the_right_acts_have_every_point(tmp_path, form):
    write_answers(tmp_path, form)

    rows = measured(tmp_path, form)

    assert len(rows) == len(SESSIONS)
    for figures in rows.values():
        assert PERFECT.items() <= figures.items()
        assert figures.get("node", 1) == 1
        assert figures.get("off_procedure", 1) == 1
        assert figures["false_alarm"] == figures["unreadable"] == 0
    assert all(("node" in figures) is form.names_nodes for figures in rows.values())


def test_a_wrong_argument_costs_the_call_and_one_parameter(tmp_path):
    def change(key, act):
        if key == "s01t2":
            act["call"]["arguments"]["asn"] = "1"
        return act

    write_answers(tmp_path, Form.TEXT, change)

    figures = measured(tmp_path, Form.TEXT)["s01"]

    assert figures["tool_f1"] == 3 / 4
    assert 3 / 4 < figures["parameter_f1"] < 1


def test_who_passes_over_what_is_not_covered_is_told_apart(tmp_path):
    deaf = {"s06t2": {"call": {"tool": "cpu", "arguments": {"device": "leaf-2"}}}}
    write_answers(tmp_path, Form.TEXT, deaf.get)

    rows = measured(tmp_path, Form.TEXT)

    assert rows["s06"]["off_procedure"] == 0
    assert rows["s06"]["tool_precision"] < 1
    assert rows["s08"]["off_procedure"] == 1


def test_what_is_no_act_counts_as_none(tmp_path):
    broken = {"s01t1": {"call": "show ip bgp"}, "s01t2": "no idea"}
    write_answers(tmp_path, Form.TEXT, broken.get)

    figures = measured(tmp_path, Form.TEXT)["s01"]

    assert figures["unreadable"] == 2 / 4
    assert figures["tool_recall"] == 2 / 4


def test_answers_are_recorded_without_words_and_replayed(tmp_path):
    write_answers(tmp_path, Form.GUIDE)
    record = tmp_path / "acts.jsonl"

    assert keep_acts(record, read_turns(SESSIONS, Form.GUIDE, 0, tmp_path)) == 162
    rows = measure_turns(SESSIONS, Form.GUIDE, by_record(read_acts(record)), 0)

    assert len(rows) == len(SESSIONS)
    assert "not cover" not in record.read_text()
    assert "The user" not in record.read_text()


def test_an_answer_to_another_prompt_does_not_count(tmp_path):
    write_answers(tmp_path, Form.TEXT)
    acts = {act.key: act for act in read_turns(SESSIONS, Form.TEXT, 0, tmp_path)}

    assert measure_turns(SESSIONS, Form.TEXT, by_record(acts), seed=1) == []


def test_files_ask_each_turn_once_and_tell_nothing_before_its_turn(tmp_path):
    for form in Form:
        files = write_turns(SESSIONS, form, 0, tmp_path)
        texts = [path.read_text() for path in files]

        for session in SESSIONS:
            file_numbers = [
                next(n for n, text in enumerate(texts) if f"### {key_of(session, place)}\n" in text)
                for place in range(len(session.turns))
            ]
            assert file_numbers == sorted(set(file_numbers)), session.id
        assert sum(text.count("\n### s") for text in texts) == 162


def test_no_history_of_a_round_tells_an_act_that_is_asked_in_it_or_later():
    rounds = {turn.round for session in SESSIONS for turn in session.turns}
    for which in rounds:
        shown = {
            before.round
            for session in SESSIONS
            for place, turn in enumerate(session.turns)
            if turn.round == which
            for before in session.turns[:place]
            if before.act.call
        }
        later_rounds = [
            t.round for s in SESSIONS for t in s.turns if t.round >= which and t.act.call
        ]
        assert all(depth < min(later_rounds)[0] for depth, _ in shown)


def test_a_model_is_asked_for_each_turn():
    session = by_id()["s09"]
    answers = [turn.act.model_dump_json() for turn in session.turns]
    model = ScriptedChatModel(answers)

    rows = measure_turns([session], Form.TEXT, by_model(model, 0), 0)

    assert PERFECT.items() <= rows[0].figures.items()
    assert len(model.requests) == len(session.turns)
    assert session.task in model.requests[0].messages[1].content
    assert session.task not in model.requests[0].messages[0].content


def test_what_is_kept_of_an_act_names_its_prompt():
    act = kept("turn/text/s01t1", digest_of(as_text([])), Act(say="hello"))

    assert act.said
    assert "hello" not in act.model_dump_json()


def test_the_command_writes_files_and_measures_what_was_recorded(tmp_path):
    run = CliRunner().invoke
    written = run(app, ["bench", "follow", "--form", "text", "--prompts", str(tmp_path)])
    write_answers(tmp_path, Form.TEXT)
    record, out = tmp_path / "acts.jsonl", tmp_path / "out.json"
    keep_acts(record, read_turns(SESSIONS, Form.TEXT, 0, tmp_path))

    measured = run(app, ["bench", "follow", "--answers", str(record), "--out", str(out)])

    assert written.exit_code == measured.exit_code == 0
    assert (tmp_path / "text.prompt.md").exists()
    report = json.loads(out.read_text())
    assert report["sets"].keys() == {"text"}
    assert report["sets"]["text"]["n"] == len(SESSIONS)
    assert report["intervals"]["text"]["tool_f1_low"] == 1
    assert "Following a workflow over turns" in page_of_results(report)


def page_of_results(report):
    return results_page([Report.model_validate(report)], "flowxpert bench results out.json").text
