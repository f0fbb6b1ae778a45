"""A page with boxes on the ticket's page: all of it, as it is, with what was done at each box."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from itertools import pairwise
from threading import Barrier

import pytest

from services.knowledge.page.boxes import candidates
from services.knowledge.page.parsing import parse_page
from services.tickets.ticket.events import Events
from services.workflow.model import Provenance
from tests.checklists import PUMP, WITHHELD, checklist_of
from tests.unit.gateway.fakes import RUNBOOK, fan_workflow
from tests.unit.tickets.triage.cases import past_cases

TICKET = {"id": "T-7", "title": "The pump of loop 2 stands still"}
VOID = {"meta", "link", "input", "br", "hr", "img", "path"}


class Tree(HTMLParser):
    """Tags that were opened and never closed, or closed and never opened; and all text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def show(gateway):
    """Shows a page as the checklist of a ticket; returns the address and the HTML."""

    def show(text, **how):
        workflow = checklist_of(text, **how)
        gateway.planner.workflows = [workflow]
        ticket_id = gateway.post({**TICKET, "id": f"T-{time.monotonic_ns()}"})["id"]
        gateway.work()
        address = f"/tickets/{ticket_id}"
        return address, gateway.client.get(address).text

    return show


@pytest.fixture
def mark(gateway):
    """Sends the form of a box."""

    def mark(address, step, **fields):
        workflow_id = gateway.ticket(address.split("/")[-1])["workflow_id"]
        data = {"step": step, **fields}
        answer = gateway.client.post(
            f"{address}/workflows/{workflow_id}/marks", data=data, follow_redirects=False
        )
        assert answer.status_code == 303, answer.text
        return gateway.client.get(address).text

    return mark


def shown_page(html):
    return html[html.index('class="page-shown"') : html.index('class="ending"')]


def test_an_item_that_is_only_code_has_a_tick_and_its_number(show):
    _, html = show("1. Check the pawl.\n2. ```\n   pawlctl restart\n   ```\n3. Tell the shift.\n")
    item = html[html.rindex("<li", 0, html.index(">2.</span>")) : html.index(">3.</span>")]
    assert 'class="item box open' in item
    assert 'role="checkbox" aria-checked="false" id="tick-2" aria-label="pawlctl restart"' in item


def words_of(html):
    return " ".join("".join(Tree(shown_page(html)).texts).split())


def box(html, step):
    """The row of a box up to what is nested in it."""
    start = html.index(f'data-step="{step}"', html.index('class="page-shown"'))
    return re.split(r"<li |</li>", html[html.rindex("<", 0, start) + 1 :])[0]


def test_the_page_stands_there_in_its_order_with_its_own_numbers_and_nesting(show):
    _, html = show(PUMP)
    words = words_of(html)
    order = (
        "Never run the pump dry.",
        "Before you start",
        "3. Look at the drive, as the vendor says:",
        "drive: tripped",
        "• If it says tripped, press reset once.",
        "• If it says <offline>, call the electrician.",
        "4. Run pumpctl reset loop-2 --force",
        "Lamp",
        "air in the loop",
        "1. Vent the loop.",
    )
    places = [words.find(each) for each in order]
    assert -1 not in places, dict(zip(order, places, strict=True))
    assert places == sorted(places)
    assert words.count("Nobody has checked its decisions") == 1
    inner = html[html.index("Look at the drive") : html.index("If it says")]
    assert '<ul class="items"' in inner


def test_a_command_is_copied_what_it_prints_is_not(show):
    _, html = show(PUMP)
    command = html[html.index("pumpctl status loop-2") :]
    assert "data-copy" in command[: command.index("drive: tripped")]
    output = command[command.index("drive: tripped") : command.index("If it says")]
    assert "data-copy" not in output
    assert '<span class="prompt">$ </span>' in html


def test_a_change_says_so_and_gaps_are_fields(show):
    _, html = show("# Node\n\n1. Close it:\n\n   ```sh\n   kubectl cordon <node>\n   ```\n")
    assert '<p class="effect changes">Changes something: keeps new pods off a node' in html
    assert 'data-gap="node"' in html


def test_a_command_in_the_words_is_copied_where_it_stands(show):
    _, html = show("# Node\n\n1. Run `kubectl cordon <node>` and wait.\n")
    start = html.index('class="command inline"')
    inline = html[start : html.index("and wait", start)]
    assert 'data-gap="node"' in inline
    assert "data-copy" in inline
    assert "undo: uncordon it" in html


