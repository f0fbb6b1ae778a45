"""A link of a ticket's page opens the page that it leads to beside it, with boxes of its own."""

import re

import pytest

from services.knowledge.page.boxes import candidates
from services.knowledge.page.parsing import parse_page
from services.tickets.retention import Retention
from services.tickets.tables import LinkedMarkRow
from services.tickets.ticket.lifecycle import walk_again
from services.web.ui.knowledge.backend import Knowledge
from services.workflow.model import LinkedPage
from tests.checklists import checklist_of
from tests.unit.gateway.fakes import FakeRetrieval
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.ingestion.proposing import proposals_of

OWN = "pumps/still.md"
OTHER = "power/breaker.md"
TEXT = """# The pump stands still

1. Look at the lamp.
2. Reset the [breaker](../power/breaker.md).
3. Call the [shift lead](../people/shift.md), see [the parts](parts.pdf.zip).
"""
BREAKER = """# Reset a breaker

1. Open the cabinet of `<room>`.
2. Look at the breaker:
   - If it glows, leave the room.
3. Push it in:

   ```sh
   breakerctl close <room>
   ```

## See also

- [the pump](../pumps/still.md)
- [mains](mains.md#the-main-fuse)
"""
MAINS = """# Mains

## The lamp

1. See whether the lamp is lit.

## The main fuse

1. Pull the fuse.
"""


class Ticket:
    """A ticket on a page that links to others, in a browser without scripts."""

    def __init__(self, gateway, ingestion):
        self.gateway, self.ingestion = gateway, ingestion
        gateway.planner.workflows = [checklist_of(TEXT, document_id=OWN)]
        body = {"id": "T-1", "title": "Pump", "labels": {"room": "b12"}}
        self.id = gateway.post(body)["id"]
        gateway.work()
        self.at = f"/tickets/{self.id}"

    def page(self, address=""):
        answer = self.gateway.client.get((address or self.at).replace("&amp;", "&"))
        assert answer.status_code == 200, answer.text
        return answer.text

    def link(self, words, html=None):
        """Where a link leads, and what stands behind it."""
        match = re.search(
            rf'<a href="([^"]*)"[^>]*>{words}</a>([^<]*<span[^>]*>[^<]*)?', html or self.page()
        )
        return match[1], match[2] or ""

    def open(self, words="breaker"):
        """Follow a link; returns the page beside."""
        return self.beside(self.page(self.link(words)[0]))

    def beside(self, html):
        start = html.index('class="page-shown beside"')
        return html[start : html.index("</section>", start)]

    def tick(self, words, html=None, **fields):
        """Send the form of the box that says so; returns where that leads."""
        html = html or self.open()
        label = re.search(
            r'<form class="tick-form"[^>]*action="([^"]*)"(?:(?!</form>).)*?value="([^"]*)">'
            rf'\s*<button[^>]*aria-label="{words}',
            html,
            re.DOTALL,
        )
        data = {"step": label[2], "state": "done", **fields}
        answer = self.gateway.client.post(
            label[1].replace("&amp;", "&"), data=data, follow_redirects=False
        )
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def again(self, text, document_id):
        """The ticket walked again, to a page."""
        self.gateway.planner.workflows = [checklist_of(text, document_id=document_id)]
        with self.gateway.database.session() as session:
            walk_again(session, self.gateway.outbox, self.id)
        self.gateway.work()

    def change(self, name, text):
        self.ingestion.write(name, text)
        self.ingestion.ingest()


@pytest.fixture
def ticket(tmp_path, make_gateway):
    ingestion = IngestionHarness(tmp_path)
    for name, text in {OWN: TEXT, OTHER: BREAKER, "power/mains.md": MAINS}.items():
        ingestion.write(name, text)
    ingestion.ingest()
    knowledge = Knowledge(
        ingestion.service,
        lambda caller: ingestion.service.readings(caller.name),
        FakeRetrieval(),
        proposals_of(ingestion),
    )
    return Ticket(make_gateway(knowledge=knowledge), ingestion)


def ticked(html):
    """What the boxes are called that are ticked."""
    return re.findall(r'aria-checked="true"[^>]*aria-label="([^"]*)"', html)


