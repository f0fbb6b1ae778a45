"""The forms by which a step of a reading is changed: looked at first, then stored."""

import re
from contextlib import suppress
from html import unescape

import pytest
from fastapi.testclient import TestClient

from services.gateway.app import create_app
from services.gateway.parts import GatewayParts
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.runbook.checking.check import parse_reading
from services.runbook.editing.apply import apply
from services.runbook.editing.errors import NothingChangedError, UnusableOperationError
from services.runbook.editing.outline import Outline
from services.runbook.model import Arm, Procedure, as_json
from services.tickets.settings import GatewaySettings
from services.web.ui.knowledge.backend import Knowledge
from services.web.ui.knowledge.readings.step_form import (
    StepForm,
    build_operations,
    guard_fields,
    parse_guard,
)
from services.web.ui.knowledge.readings.step_views import (
    build_menu,
    build_node_view,
    undrawn_nodes,
)
from tests.unit.gateway.fakes import FakeRetrieval
from tests.unit.ingestion import fan
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.ingestion.proposing import proposals_of
from tests.unit.runbook.editing.editing import FAN, edited, location_of, standing

ADDRESS = f"/knowledge/readings/{fan.HASH}"


@pytest.fixture
def ingestion(tmp_path):
    ingestion = IngestionHarness(tmp_path)
    ingestion.write("fan.md", fan.PAGE)
    ingestion.ingest()
    ingestion.service.readings("kim").replace(fan.HASH, parse_reading({"procedures": [fan.FAN]}))
    return ingestion


@pytest.fixture
def client(ingestion):
    database = Database.memory()
    database.migrate("kit", "gateway")
    knowledge = Knowledge(
        ingestion.service,
        lambda caller: ingestion.service.readings(caller.name),
        FakeRetrieval(),
        proposals_of(ingestion),
    )
    app = create_app(
        GatewayParts(
            GatewaySettings(_env_file=None),
            PlatformSettings(_env_file=None),
            database=database,
            outbox=Outbox(database),
            retrieval=FakeRetrieval(),
            triage=None,
            knowledge=knowledge,
            write_back=None,
        )
    )
    yield TestClient(app, base_url="http://127.0.0.1", headers={"accept": "text/html"})
    database.close()


@pytest.fixture
def readings(ingestion):
    return ingestion.service.readings("kim")


def hidden(text, action):
    """The hidden fields of the first form that leads there."""
    form = re.search(
        rf'<form method="post" action="{re.escape(action)}".*?</form>', text, re.DOTALL
    )
    fields = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', form[0])
    return {name: unescape(value) for name, value in fields}


def body(readings):
    return as_json(readings.get(fan.HASH).reading.procedures[0])["steps"]


def test_each_step_has_a_menu_and_forms_without_json(client):
    page = client.get(ADDRESS)
    assert page.text.count('class="step-menu"') == 4, "three steps and their condition"
    assert f'href="{ADDRESS}/step?procedure=0&amp;node=n4"' in page.text
    forms = client.get(f"{ADDRESS}/step", params={"node": "n4", "procedure": 0})
    assert forms.status_code == 200
    assert "Seat the fan" in forms.text
    assert "Is the tray hot?" in forms.text
    for act in ("say", "change", "remove", "negate", "otherwise", "add", "put", "delete"):
        assert f'value="{act}"' in forms.text, act


def test_a_condition_is_corrected_by_looking_at_it_first(client, readings):
    forms = client.get(f"{ADDRESS}/step", params={"node": "n4"})
    sent = hidden(forms.text, f"{ADDRESS}/previews") | {
        "act": "change",
        "when": "Is the tray loose?",
        "lines": "4",
    }
    preview = client.post(f"{ADDRESS}/previews", data=sent)
    assert "is now “Is the tray loose?”" in preview.text
    assert "A condition falls away" not in preview.text
    assert body(readings)[1]["arms"][0]["when"] == "Is the tray hot?"

    again = hidden(preview.text, f"{ADDRESS}/edits")
    assert client.post(f"{ADDRESS}/step", data=again).text.count("Is the tray loose?") == 1
    stored = client.post(f"{ADDRESS}/edits", data=again, follow_redirects=False)
    assert (stored.status_code, stored.headers["location"]) == (303, f"{ADDRESS}#p0")
    arm = body(readings)[1]["arms"][0]
    assert (arm["when"], arm["at"]) == ("Is the tray loose?", [[4, 4]])