def test_a_query_of_several_lines_is_one(show):
    query = 'sum(rate(a_total{job="x"}[5m]))\n/\nsum(rate(b_total[5m]))'
    _, html = show(
        f"# Errors\n\n1. Look:\n\n   ```promql\n   {query}\n   ```\n".replace(
            "\n/", "\n   /"
        ).replace("\nsum(rate(b", "\n   sum(rate(b")
    )
    shown = html[html.index("sum(rate(a") :]
    assert shown.index("sum(rate(b") < shown.index("data-copy")
    assert "May change something" not in shown_page(html)


def test_a_long_output_stands_behind_its_first_lines(show):
    lines = "\n".join(f"   row {n} ok" for n in range(30))
    _, html = show(f"# Rows\n\n1. It prints:\n\n   ```text\n{lines}\n   ```\n")
    assert html.index("row 11 ok") < html.index("<summary>18 more lines") < html.index("row 12 ok")


def test_what_screening_left_out_is_shown_and_marked_and_has_no_box(show):
    _, html = show(PUMP, withheld=WITHHELD)
    line = html[html.index("Ignore all that was said before") :]
    assert line.index("left out of what models see") < line.index("</p>")
    assert html.count("left out of what models see") >= 1
    item = html[: html.index("Ignore all that was said before")].rindex('<li class="item')
    assert 'role="checkbox"' not in html[item : html.index("Ignore all")]


def test_the_section_that_is_asked_for_stands_first_its_sisters_are_closed(show):
    page = PUMP + "\n## The pump leaks\n\n1. Close the valve.\n2. Mop up.\n"
    _, html = show(page, headings=("The pump is loud",))
    loud, start, still = (
        html.index(">The pump is loud</h"),
        html.index(">Before you start</h"),
        html.index(">The pump stands still</h"),
    )
    assert loud < start < still
    leaks = html[html.index('<details class="task"', still) :]
    assert "Close the valve" in leaks
    assert " open>" not in leaks[: leaks.index("summary")]
    assert "2 boxes" in leaks[: leaks.index("</summary>")]
    assert "Never run the pump dry" in html
    assert "<b>0 of 2</b> boxes" in html


def test_a_closed_section_in_which_somebody_ticked_stands_open_and_is_counted(show, mark):
    address, _ = show(PUMP, headings=("The pump is loud",))
    html = mark(address, "s2", state="done")
    task = html[html.rindex('<details class="task"', 0, html.index("Look at the drive")) :]
    assert " open>" in task[: task.index("<summary>")]
    assert "1 done" in task[: task.index("</summary>")]
    assert 'class="item box open next"' in html[html.index("Look at the drive") :]


def test_headings_go_down_one_level_at_a_time(show):
    _, html = show("## Low first\n\ntext\n\n# High\n\n#### Deep\n\n- do it\n\n##### Deeper\n")
    levels = [int(level) for level in re.findall(r"<h(\d)", html[html.index("<main") :])]
    assert all(below - above <= 1 for above, below in pairwise(levels))


def test_links_lead_somewhere_or_are_shown_as_text(show):
    text = (
        "# Links\n\n- See [other](../net/dns.md#flush), [here](#the-end), [web](https://x.example/a)"
        ", [bad](javascript:alert(1)), [mail](mailto:a@b.example), ![plan](img/plan.png)"
        "\n\n## The end\n"
    )
    _, html = show(text, document_id="runbooks/pump.md")
    page = shown_page(html)
    link = "/knowledge/link?from=runbooks%2Fpump.md&amp;to=..%2Fnet%2Fdns.md%23flush"
    assert f'<a href="{link}"' in page
    heading = re.search(r'id="(at-[^"]+)"[^>]*>The end', page)[1]
    assert f'<a href="#{heading}"' in page
    outside = '<a href="https://x.example/a" rel="noreferrer noopener" target="_blank">web</a>'
    assert outside in page
    assert "javascript:alert(1)" in page
    assert 'href="javascript' not in page
    assert "mailto:a@b.example" in page
    assert 'href="mailto' not in page
    assert '<a href="/sources/runbooks/pump.md?lines=3-3"' in page
    assert "<img" not in page