def test_a_link_to_a_known_page_opens_it_beside_and_others_are_text(ticket):
    address, _ = ticket.link("breaker")
    assert address == f"{ticket.at}?beside=power%2Fbreaker.md#beside"
    page = ticket.page()
    assert 'class="page-shown beside"' not in page
    assert re.search(r"shift lead <span[^>]*>\(../people/shift.md\)", page)
    assert re.search(r"the parts <span[^>]*>\(parts.pdf.zip\)", page)


def test_the_page_beside_has_its_own_numbers_nesting_and_filled_commands(ticket):
    html = ticket.open()
    assert ">Reset a breaker</h2>" in html
    words = ("Open the cabinet", "Look at the breaker:", "If it glows", "breakerctl close")
    places = [html.index(each) for each in words]
    assert places == sorted(places)
    assert 'data-gap="room" placeholder="&lt;room&gt;" value="b12"' in html
    assert "0 of 4</b> boxes" in html
    assert f'href="{ticket.at}#work" data-swap id="close-beside"' in html


def test_no_two_things_of_both_pages_share_an_address(ticket):
    html = ticket.page(ticket.link("breaker")[0])
    ids = re.findall(r'\sid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    steps = re.findall(
        r'data-step="([^"]*)"', html[html.index("<main") : html.index('class="stay"')]
    )
    assert len(steps) == len(set(steps))


def test_what_is_ticked_there_comes_back_there_and_is_told_at_the_link(ticket):
    address = ticket.tick("Open the cabinet")
    assert address == f"{ticket.at}?beside=power%2Fbreaker.md#step-beside-1"
    assert ticked(ticket.beside(ticket.page(address))) == ["Open the cabinet of &lt;room&gt;"]
    assert "(1 of 4 done on it" in ticket.link("breaker")[1]
    page = ticket.page()
    assert "<b>0 of 3</b> boxes" in page
    assert 'id="marked-beside"' in page


def test_a_box_of_the_ticket_is_ticked_while_the_other_page_stays_open(ticket):
    both = ticket.page(ticket.link("breaker")[0])
    address = ticket.tick("Look at the lamp", both)
    after = ticket.page(address)
    assert ticked(after) == ["Look at the lamp"]
    assert 'class="page-shown beside"' in after


def test_what_does_not_apply_takes_the_nested_boxes_with_it_and_a_note_stays(ticket):
    ticket.tick("Look at the breaker", state="not_applicable")
    ticket.tick("Open the cabinet", state="open", seen="The cabinet is locked")
    html = ticket.open()
    assert html.count("Does not apply</span>") + html.count("– Does not apply") == 1
    assert "Goes with the step around it" in html
    assert "The cabinet is locked" in html
    assert "2 of 4</b> boxes" in html


def test_a_page_that_is_left_and_reached_by_another_link_has_its_ticks(ticket):
    ticket.tick("Open the cabinet")
    ticket.again("# Sump\n\n1. First the [power](../power/breaker.md).\n", "pumps/sump.md")
    assert ticked(ticket.open("power")) == ["Open the cabinet of &lt;room&gt;"]


def test_the_ticket_made_again_keeps_them(ticket):
    ticket.tick("Open the cabinet")
    ticket.again(TEXT.replace("lamp", "gauge"), OWN)
    assert "(1 of 4 done on it" in ticket.link("breaker")[1]
    assert ticked(ticket.open()) == ["Open the cabinet of &lt;room&gt;"]


def test_they_count_in_no_figure_of_the_tickets_own_workflow(ticket):
    ticket.tick("Open the cabinet")
    workflow_id = ticket.gateway.ticket(ticket.id)["workflow_id"]
    work = ticket.gateway.client.get(f"/v1/workflows/{workflow_id}/work").json()
    assert (work["done"], work["total"], work["used"], work["steps"]) == (0, 3, 0, [])
    assert ticket.gateway.client.get("/v1/acceptance").json()["total"]["did"] == 0


def test_the_history_tells_them(ticket):
    ticket.tick("Open the cabinet")
    page = ticket.page()
    assert "“Open the cabinet of &lt;room&gt;” of power/breaker.md was done" in page


def test_a_link_to_a_heading_leads_to_it(ticket):
    address = ticket.link("mains", ticket.open())[0]
    assert address.replace("&amp;", "&") == (
        f"{ticket.at}?beside=power%2Fmains.md&part=the-main-fuse#beside-part"
    )
    html = ticket.beside(ticket.page(address))
    at = html.index('<a id="beside-part"></a>')
    assert html[at:].index("The main fuse") < html[at:].index("Pull the fuse")
    assert "The lamp" not in html[at:]


