from services.knowledge.markdown import parse
from services.knowledge.model import Passage, SectionRole, Span
from services.planner.article import Part
from services.planner.draft import Ask, Do, GoTo
from services.planner.references import References, Referred, of_headings, of_list, resolved

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
