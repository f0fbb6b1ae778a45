import json

import pytest

from services.kit.observability.redaction import redact
from services.knowledge.page.parsing import parse_page
from services.llm.chat_model import ModelAnswerError, ModelUnavailableError
from services.llm.scripted import ScriptedChatModel
from services.runbook.by_model.question import (
    PROMPT,
    PageKind,
    kind_of,
    messages,
    most_similar,
    number_lines,
    worked_examples,
)
from services.runbook.by_model.reader import ModelReader
from services.runbook.checking.check import check_reading
from services.runbook.model import Do, Reader
from tests.unit.runbook.editing.editing import edited
from tests.unit.runbook.programs import ask, do

PAGE = "# Fan stands still\n\n1. Look at the fan.\n2. If it is hot, cool it.\n3. Replace it."


def program(*steps, **more):
    return json.dumps({"procedures": [{"title": "Fan", "steps": list(steps), **more}]})


SOUND = program(do("Look at the fan", 3), ask("Is it hot?", do("Cool it", 4)), do("Replace it", 5))


def read(*answers, samples=1, corrections=0):
    model = ScriptedChatModel(list(answers))
    return ModelReader(model, samples=samples, corrections=corrections).read(PAGE)


def test_an_answer_becomes_a_reading_with_its_origin():
    reading = read(SOUND)
    assert (reading.reader, reading.model, reading.version) == (
        Reader.MODEL,
        "scripted",
        PROMPT.label,
    )
    assert [node.text for node in reading.procedures[0].body if isinstance(node, Do)] == [
        "Look at the fan",
        "Replace it",
    ]
    assert all(node.id for node in reading.procedures[0].walk())


def test_what_only_another_sample_has_is_a_doubt():
    other = program(do("Look at the fan", 3), do("Call the vendor", 4), do("Replace it", 5))
    for reading in (read(SOUND, other, samples=2), read(other, SOUND, samples=2)):
        assert len(reading.doubts) == 1
    assert "Call the vendor" in read(SOUND, other, samples=2).doubts[0].question


def test_a_circle_without_a_way_out_and_what_no_path_leads_to_are_doubts_until_they_are_mended():
    back = {"goto": "look", "id": "back"}
    reading = read(program(do("Look", 3, id="look"), back, do("Mend", 4, id="mend")))
    assert [(each.node, each.lines) for each in reading.doubts] == [
        ("look", ((3, 3),)),
        ("mend", ((4, 4),)),
    ]
    mended = edited({"op": "delete", "node": "back"}, of=reading.procedures[0])
    reading = reading.model_copy(update={"procedures": (mended,)})
    assert check_reading(reading, PAGE).reading.doubts == ()


def test_the_findings_of_the_walker_go_back_and_the_better_answer_counts():
    broken = program(do("Look at the fan", 3), {"goto": "nowhere"})
    reading = read(broken, SOUND, corrections=1)
    assert len(reading.procedures[0].body) == 3


def test_the_model_sees_its_program_drawn_and_may_revise_it():
    sooner = program(do("Look at the fan", 3), ask("Is it hot?", do("Cool it", 4)), do("x", 5))
    model = ScriptedChatModel([sooner, SOUND])
    reading = ModelReader(model, samples=1, corrections=1).read(PAGE)
    shown = model.requests[1].messages[-1].content
    assert "s2 Is it hot? -> Yes: s3, No: s4\ns3 Cool it (lines 4-4) -> s4" in shown
    assert reading.procedures[0].body[-1].text == "Replace it"


def test_a_correction_that_is_worse_is_not_taken():
    almost = program(do("Look at the fan", 3), ask("Is it hot?", do("Cool it", 4), do("x", 99)))
    worse = program({"goto": "a"}, {"goto": "b"}, {"goto": "c"})
    reading = read(almost, worse, corrections=1)
    assert reading.procedures[0].body[0].text == "Look at the fan"


@pytest.mark.parametrize("answer", ["I think the fan is broken.", "{", "x" * 300_000, "[]", "{}"])
def test_an_answer_that_is_no_program_is_an_error_of_the_model(answer):
    with pytest.raises(ModelAnswerError):
        read(answer)


def test_one_sample_that_can_be_read_is_enough():
    assert read("nonsense", SOUND, samples=2).procedures


def test_a_page_that_tells_nothing_is_read_as_such():
    assert read('{"procedures": []}').procedures == ()