def test_the_page_beside_leads_back_to_the_tickets_own(ticket):
    assert ticket.link("the pump", ticket.open())[0] == "#workflow"
    assert 'class="page-shown beside"' not in ticket.page(f"{ticket.at}?beside={OWN}")


def test_a_block_that_changed_says_so_and_an_unchanged_one_keeps_its_tick(ticket):
    ticket.tick("Open the cabinet")
    ticket.tick("Push it in", seen="It sparks")
    ticket.change(OTHER, BREAKER.replace("breakerctl close", "breakerctl push"))
    html = ticket.open()
    assert ticked(html) == ["Open the cabinet of &lt;room&gt;"]
    assert "page changed, tick again" in html
    assert "It sparks" in html
    ticket.tick("Push it in")
    left = ticket.gateway.client.get(f"/v1/tickets/{ticket.id}/left-behind").json()
    assert [(each["said"]["seen"], each["reason"]) for each in left] == [
        ("It sparks", "page_changed")
    ]


def test_a_box_that_is_gone_is_not_marked(ticket):
    html = ticket.open()
    ticket.change(OTHER, BREAKER.replace("1. Open the cabinet of `<room>`.\n", ""))
    step = re.search(r'name="step" value="([^"]*)"', html)[1]
    answer = ticket.gateway.client.post(
        f"{ticket.at}/beside/marks?beside={OTHER}", data={"step": step, "state": "done"}
    )
    assert answer.status_code == 404
    assert "the page has no such box any more" in answer.text


def test_a_page_that_was_withdrawn_says_so_and_what_was_done_stays_in_sight(ticket):
    ticket.tick("Open the cabinet")
    (ticket.ingestion.root / OTHER).unlink()
    ticket.ingestion.ingest(prune=True)
    html = ticket.beside(ticket.page(f"{ticket.at}?beside={OTHER}"))
    assert "not known here any more" in html
    assert "Open the cabinet" in html
    assert "is not known any more" in ticket.page()


def test_a_page_of_the_tickets_own_that_changed_or_is_gone_says_so(ticket):
    newer = f"/v1/tickets/{ticket.id}/renewal"
    assert ticket.gateway.client.get(newer).json() == []
    assert "The page was" not in ticket.page()
    ticket.change(OWN, TEXT.replace("lamp", "gauge"))
    (changed,) = ticket.gateway.client.get(newer).json()
    assert (changed["document"], changed["what"], changed["by"]) == (OWN, "page changed", "")
    assert "The page was changed, " in ticket.page()
    assert "Look at the lamp" in ticket.page()
    (ticket.ingestion.root / OWN).unlink()
    ticket.ingestion.ingest(prune=True)
    assert [each["what"] for each in ticket.gateway.client.get(newer).json()] == ["page gone"]
    assert "The page was withdrawn after this workflow was made" in ticket.page()
    assert "Look at the lamp" in ticket.page()


def test_a_purged_ticket_takes_them_along(ticket):
    ticket.tick("Open the cabinet")
    ticket.gateway.client.post(f"/v1/tickets/{ticket.id}/resolve")
    assert Retention(ticket.gateway.database, 1, clock=lambda: 4e9).purge().tickets == 1
    with ticket.gateway.database.session() as session:
        assert session.query(LinkedMarkRow).count() == 0


def test_the_api_marks_and_tells_the_same(ticket):
    at = f"/v1/tickets/{ticket.id}/page-beside"
    client = ticket.gateway.client
    page = client.get(at, params={"document": OTHER}).json()
    box = page["workflow"]["steps"][0]
    assert box["id"] == box["node"]
    marked = client.put(
        f"{at}/{box['id']}/mark", params={"document": OTHER}, json={"state": "done"}
    ).json()
    assert (marked["work"]["done"], marked["work"]["total"]) == (1, 4)
    assert ticked(ticket.open()) == ["Open the cabinet of &lt;room&gt;"]
    gone = client.get(at, params={"document": "no/such.md"}).json()
    assert (gone["is_known"], gone["workflow"]) == (False, None)
    assert client.get("/v1/tickets/none/page-beside", params={"document": OTHER}).status_code == 404


