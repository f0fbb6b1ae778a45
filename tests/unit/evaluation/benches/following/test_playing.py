import json
import threading
import time

import pytest

from evaluation.benches.following.acts import Act, Call
from evaluation.benches.following.agents import FileAgent, RecordedAgent
from evaluation.benches.following.deviation import Deviation
from evaluation.benches.following.forms import Form
from evaluation.benches.following.playing import MOST_ACTS, play, play_all, shares
from tests.unit.evaluation.benches.following.acting import (
    ScriptedAgent,
    by_id,
    deaf,
    instead,
    swapped,
    with_argument,
    without,
)

SESSIONS = tuple(by_id().values())


def played(session, change=None, form=Form.TEXT):
    agent = ScriptedAgent(change) if change else ScriptedAgent()
    return play(by_id()[session], form, agent, 0)


@pytest.mark.parametrize("form", list(Form))
def test_who_does_what_is_right_reaches_every_goal(form):
    for each in play_all(SESSIONS, form, ScriptedAgent(), 0):
        figures = each.figures()
        assert each.deviation is Deviation.NONE, each.session.id
        assert figures["success"] == figures["progress"] == figures["tool_f1"] == 1
        assert each.has_ended


@pytest.mark.parametrize(
    ("session", "change", "kind"),
    [
        ("s01", without("bgp_session_enable"), Deviation.MISSING_STEP),
        ("s25", without("port_settings"), Deviation.MISSING_STEP),
        ("s31", without("last_change"), Deviation.MISSING_STEP),
        ("s02", instead("bgp_session_clear", "interface_enable"), Deviation.WRONG_TRANSITION),
        ("s22", instead("add_ntp_source", "management_acl"), Deviation.WRONG_TRANSITION),
        ("s20", instead("close_ticket", "tell_owner"), Deviation.WRONG_TRANSITION),
        ("s14", with_argument("process_restart", "process", "bgp"), Deviation.TOOL_USE),
        ("s17", with_argument("reseat_tray", "fan", "FAN9"), Deviation.TOOL_USE),
        ("s19", swapped("show_maintenance", "uplink_rates"), Deviation.WRONG_ORDER),
        ("s12", swapped("interface_shut", "ask_team"), Deviation.WRONG_ORDER),
        ("s06", deaf, Deviation.OTHER),
        ("s24", deaf, Deviation.OTHER),
        ("s09", lambda _session, _acts: [], Deviation.OTHER),
    ],
)
def test_bad_agents_are_told_apart(session, change, kind):
    assert played(session, change).deviation is kind


def test_a_change_that_is_left_out_costs_success_and_a_part_of_the_progress():
    figures = played("s01", without("bgp_session_enable")).figures()

    assert figures["success"] == 0
    assert figures["progress"] == 1 / 2
    assert figures["tool_precision"] == 1
    assert figures["tool_recall"] == 3 / 4


def test_a_change_of_another_way_is_no_success():
    def change(session, acts):
        wrong = Call(
            tool="interface_shut", arguments={"device": "leaf-4", "interface": "Ethernet1/1"}
        )
        return [acts[0], Act(call=wrong), *acts[1:]]

    figures = played("s01", change).figures()

    assert figures["progress"] == 1
    assert figures["success"] == 0


def test_who_passes_over_the_aside_has_no_success():
    figures = played("s06", deaf).figures()

    assert figures["off_procedure"] == figures["success"] == 0
    assert figures["progress"] == 2 / 3


def test_to_look_again_is_no_deviation():
    each = played("s01", lambda _session, acts: [acts[0], *acts])

    assert each.deviation is Deviation.NONE
    assert each.figures()["tool_precision"] < 1
    assert each.figures()["success"] == 1


def test_a_session_ends_after_so_many_acts():
    each = played("s01", lambda _session, acts: [acts[0]] * 40)

    assert len(each.acts) == MOST_ACTS
    assert not each.has_ended


def test_the_person_tells_what_is_asked_about_and_nothing_else():
    asking = Act(say="Do logins to the switch work?")
    vague = Act(say="What is your favourite colour?")
    fact_indices = [act.told for act in played("s24", lambda _s, _a: [vague, asking]).acts]

    assert fact_indices[:2] == [(), (0,)]


def test_what_is_no_act_is_said_to_be_none():
    each = played("s09", lambda _session, acts: [Act(), *acts])

    assert each.figures()["unreadable"] == 1 / 3
    assert each.figures()["success"] == 1


def test_shares_are_of_all_sessions():
    fine, bad = played("s01"), played("s01", without("bgp_session_enable"))

    by_deviation = shares([fine, bad])

    assert by_deviation["none"] == by_deviation["missing step"] == 1 / 2
    assert sum(by_deviation.values()) == 1


def test_a_session_is_replayed_from_its_record():
    first = play_all(SESSIONS, Form.GUIDE, ScriptedAgent(), 0)
    acts = {act.key: act for each in first for act in each.acts}

    again = play_all(SESSIONS, Form.GUIDE, RecordedAgent(acts), 0)

    assert [each.figures() for each in again] == [each.figures() for each in first]
    assert play_all(SESSIONS, Form.TEXT, RecordedAgent(acts), 0) == []


def test_a_session_is_played_through_files(tmp_path):
    session, folder = by_id()["s09"], tmp_path / "text-s09"

    def answer():
        for number, turn in enumerate(session.turns, 1):
            prompt = folder / f"{number:03}.prompt.txt"
            while not prompt.exists():
                time.sleep(0.01)
            path = folder / f"{number:03}.answer.json"
            path.write_text(json.dumps(turn.act.model_dump(mode="json")))

    reader = threading.Thread(target=answer)
    reader.start()
    each = play(session, Form.TEXT, FileAgent(tmp_path, wait_s=30), 0)
    reader.join()

    assert each.figures()["success"] == 1
    assert (folder / "ended.txt").exists()
    assert session.task in (folder / "001.prompt.txt").read_text()
    assert "goes on" in (folder / "002.prompt.txt").read_text()


def test_a_reader_who_does_not_answer_leaves_the_session_out(tmp_path):
    assert play_all([by_id()["s09"]], Form.TEXT, FileAgent(tmp_path, wait_s=0), 0) == []
    assert (tmp_path / "text-s09" / "001.prompt.txt").exists()