def test_a_dropped_condition_is_a_warning_of_the_preview(client):
    revision = hidden(client.get(ADDRESS).text, f"{ADDRESS}/previews")["revision"]
    data = {"revision": revision, "node": "n4", "act": "remove"}
    preview = client.post(f"{ADDRESS}/previews", data=data)
    assert "A condition falls away" in preview.text
    assert "is now done always" in preview.text


def test_the_second_editor_is_refused_and_keeps_what_they_typed(client, readings):
    forms = client.get(f"{ADDRESS}/step", params={"node": "n1"})
    sent = hidden(forms.text, f"{ADDRESS}/previews") | {
        "act": "say",
        "text": "Look <b>well</b> at the tray",
        "commands": "show\r\ntray",
        "lines": "3",
    }
    preview = client.post(f"{ADDRESS}/previews", data=sent)
    readings.replace(fan.HASH, parse_reading({"procedures": [{**fan.FAN, "treats": "Other"}]}))
    for path, data in (("previews", sent), ("edits", hidden(preview.text, f"{ADDRESS}/edits"))):
        refused = client.post(f"{ADDRESS}/{path}", data=data)
        assert refused.status_code == 409
        assert "has changed meanwhile" in refused.text
        assert "Look &lt;b&gt;well&lt;/b&gt; at the tray</textarea>" in refused.text
        assert "\nshow\r\ntray</textarea>" in refused.text
    now = hidden(refused.text, f"{ADDRESS}/previews")
    assert client.post(f"{ADDRESS}/previews", data=sent | now).status_code == 200


def test_what_was_typed_about_a_step_that_is_gone_is_shown_with_the_reading(client, readings):
    left = {**fan.FAN, "steps": fan.FAN["steps"][1:]}
    seen = readings.get(fan.HASH).revision
    readings.replace(fan.HASH, parse_reading({"procedures": [left]}))
    data = {"revision": seen, "node": "n1", "act": "say", "text": "Look well"}
    refused = client.post(f"{ADDRESS}/edits", data=data)
    assert refused.status_code == 422
    assert "<pre>Look well</pre>" in refused.text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"act": "say", "text": "See", "lines": "x"}, "expected such as 12-14"),
        ({"act": "move", "place": "nowhere"}, "say where it goes"),
        ({"act": "move last_in n9"}, "is no body"),
        ({"act": "put", "when": "  "}, "under which condition"),
        ({"act": "add", "place": "after n1"}, "in words"),
        ({"act": "otherwise", "otherwise": "go_on"}, "only a choice"),
        ({"act": "parameter", "name": "x y!", "literal": "y"}, "match"),
    ],
)
def test_what_cannot_be_done_is_told_on_the_forms(client, data, message):
    refused = client.post(f"{ADDRESS}/previews", data={"node": "n1", **data})
    assert refused.status_code == 422
    assert message in refused.text
    assert "What you typed is below" in refused.text


def test_a_step_that_is_not_there_is_a_page_that_says_so(client):
    for params in ({"node": "n99"}, {"node": "n1", "procedure": 7}):
        answer = client.get(f"{ADDRESS}/step", params=params)
        assert answer.status_code in {404, 422}
        assert "<h1>" in answer.text


def test_a_stored_deletion_ends_an_approval_which_the_preview_tells(client, readings):
    from services.contracts.readings import ApprovalRequest

    readings.approve(fan.HASH, ApprovalRequest(procedure=0))
    preview = client.post(f"{ADDRESS}/previews", data={"node": "n5", "act": "delete"})
    assert "Storing this ends that" in preview.text
    client.post(f"{ADDRESS}/edits", data=hidden(preview.text, f"{ADDRESS}/edits"))
    assert [node["id"] for node in body(readings)] == ["n1", "n2"]
    assert readings.get(fan.HASH).approved == 0


# Forms as operations.


def done(of: Procedure = FAN, **fields) -> Procedure:
    form = StepForm.model_validate(fields)
    return apply(of, build_operations(form, Outline(of)))