def test_where_the_documents_are_away_the_ticket_is_shown_all_the_same(ticket, monkeypatch):
    ticket.tick("Open the cabinet")
    ticket.ingestion.database.close()
    html = ticket.page(f"{ticket.at}?beside={OTHER}")
    assert "cannot be shown right now" in html
    assert "Look at the lamp" in html


INDEX = """# Pages of the plant

- [Mains](../power/mains.md#the-main-fuse)
- [Breaker](../power/breaker.md)
- [Pump](still.md)
"""


@pytest.fixture
def leading(ticket):
    """The ticket on a page of links, the breaker's nearest to it."""
    workflow = checklist_of(INDEX, document_id="pumps/all.md", title="Pages of the plant")
    links = (
        LinkedPage(document_id=OTHER, title="Breaker", nearness=0.6),
        LinkedPage(document_id="power/mains.md", title="Mains", part="the-main-fuse"),
        LinkedPage(document_id=OWN, title="Pump"),
    )
    page = workflow.page.model_copy(update={"links": links})
    ticket.gateway.planner.workflows = [workflow.model_copy(update={"page": page})]
    with ticket.gateway.database.session() as session:
        walk_again(session, ticket.gateway.outbox, ticket.id)
    ticket.gateway.work()
    return ticket


def names_of(html):
    listed = html[
        html.index('class="page-shown leads-to"') : html.index("</nav>", html.index("leads-to"))
    ]
    return re.findall(r"<li><a [^>]*>([^<]*)</a>", listed)


def test_a_page_of_links_shows_them_by_the_ticket_and_the_first_ones_page_open(leading):
    html = leading.page()
    assert "Pages that it leads to, nearest to this ticket first</h2>" in html
    assert names_of(html) == ["Breaker", "Mains", "Pump"]
    assert "Open the cabinet" in leading.beside(html)
    whole = html[html.index('aria-labelledby="workflow"') :]
    places = [whole.index(f">{name}</a>") for name in ("Mains", "Breaker", "Pump")]
    assert places == sorted(places)


def test_another_page_of_them_is_opened_in_its_place(leading):
    address, _ = leading.link("Mains")
    html = leading.page(address)
    assert "Pull the fuse" in leading.beside(html)
    assert "Open the cabinet" not in html
    assert re.search(r'aria-current="true"[^>]*>Mains<', html)


def test_a_tick_on_the_first_ones_page_leads_back_there_and_is_told_in_the_list(leading):
    address = leading.tick("Open the cabinet", leading.beside(leading.page()))
    html = leading.page(address)
    assert ticked(leading.beside(html)) == ["Open the cabinet of &lt;room&gt;"]
    assert re.search(r">Breaker</a> <span[^>]*>\(1 of 4 done on it\)", html)


def test_a_box_of_a_page_beside_hands_the_ticket_over_without_a_box_of_the_tickets_own(ticket):
    ticket.change(OTHER, BREAKER + "\n## Else\n\n1. Escalate to the power team.\n")
    form = re.search(r'<form class="hand-over".*?</form>', ticket.open(), re.DOTALL)[0]
    assert 'name="step"' not in form
    action = re.search(r'action="([^"]*)"', form)[1]
    answer = ticket.gateway.client.post(action, follow_redirects=False)
    assert answer.status_code == 303
    shown = ticket.gateway.ticket(ticket.id)
    work = ticket.gateway.client.get(f"/v1/workflows/{shown['workflow_id']}/work").json()
    assert [(each["step"], each["branch"]) for each in work["steps"]] == [("end", "Hand over")]
    assert work["verdict"] == ""


def test_boxes_left_aside_beside_three_tickets_are_suggested_to_the_page_beside(ticket):
    client = ticket.gateway.client
    keys = {p.block.text: p.block.key for p in candidates(parse_page(BREAKER))}
    box = next(key for text, key in keys.items() if text.startswith("Look at the breaker"))
    for number in range(3):
        assert client.get(f"/v1/suggested-edits/{OTHER}").json() == []
        ticket_id = ticket.gateway.post({"id": f"B-{number}", "title": "Pump"})["id"]
        answer = client.put(
            f"/v1/tickets/{ticket_id}/page-beside/{box}/mark?document={OTHER}",
            json={"state": "skipped", "why": "seen from outside"},
        )
        assert answer.status_code == 200, answer.text
    (left,) = client.get(f"/v1/suggested-edits/{OTHER}").json()
    assert (left["kind"], left["block"], left["tickets"]) == ("left_aside", box, 3)