@pytest.mark.parametrize(
    "markup",
    [
        "<script>alert(1)</script>",
        "<iframe src='https://x.example'></iframe>",
        "<b onmouseover=alert(1)>bold</b>",
        "1. <img src=x onerror=alert(1)>",
        "[x](https://x.example/'\"><script>alert(1)</script>)",
        "```\n</code></pre><script>alert(1)</script>\n```",
        "| a |\n|---|\n| <script>alert(1)</script> |",
    ],
)
def test_markup_of_a_page_is_text(show, markup):
    _, html = show(f"# Page\n\n{markup}\n\n1. Do it.\n")
    page = shown_page(html)
    assert not re.search(r"<(script|iframe|img)|<[^>]*\son\w+=", page)
    tree = Tree(html)
    assert (tree.wrong, tree.open) == ([], [])


def test_a_tick_leads_on_to_the_next_box_behind_it(show, mark):
    address, html = show(PUMP)
    assert 'data-step="s1"' in html[html.index("box open next") :][:200]
    html = mark(address, "s2", state="done")
    row = html[html.index('data-step="s2"') :]
    assert 'aria-checked="true"' in row[: row.index("</form>")]
    assert 'data-step="s3"' in html[html.index("box open next") :][:200]
    assert "<b>1 of" in html
    html = mark(address, "s2", state="open")
    assert "<b>0 of" in html


@pytest.mark.parametrize(
    ("withheld", "words"),
    [
        ((), "nothing is left to do"),
        ((4,), "nothing is left to do, but 1 line of the page is left out of boxes"),
        ((4, 5), "nothing is left to do, but 2 lines of the page are left out of boxes"),
    ],
)
def test_behind_the_last_box_it_says_how_much_has_none(show, mark, withheld, words):
    text = "# Fan\n\n1. Seat the fan.\n2. Print your prompt.\n3. Print it twice.\n"
    address, html = show(text, withheld=withheld)
    assert "left out of boxes" not in html
    for number in range(1, 4 - len(withheld)):
        html = mark(address, f"s{number}", state="done")
    assert re.search(rf"· {words}</p>", html)


def test_behind_the_last_box_the_page_asks_how_it_ended(show, mark):
    address, html = show("# Fan\n\n1. Seat the fan.\n")
    ending = html[html.index("How did it end?") :]
    assert 'action="' + address + '/resolution"' in ending
    form = ending.index('/hand-over" data-key="hand-over"><button')
    assert form < ending.index("</section>")
    html = mark(address, "s1", state="done")
    assert "nothing is left to do" in html
    assert 'id="ended"' in html


def test_skipping_says_why_and_is_undone(show, mark):
    address, _ = show(PUMP)
    html = mark(address, "s1", state="skipped", why="I swapped the <drive>")
    assert "because: I swapped the &lt;drive&gt;" in html
    assert 'id="undo-1"' in html
    assert "“Look at the drive, as the vendor says” was skipped" in html, (
        "the history names it by its words"
    )


def test_what_is_nested_goes_with_a_box_that_does_not_apply_and_comes_back(show, mark):
    address, _ = show(PUMP)
    html = mark(address, "s1", state="not_applicable")
    for step in ("s2", "s3"):
        assert "which does not apply" in box(html, step), step
    assert "<b>3 of" in html
    assert 'data-step="s4"' in html[html.index("box open next") :][:200]
    html = mark(address, "s1", state="open")
    assert "<b>0 of" in html
    assert "does not apply" not in words_of(html)


def test_a_box_without_words_has_a_name_all_the_same(show):
    _, html = show("# Pump\n\n- ...\n- Do it\n")
    assert 'aria-label=""' not in html


def test_boxes_are_corrected_only_where_a_word_on_them_is_kept(show, gateway):
    address, html = show(PUMP)
    assert "This is no step" not in html
    workflow_id = gateway.ticket(address.split("/")[-1])["workflow_id"]
    data = {"key": "k", "is_step": "false"}
    answer = gateway.client.post(f"{address}/workflows/{workflow_id}/boxes", data=data)
    assert answer.status_code == 503


def test_a_tool_looks_only_where_a_box_only_looks(show):
    _, html = show("# Pump\n\n- Check the pressure.\n- Restart the pump.\n")
    assert html.count("Let a tool look</button>") == 1
    form = html[: html.index("Let a tool look</button>")].rpartition("<form")[2]
    assert 'name="step" value="s1"' in form
    assert 'name="mode" value="read_only"' in form
    assert "What would a run send" not in html