def as_shown(id_: str, act: str, of: Procedure = FAN) -> dict:
    """What a browser sends of a form that nobody touched."""
    form = build_node_view(Outline(of), id_, None).forms[act]
    return form.model_dump()


def test_a_form_that_nobody_touched_changes_nothing():
    for id_, act in (("seat", "say"), ("power", "say"), ("loose", "change"), ("spin", "say")):
        with pytest.raises(UnusableOperationError, match="leaves everything"):
            done(**as_shown(id_, act))


def test_commands_of_several_lines_stay_whole_where_nobody_touched_them():
    of = edited({"op": "replace", "node": "seat", "commands": ["cat <<E\nx\nE", "ls"]})
    now = done(of, **{**as_shown("seat", "say", of), "text": "Push it"})
    assert location_of(now, "seat").thing.commands == ("cat <<E\nx\nE", "ls")
    changed = {**as_shown("seat", "say", of), "commands": " ls \r\n\r\n pwd"}
    assert location_of(done(of, **changed), "seat").thing.commands == ("ls", "pwd")


@pytest.mark.parametrize(
    ("typed", "guard"),
    [
        ({"when": "Is it hot?"}, "Is it hot?"),
        ({"when": "Is it hot?", "is_no": True}, {"not": "Is it hot?"}),
        ({"when": "Is it back?", "is_outcome": True}, {"outcome": "Is it back?"}),
        ({"when": "Hot?\nLoud?"}, {"all": ["Hot?", "Loud?"]}),
        ({"when": "Hot?\r\n\r\nLoud?", "joined": "some"}, {"some": ["Hot?", "Loud?"]}),
    ],
)
def test_a_condition_is_typed_as_questions_and_shown_so_again(typed, guard):
    built_guard = parse_guard(StepForm.model_validate(typed))
    assert built_guard == Arm.model_validate({"when": guard}).guard
    assert parse_guard(StepForm.model_validate(guard_fields(built_guard))) == built_guard


def test_a_condition_of_several_kinds_is_shown_as_such():
    mixed = {"op": "guard", "node": "loose", "when": {"all": ["Hot?", {"not": "Loud?"}]}}
    outline = Outline(edited(mixed))
    assert build_node_view(outline, "loose", None).is_mixed
    assert not build_node_view(Outline(FAN), "loose", None).is_mixed


@pytest.mark.parametrize("id_", list(Outline(FAN).locations))
def test_every_button_and_every_place_does_what_it_says(id_):
    shown = build_node_view(Outline(FAN), id_, None)
    for button in shown.menu.buttons:
        assert done(node=id_, act=button.act) != FAN
    for place in shown.places:
        with suppress(NothingChangedError):  # where it is
            assert standing(done(node=id_, act="move", place=place.value)) != standing(FAN)
    for place in shown.after:
        assert done(node=id_, act="add", text="Breathe", place=place.value) != FAN
    for last in shown.through:
        done(node=id_, act="put", when="Is it so?", through=last.value)


def test_kinds_of_what_is_added_and_ways_of_no():
    for kind, key in (
        ("do", "do"),
        ("note", "note"),
        ("end", "end"),
        ("goto", "goto"),
        ("condition", "choice"),
    ):
        now = done(node="look", act="add", kind=kind, text="So", place="before look", lines="2-3")
        assert key in as_json(now.body[0])
        assert now.body[0].lines == ((2, 3),)
    for otherwise, length in (("go_on", 0), ("escalate", 1), ("goto", 1), ("do", 1)):
        now = done(node="seat", act="otherwise", otherwise=otherwise, text="So")
        assert len(location_of(now, "loose?").thing.otherwise) == length


def test_notes_and_jumps_have_a_menu_though_no_step_is_drawn_for_them():
    of = edited(
        {"op": "insert", "node": {"id": "mind", "note": "Mind it"}, "first_in": "steps"},
        {"op": "insert", "node": {"id": "back", "goto": "look"}, "last_in": "escalation"},
    )
    shown = {each.node: each.text for each in undrawn_nodes(of, {"look"})}
    assert shown["mind"] == "The note “Mind it”"
    assert shown["back"] == "The jump to “Look at the tray of fan-1”"
    assert "look" not in shown
    assert build_menu(Outline(of), "mind").buttons[-1].act == "delete"
