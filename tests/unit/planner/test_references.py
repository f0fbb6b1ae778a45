from services.knowledge.document.markdown import parse
from services.knowledge.model import Passage, SectionRole, Span
from services.planner.article import Part
from services.planner.assembly import assemble
from services.planner.draft import Ask, Do, GoTo
from services.planner.extractive import drafts
from services.planner.references import References, Referred, of_headings, of_list, resolved
from tests.unit.planner.pages import context, nodes

LIST = "4. Read the log.\n5. Ping the peer. It answers within a second.\n"
PING = Span(document_id="page.md", start_line=2, end_line=2)


def part(heading: str, text: str, line: int = 1) -> Part:
    span = Span(document_id="page.md", start_line=line, end_line=line + text.count("\n"))
    role = SectionRole.PROCEDURE
    return Part(Passage(span=span, role=role, heading_path=("Page", heading), text=text))


def numbered() -> References:
    return of_list(part("Steps", LIST), parse(LIST).root.blocks[0])


def test_a_step_is_known_by_its_number_on_the_page() -> None:
    assert {number: found.title for number, found in numbered().items()} == {
        4: "Read the log",
        5: "Ping the peer",
    }
    assert numbered()[5].span == PING


def test_a_reference_says_what_the_step_says_in_branches_too() -> None:
    asked = Ask("Clock drifts?", yes=(Do("Note the time, later comes step 5"),))
    named = resolved(asked, numbered())
    assert isinstance(named, Ask)
    assert named.yes[0].text == "Note the time, later comes “Ping the peer”"


def test_a_jump_finds_its_step() -> None:
    jump = resolved(GoTo(5, "Go to step 5"), numbered())
    assert jump == GoTo(5, "Go to “Ping the peer”", target=PING)


def test_a_step_of_another_list_keeps_its_number() -> None:
    assert resolved(Do("Go to step 9"), numbered()).text == "Go to step 9"
    assert resolved(GoTo(9, "Go to step 9"), numbered()) == GoTo(9, "Go to step 9")


def test_sections_called_steps_are_known_unless_two_have_one_number() -> None:
    parts = [part("Step 2 - Ask the owners", "Ask."), part("Step 3: Wait", "Wait.", 9)]
    known = of_headings([*parts, part("Step 3: Restart", "Restart.", 12)])
    assert known == {2: Referred("Ask the owners", parts[0].span)}


BROKEN_LIST = """\
# Host is unreachable

## Steps

1. Ping the host.

Is there an answer?

- Yes: go to step 3
- No: go to step 2

2. Turn the power on.

3. Log in with SSH.
"""
TWO_PROCEDURES = """\
# Storage path is down

## Procedure A

### Step 1

Check the adapter. If it is down, go to Step 3.

### Step 2

Rescan the bus.

### Step 3

Replace the adapter.

## Procedure B

### Step 1

1. Look at the switch.
2. Look at the zones.
3. If the zone is missing, go to Step 3.

### Step 2

Reset the port.

### Step 3

Restore the zone.
"""


def led(page: str, asked: str, answer: str) -> str:
    workflow = assemble(drafts(context(nodes(page)))[0])
    (step,) = [step for step in workflow.steps if step.text == asked]
    (edge,) = [edge for edge in workflow.exits(step.id) if edge.condition == answer]
    return workflow.by_id[edge.target].text


def test_a_list_that_goes_on_after_a_paragraph_keeps_its_numbers() -> None:
    assert led(BROKEN_LIST, "Is there an answer?", "Yes") == "Log in with SSH"
    assert led(BROKEN_LIST, "Is there an answer?", "No") == "Turn the power on"


def test_each_of_several_procedures_has_its_own_step_3() -> None:
    assert led(TWO_PROCEDURES, "Down?", "Yes") == "Step 3: Replace the adapter"
    assert led(TWO_PROCEDURES, "Zone is missing?", "Yes") == "Step 3: Restore the zone"


def test_a_step_of_another_procedure_is_not_one_of_this_list() -> None:
    known = {2: Referred("Check the disks", PING)}
    for text in ("Proceed to Recovery step 2", "Return to step 2 of the recovery"):
        assert resolved(Do(text), known) == Do(text)
    assert resolved(Do("Repeat step 2 of this list"), known).text.startswith("Repeat “Check")
