"""Work on a checklist: boxes in any order, what does not apply, and what the page keeps."""

import pytest

from services.tickets.tables import AdoptionRow
from services.tickets.ticket.lifecycle import walk_again
from services.workflow.model import Citation
from tests.checklists import PAGE, checklist_of
from tests.unit.gateway.fakes import fan_workflow

TEXT = """# Fan failed

1. Show the fans.
2. If a fan stands still:
   - Pull the tray out.
   - Clean the filter:

     ```
     clean filter 2
     ```

     - Blow from behind.
3. Write down the serial number.
"""
LOOK, IF, PULL, CLEAN, BLOW, NOTE = (f"s{number}" for number in range(1, 7))


class Shown:
    """A ticket that shows a checklist."""

    def __init__(self, gateway, text=TEXT, **options):
        self.gateway = gateway
        gateway.planner.workflows = [checklist_of(text, **options)]
        self.id = gateway.post({"id": "T-1", "title": "Fan 2 of spine-01 failed"})["id"]
        gateway.work()

    def again(self, workflow):
        """The ticket walked again."""
        self.gateway.planner.workflows = [workflow]
        with self.gateway.database.session() as session:
            walk_again(session, self.gateway.outbox, self.id)
        self.gateway.work()

    @property
    def address(self):
        return f"/v1/workflows/{self.gateway.ticket(self.id)['workflow_id']}"

    def mark(self, step, **fields):
        answer = self.gateway.client.put(f"{self.address}/steps/{step}/mark", json=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    @property
    def work(self):
        return self.gateway.client.get(f"{self.address}/work").json()

    @property
    def states(self):
        return {each["step"]: each["state"] for each in self.work["steps"]}

    @property
    def counted(self):
        with self.gateway.database.session() as session:
            row = session.query(AdoptionRow).order_by(AdoptionRow.worked_at.desc()).first()
            return row.did, row.had, row.core, row.used


@pytest.fixture
def shown(gateway):
    return Shown(gateway)


def test_boxes_are_ticked_in_any_order_and_how_it_ended_is_asked_last(shown):
    work = shown.work
    assert (work["next"], work["done"], work["total"]) == (LOOK, 0, 6)
    assert shown.mark(NOTE, state="done")["next"] == LOOK
    assert shown.mark(LOOK, state="done")["next"] == IF
    for step in (IF, PULL, CLEAN):
        shown.mark(step, state="done")
    work = shown.mark(BLOW, state="skipped", why="No blower")
    assert (work["next"], work["done"], work["skipped"], work["total"]) == ("end", 5, 1, 6)
    work = shown.mark("end", branch="It is over")
    assert (work["next"], work["done"], work["left_aside"]) == (None, 5, [])


def test_it_may_be_over_while_boxes_are_open_and_these_count_as_nothing(shown):
    shown.mark(LOOK, state="done")
    work = shown.mark("end", branch="It is over")
    assert (work["next"], work["left_aside"]) == (None, [])
    assert (work["core"], work["used"]) == (1, 1)
    assert shown.counted == (1, 1, 1, 1)


def test_what_does_not_apply_takes_its_nested_boxes_along_and_back(shown):
    work = shown.mark(IF, state="not_applicable")
    assert shown.states == dict.fromkeys((IF, PULL, CLEAN, BLOW), "not_applicable")
    along = {each["step"]: each["with_step"] for each in work["steps"]}
    assert along == {IF: "", PULL: IF, CLEAN: IF, BLOW: IF}
    assert {each["marked_by"] for each in work["steps"]} == {"local"}
    assert (work["done"], work["total"], work["next"]) == (4, 6, LOOK)
    shown.mark(IF, state="open")
    assert set(shown.states.values()) == {"open"}
    assert shown.work["done"] == 0


def test_what_does_not_apply_was_no_action_that_was_called_for(shown):
    shown.mark(LOOK, state="done")
    shown.mark(IF, state="not_applicable")
    work = shown.mark(NOTE, state="skipped", why="It cannot be read")
    assert (work["core"], work["used"]) == (2, 1)
    assert shown.counted == (1, 1, 2, 1)


def test_nested_boxes_that_were_marked_by_themselves_stay(shown):
    shown.mark(PULL, state="done")
    shown.mark(IF, state="not_applicable")
    shown.mark(CLEAN, state="not_applicable")
    assert shown.states[PULL] == "done"
    shown.mark(BLOW, state="done")
    shown.mark(IF, state="open")
    assert (shown.states[PULL], shown.states[BLOW]) == ("done", "done")


def test_a_nested_box_is_opened_again_by_itself_with_those_in_it(shown):
    shown.mark(IF, state="not_applicable")
    shown.mark(CLEAN, state="open")
    states = shown.states
    assert (states[IF], states[PULL]) == ("not_applicable", "not_applicable")
    assert (states[CLEAN], states.get(BLOW, "open")) == ("open", "open")
    shown.mark(IF, state="open")
    shown.mark(IF, state="not_applicable")
    assert shown.states[BLOW] == "not_applicable"


def test_boxes_of_closed_sections_do_not_count_unless_they_are_ticked(gateway):
    text = (
        "# Page\n\n- Be careful.\n\n## Fans\n\n- Look.\n- Swap.\n\n## Disks\n\n- Mount.\n- Check.\n"
    )
    shown = Shown(gateway, text, headings=("Fans",))
    assert (shown.work["total"], shown.work["next"]) == (3, "s1")
    shown.mark("s1", state="done")
    shown.mark("s2", state="done")
    work = shown.mark("s5", state="done")
    assert (work["done"], work["total"], work["next"]) == (3, 4, "s3")
    assert shown.mark("s3", state="done")["next"] == "end"


def changed(old, new):
    assert old in TEXT
    return checklist_of(TEXT.replace(old, new))


def test_unchanged_blocks_keep_their_ticks_and_a_changed_one_says_so(shown):
    shown.mark(LOOK, state="done")
    shown.mark(PULL, state="done", seen="It is stuck")
    shown.again(changed("Pull the tray", "Pull both trays"))
    work = shown.work
    assert [each["step"] for each in work["steps"]] == [LOOK]
    (left,) = work["left_behind"]
    assert (left["reason"], left["text"], left["step"]) == (
        "page_changed",
        "Pull the tray out",
        "",
    )
    assert left["said"]["seen"] == "It is stuck"


def test_a_tick_stays_where_boxes_are_put_before_it(shown):
    shown.mark(NOTE, state="done")
    shown.again(changed("1. Show", "1. Call the site.\n2. Show"))
    assert shown.states == {"s7": "done"}
    assert shown.work["left_behind"] == []


def test_other_code_below_the_same_words_is_a_changed_page(shown):
    shown.mark(CLEAN, state="done")
    shown.again(changed("clean filter 2", "clean filter all"))
    assert shown.states == {}
    assert [left["reason"] for left in shown.work["left_behind"]] == ["page_changed"]


def test_blocks_that_cannot_be_told_apart_any_more_keep_no_tick(gateway):
    text = "- Check the pod.\n\n---\n\n- Check the pod.\n"
    shown = Shown(gateway, text)
    shown.mark("s2", state="done")
    shown.again(checklist_of(f"{text}\n---\n\n- Check the pod.\n"))
    assert shown.states == {}
    assert [left["reason"] for left in shown.work["left_behind"]] == ["page_changed"]


def test_a_box_that_is_no_step_any_more_is_gone_and_so_is_another_page(shown):
    shown.mark(LOOK, state="done")
    key = shown.gateway.planner.workflows[0].by_id[LOOK].node
    shown.again(checklist_of(TEXT, corrections={key: False}))
    assert [left["reason"] for left in shown.work["left_behind"]] == ["gone"]
    shown.again(checklist_of(TEXT, document_id="other.md"))
    assert [left["reason"] for left in shown.work["left_behind"]] == ["gone"]


def reading(**lines):
    """The workflow of a reading whose steps cite these lines of the page."""
    base = fan_workflow()
    steps = tuple(
        step.model_copy(update={"citations": cited(*lines.get(step.id, ()))}) for step in base.steps
    )
    return base.model_copy(update={"steps": steps})


def cited(*lines):
    return tuple(Citation(document_id=PAGE, start_line=n, end_line=n) for n in lines)


def test_ticks_go_from_a_reading_to_the_one_box_that_holds_their_lines(gateway):
    shown = Shown(gateway)
    shown.again(reading(look=[3], ask=[4], replace=[5, 13]))
    shown.mark("look", state="done", seen="Fan 2")
    shown.mark("ask", branch="yes")
    shown.mark("replace", state="done")
    shown.again(checklist_of(TEXT))
    work = shown.work
    assert [(each["step"], each["seen"]) for each in work["steps"]] == [(LOOK, "Fan 2")]
    assert sorted(left["text"] for left in work["left_behind"]) == [
        "Is a fan failed?",
        "Replace the tray",
    ]


def test_lines_alone_carry_nothing(gateway):
    shown = Shown(gateway)
    shown.again(reading(look=[13]))
    shown.mark("look", state="done")
    shown.again(checklist_of(TEXT))
    assert shown.work["steps"] == []


def test_ticks_go_from_a_box_to_the_one_step_of_a_reading_within_its_lines(shown):
    shown.mark(LOOK, state="done")
    shown.mark(NOTE, state="not_applicable")
    shown.again(reading(look=[3], replace=[13]))
    assert shown.states == {"look": "done"}
    assert [left["reason"] for left in shown.work["left_behind"]] == ["gone"]


def test_a_rejected_box_is_no_doubt_of_a_reading(shown):
    answer = shown.gateway.client.put(
        f"{shown.address}/steps/{LOOK}/judgement", json={"verdict": "rejected", "word": "Not so"}
    )
    assert answer.status_code == 200
    shown.gateway.work()
    assert shown.gateway.doubts.open == {}