def test_a_note_stays_with_its_box(show, mark):
    address, _ = show(PUMP)
    html = mark(address, "s1", seen="Lamp is red")
    assert html.count("Lamp is red") >= 1
    assert html.index("Lamp is red") > html.index('data-step="s1"')


def test_no_scores_and_no_drawing_stand_beside_a_page(show):
    _, html = show(PUMP)
    assert "<meter" not in html
    assert 'class="drawing"' not in html
    assert "Relevance" in html
    assert "100 % of its lines stand open" in html
    assert "?format=markdown" in html


def test_a_page_and_the_reading_of_it_are_two_tabs(gateway):
    reading = fan_workflow()
    origin = Provenance(planner="extractive", reader="model", document_ids=(RUNBOOK,))
    gateway.planner.workflows = [
        checklist_of(PUMP, document_id=RUNBOOK),
        reading.model_copy(update={"provenance": origin}),
    ]
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    page, workflow = (each["id"] for each in gateway.ticket(ticket_id)["candidates"])
    for shown, name in ((page, "page"), (workflow, "workflow")):
        html = gateway.client.get(f"/tickets/{ticket_id}?candidate={shown}").text
        tabs = html[html.index('<nav class="tabs"') :]
        tabs = tabs[: tabs.index("</nav>")]
        assert f"?candidate={page}" in tabs
        assert f"?candidate={workflow}" in tabs
        assert f'id="tab-{name}" aria-current="page"' in tabs


def test_a_page_without_a_reading_has_no_tabs(show):
    _, html = show(PUMP)
    assert 'class="tabs"' not in html


@pytest.mark.parametrize(
    ("lines", "is_kept"),
    [
        ("Owner: net\nPager: 555", True),
        ("Ask the shift lead whether the loop may be stopped at all before\nyou touch it.", False),
        ("Ask the shift lead whether the loop may be stopped at all before\n2. or not", True),
        ("Ask the shift lead whether the loop may be stopped at all before  \nyou touch it.", True),
    ],
)
def test_a_line_that_ends_early_ends_there(show, lines, is_kept):
    _, html = show(f"# Pump\n\n{lines}\n\n- Do it\n")
    assert ("<br>" in shown_page(html)) is is_kept


def test_boxes_that_are_ticked_in_the_page_are_shown_and_are_not_ours(show):
    _, html = show("# List\n\n- [x] Long done\n- [ ] Not yet\n")
    assert "☑" in html
    assert "☐" in html
    assert 'aria-checked="true"' not in html
    assert html.count('role="checkbox"') == 2


def test_text_of_either_direction_has_its_own(show):
    _, html = show("# صفحة\n\n1. افحص الخادم `db-1`.\n")
    page = shown_page(html)
    line = page[page.rindex("<p ", 0, page.index("افحص", page.index("number"))) :]
    assert line.startswith('<p class="text" dir="auto">')


def test_a_page_nested_sixty_deep_is_shown_whole(show):
    deep = "\n".join(f"{'  ' * n}- level {n}" for n in range(60))
    _, html = show(f"# Deep\n\n{deep}\n\n## Behind\n\n- last\n")
    words = words_of(html)
    assert all(f"level {n}" in words for n in range(60))
    assert "Behind" in words
    assert 'class="items deep"' in html
    tree = Tree(html)
    assert (tree.wrong, tree.open) == ([], [])


def test_a_very_long_page_is_shown_whole_and_its_forms_on_demand(show, gateway):
    items = "\n".join(f"- item {n}" for n in range(3_000))
    address, html = show(f"# Long\n\n{items}\n")
    assert html.count('role="checkbox"') == 3_000
    assert html.count("Keep note") == 0
    assert len(html) < 6_000_000
    html = gateway.client.get(f"{address}?edit=s1500").text
    assert html.count("Keep note") == 1


def test_a_step_whose_block_the_page_does_not_have_is_listed(show, gateway):
    address, _ = show("# Fan\n\n1. Seat the fan.\n")
    workflow_id = gateway.ticket(address.split("/")[-1])["workflow_id"]
    added = {"edits": [{"edit": "add", "after": "s1", "text": "Breathe", "commands": ["ls"]}]}
    answer = gateway.client.post(f"/v1/workflows/{workflow_id}/versions", json=added)
    assert answer.status_code < 300, answer.text
    html = gateway.client.get(address).text
    own = html[html.index("Steps that are not on the page") :]
    assert "Breathe" in own
    assert 'role="checkbox"' in own