def test_lines_that_the_page_does_not_have_are_cut_and_mark_the_step():
    reading = read(program(do("Look at the fan", 3), do("Pray", 4000)))
    (_, invented) = reading.procedures[0].body
    assert invented.lines == ()
    assert invented.confidence < 0.6


def test_a_model_that_is_down_is_told_as_such():
    class Down(ScriptedChatModel):
        def complete(self, request):
            raise ModelUnavailableError("down")

    with pytest.raises(ModelUnavailableError):
        ModelReader(Down([])).read(PAGE)


def test_the_page_is_shown_whole_with_numbered_lines_in_a_marked_block():
    last = messages(PAGE)[-1].content
    assert "4 | 2. If it is hot, cool it." in last
    assert messages(PAGE)[0].role == "system"
    assert "Fan stands still" not in messages(PAGE)[0].content


def test_a_page_is_never_its_own_worked_example():
    example = worked_examples()[0]
    other = most_similar(example.text)
    assert other is not None
    assert other.text != example.text


def test_the_worked_example_is_the_page_of_its_kind_that_is_worded_most_like_it():
    session = "session to the neighbor is down: state Idle, hold timer expired"
    numbered = most_similar(f"# BGP\n\n1. Check the BGP {session}.\n2. Clear the session.\n")
    assert numbered is not None
    assert "BGP" in numbered.text
    listed = most_similar(f"# BGP\n\n- Check the BGP {session}.\n- Clear the session.\n")
    assert listed is not None
    assert kind_of(parse_page(listed.text)) is PageKind.LISTED


@pytest.mark.parametrize(
    "line",
    [
        "export DB_PASSWORD=hunter2hunter2",
        "Authorization: Bearer abcdefghijklmnopqrstuvwxyz",
        "postgres://admin:s3cretpw@db/prod",
        "aws_key AKIAABCDEFGHIJKLMNOP",
        "token: ghp_abcdefghijklmnopqrstuvwx",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_secrets_do_not_leave_the_house(line):
    shown = redact(f"Run it.\n{line}\nThen look.")
    assert "[redacted]" in shown
    for secret in ("hunter2hunter2", "abcdefghijklmnopqrstuvwx", "s3cretpw", "AKIAABC", "MIIabc"):
        assert secret not in shown
    assert shown.count("\n") == f"Run it.\n{line}\nThen look.".count("\n")


@pytest.mark.parametrize(
    "line",
    ["Ask for the password: it is in the vault", "token: ${TOKEN}", "password: <your password>"],
)
def test_what_only_speaks_of_secrets_stays(line):
    assert redact(line) == line


def test_a_line_without_end_is_cut():
    assert len(number_lines("x" * 100_000)) < 3000


SCRIPT = """# Fan

## Repair

1. Stop the service, then start it.

   ```sh
   systemctl stop fand
   systemctl start fand
   ```
"""


def test_an_action_gets_the_commands_of_the_lines_that_it_cites():
    steps = (do("Stop the service", 8), do("Start it", 9))
    model = ScriptedChatModel([program(*steps)])
    reading = ModelReader(model, samples=1, corrections=0).read(SCRIPT)
    stop, start = reading.procedures[0].body
    assert (stop.commands, start.commands) == (("systemctl stop fand",), ("systemctl start fand",))
    beside = program(do("Wait a minute", 5), {**do("Look"), "at": [[10, 10]]})
    reading = ModelReader(ScriptedChatModel([beside]), samples=1, corrections=0).read(SCRIPT)
    assert [node.commands for node in reading.procedures[0].body] == [(), ()]
    whole = program({**do("Restart it"), "at": [[5, 10]]})
    reading = ModelReader(ScriptedChatModel([whole]), samples=1, corrections=0).read(SCRIPT)
    assert len(reading.procedures[0].body[0].commands) == 2


def test_each_procedure_of_a_page_has_the_commands_that_they_share():
    one = {"title": "Stop", "steps": [do("Stop the service", 8)]}
    answer = json.dumps({"procedures": [one, {**one, "title": "Halt"}]})
    reading = ModelReader(ScriptedChatModel([answer]), samples=1, corrections=0).read(SCRIPT)
    commands = [procedure.body[0].commands for procedure in reading.procedures]
    assert commands == [("systemctl stop fand",)] * 2