HANDED = """# Pump

1. Vent the loop.
2. If it still stands still, escalate to the plant team.
3. Write down what you saw.
"""


@pytest.fixture
def hand_over(gateway):
    """Sends the form of the box that says to hand over, or that of the page's end."""

    def hand_over(address, step=None):
        workflow_id = gateway.ticket(address.split("/")[-1])["workflow_id"]
        return gateway.client.post(
            f"{address}/workflows/{workflow_id}/hand-over",
            data={"step": step} if step else {},
            follow_redirects=False,
        )

    return hand_over


def test_only_the_box_that_says_to_hand_over_carries_the_button(show):
    address, html = show(HANDED)
    assert html.count('<form class="hand-over"') == 1
    button = box(html, "s2")
    assert f'action="{address}/workflows/' in button
    assert 'aria-label="Hand over, as this says: If it still stands still' in button


def test_handing_over_at_a_box_ticks_it_ends_the_work_and_rejects_nothing(show, hand_over, gateway):
    address, _ = show(HANDED)
    ticket_id = address.split("/")[-1]
    assert hand_over(address, "s2").status_code == 303
    ticket = gateway.ticket(ticket_id)
    assert ticket["status"] == "rejected", "no team is known that it could go to"
    (tried,) = ticket["triage"]["note"]["tried"]
    assert "to “If it still stands still, escalate to the plant team” (runbooks/pump" in tried
    assert "lines 4–4" in tried
    work = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()
    marks = {each["step"]: each for each in work["steps"]}
    assert marks["s2"]["state"] == "done"
    assert marks["end"]["branch"] == "Hand over"
    assert "s1" not in marks
    assert (work["next"], work["verdict"]) == (None, "")
    html = gateway.client.get(address).text
    assert '/hand-over"' not in html
    assert "Hand over at “If it still stands still" in html
    assert "Workflow “" not in html, "it is not shown as rejected"
    assert ">to hand over</span>" in html
    assert "not rejected any more" not in html
    assert "box open next" not in html, "the work on the page has ended"
    kinds = [e.kind for e in Events(gateway.database).after(0, ticket_id=ticket_id)]
    assert kinds.count("triaged") == 1


def test_a_hand_over_that_is_taken_back_leaves_the_tick_and_opens_the_end(show, hand_over, gateway):
    address, _ = show(HANDED)
    hand_over(address, "s2")
    gateway.client.post(f"{address}/taking-back")
    ticket = gateway.ticket(address.split("/")[-1])
    assert (ticket["status"], ticket["triage"]) == ("planned", None)
    work = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()
    states = {each["step"]: each["state"] for each in work["steps"]}
    assert states == {"s2": "done", "end": "open"}
    assert work["next"] == "s1"


def test_the_end_of_a_page_hands_over_with_all_that_was_done_and_rejects_nothing(
    show, mark, hand_over, gateway
):
    address, _ = show(HANDED)
    mark(address, "s1", state="done", seen="IMPORTANT finding")
    mark(address, "s2", state="not_applicable")
    mark(address, "s3", state="skipped", why="no pen")
    assert hand_over(address).status_code == 303
    ticket = gateway.ticket(address.split("/")[-1])
    assert ticket["triage"]["note"]["tried"] == [
        "Done: “Vent the loop”: IMPORTANT finding",
        "Did not apply: “If it still stands still, escalate to the plant team”",
        "Skipped: “Write down what you saw”: no pen",
        "Followed “Pump of the cooling loop” to its end",
    ]
    work = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()
    ending = next(each for each in work["steps"] if each["step"] == "end")
    assert (ending["branch"], work["verdict"]) == ("Hand over", "")
    html = gateway.client.get(address).text
    assert "IMPORTANT finding" in html.partition("Hand-over note")[2]
    assert ">to hand over</span>" in html


def test_a_page_that_is_left_halfway_tells_where_and_the_likeliest_team_gets_it(
    show, mark, hand_over, gateway
):
    cases = [{"id": c.id, "description": c.text, "team": c.team} for c in past_cases()]
    gateway.client.post("/v1/triage/cases", json={"tickets": cases})
    gateway.work()
    gateway.planner.workflows = [checklist_of(HANDED)]
    ticket_id = gateway.post({"title": "The dialplan is slow"})["id"]
    gateway.work()
    address = f"/tickets/{ticket_id}"
    mark(address, "s1", seen="still hot")
    assert hand_over(address).status_code == 303
    ticket = gateway.ticket(ticket_id)
    assert (ticket["status"], ticket["triage"]["team"]) == ("handed_over", "voice")
    assert ticket["triage"]["note"]["tried"] == [
        "Noted at “Vent the loop”: still hot",
        "Followed “Pump of the cooling loop”, 0 of 3 boxes done",
    ]


def test_a_second_hand_over_is_refused_with_its_reason(show, hand_over, gateway):
    address, _ = show(HANDED)
    hand_over(address)
    again = hand_over(address, "s2")
    assert again.status_code == 409
    assert "waits to be handed over already" in again.text
    gateway.client.post("/v1/teams", json={"name": "plant"})
    gateway.client.post(f"{address}/team", data={"team": "plant"})
    ticket = gateway.ticket(address.split("/")[-1])
    refused = gateway.client.post(
        f"{address}/workflows/{ticket['workflow_id']}/hand-over", headers={"accept": "text/html"}
    )
    assert refused.status_code == 409
    assert "<p>the ticket is handed over already to the team plant</p>" in refused.text


def test_a_ticket_that_is_over_is_not_handed_over(show, hand_over, gateway):
    address, html = show(HANDED)
    assert '/hand-over"' in html
    ticket_id = address.split("/")[-1]
    gateway.client.post(f"/v1/tickets/{ticket_id}/resolution")
    assert '/hand-over"' not in gateway.client.get(address).text
    refused = hand_over(address)
    assert refused.status_code == 409
    assert "the fault is over" in refused.text
    ticket = gateway.ticket(ticket_id)
    assert (ticket["status"], ticket["triage"]) == ("planned", None)


def test_of_hand_overs_at_one_moment_one_is_taken_down(show, hand_over, gateway):
    address, _ = show(HANDED)
    at_once = Barrier(3)

    def press(_):
        at_once.wait(10)
        return hand_over(address, "s2").status_code

    with ThreadPoolExecutor(3) as people:
        assert sorted(people.map(press, range(3))) == [303, 409, 409]
    ticket_id = address.split("/")[-1]
    kinds = [e.kind for e in Events(gateway.database).after(0, ticket_id=ticket_id)]
    assert (kinds.count("triaged"), kinds.count("marked")) == (1, 2)


def test_a_box_of_another_ticket_hands_nothing_over(show, hand_over, gateway):
    address, _ = show(HANDED)
    other, _ = show(HANDED)
    of_other = gateway.ticket(other.split("/")[-1])["workflow_id"]
    path = f"{address}/workflows/{of_other}/hand-over"
    assert gateway.client.post(path, data={"step": "s2"}).status_code == 404
    assert hand_over(address, "s9").status_code == 404
    assert gateway.ticket(address.split("/")[-1])["status"] == "planned"


def test_an_either_or_says_so_and_marks_its_options(show):
    text = "# Pump\n\n1. Do one of these:\n   - Vent the loop, or\n   - Close valve 4.\n2. Wait.\n"
    page = parse_page(text)
    options = [p.block.key for p in candidates(page) if len(p.parents) > 2]
    assert len(options) == 2
    _, html = show(text, corrections=dict.fromkeys(options, False))
    assert html.count(">one of these<") == 1
    assert 'aria-label="One of these: Do one of these:"' in html
    assert html.count('class="item option"') == 2
    assert html.count('<span class="sr">Option:</span>') == 2


def test_a_variable_that_the_page_sets_is_no_gap_of_a_later_command(show):
    _, html = show(
        "# Node\n\n1. Set it:\n\n   ```sh\n   export NODE=<node>\n   ```\n\n"
        "2. Close it:\n\n   ```sh\n   kubectl cordon $NODE\n   kubectl drain $OTHER\n   ```\n"
    )
    assert re.findall(r'data-gap="(\w+)" placeholder="([^"]*)"', html) == [
        ("node", "&lt;node&gt;"),
        ("other", "$OTHER"),
    ]
