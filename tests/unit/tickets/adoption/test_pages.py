"""The forms of the ticket's page, and the page of the acceptance rate."""

import re

import pytest

from services.tickets.adoption.service import AdoptionService
from services.tickets.ticket.lifecycle import walk_again

TICKET = {"id": "T-1", "title": "Fan 2 of spine-01 failed"}
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def ticket(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


@pytest.fixture
def send(gateway, ticket):
    def send(form, **fields):
        address = f"/tickets/{ticket['id']}/workflows/{ticket['workflow_id']}/{form}"
        return gateway.client.post(address, data=fields, follow_redirects=False)

    return send


def page_of(gateway, ticket):
    return gateway.client.get(f"/tickets/{ticket['id']}").text


def test_a_tick_leads_to_the_next_step(gateway, ticket, send):
    answer = send("marks", step="look", state="done")
    assert answer.status_code == 303
    assert answer.headers["location"].endswith("#step-2")
    page = page_of(gateway, ticket)
    assert "<b>1 of 4</b> steps done" in page
    assert "▶ Next" in page


def test_a_branch_is_followed_by_its_place_and_a_note_stays(gateway, ticket, send):
    send("marks", step="ask", exit="2", seen="All turn")
    send("marks", step="ask", seen="All turn, I looked twice")
    page = page_of(gateway, ticket)
    assert "I looked twice" in page
    assert "1 left aside" in page
    assert 'aria-pressed="true"' in page
    assert send("marks", step="ask", exit="7").status_code == 422


def test_an_edit_by_form_shows_the_version_and_its_diff(gateway, ticket, send):
    page = gateway.client.get(f"/tickets/{ticket['id']}?edit=replace").text
    assert "Save as a new version" in page
    send("edits", edit="change", step="replace", text="Swap it", commands="show fan\n\nshow env")
    page = page_of(gateway, ticket)
    assert "text was “Replace the tray”" in page
    assert "command added: show env" in page
    assert send("edits", edit="add", step="replace", text="Late").status_code == 409


@pytest.mark.parametrize("fields", [{"edit": "paint"}, {"edit": "add", "text": " "}])
def test_an_edit_that_says_too_little_is_a_page_of_a_refusal(send, fields):
    assert send("edits", step="replace", **fields).status_code == 422


def test_what_engineers_write_is_text(gateway, ticket, send):
    send("marks", step="look", state="skipped", why=SCRIPT)
    send("judgements", step="look", verdict="rejected", word=SCRIPT)
    send("edits", edit="change", step="replace", text=SCRIPT, commands=SCRIPT, notes=SCRIPT)
    page = page_of(gateway, ticket)
    assert SCRIPT not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 4


def test_the_history_tells_in_words_who_did_what(gateway, ticket, send):
    send("marks", step="look", state="done")
    send("acceptance", accepted="true")
    page = page_of(gateway, ticket)
    assert "Step 1 was done" in page
    assert "The workflow was accepted" in page


def test_the_acceptance_page_shows_weeks_writers_and_documents(gateway, send):
    assert "Nothing was worked with yet" in gateway.client.get("/acceptance").text
    send("acceptance", accepted="true")
    page = gateway.client.get("/acceptance").text
    assert "100 %" not in page
    assert 'href="/acceptance/tickets?writer=extractive&amp;taken=said&amp;weeks=12"' in page
    send("marks", step="look", state="done")
    page = gateway.client.get("/acceptance").text
    assert "100 %" in page
    assert "extractive" in page
    assert 'aria-label="1 accepted, 0 in part, 0 rejected"' in page


def enter_in(page, field):
    """What Enter in each field of this name presses: the first submit button of its form."""
    forms = re.findall(r"<form.*?</form>", page, re.DOTALL)
    typed = [form for form in forms if f'name="{field}"' in form]
    return [re.search(r'<button type="submit"[^>]*>', form)[0] for form in typed]


def test_enter_in_a_field_follows_no_branch_and_says_no_verdict(gateway, ticket, send):
    page = page_of(gateway, ticket)
    assert all("name=" not in button for button in enter_in(page, "seen"))
    assert all(" disabled" in button for button in enter_in(page, "word"))
    assert [" disabled" in button for button in enter_in(page, "reason")] == [True]
    send("judgements", step="look", verdict="rejected", word="No such tray")
    first, *_ = enter_in(page_of(gateway, ticket), "word")
    assert 'value="rejected"' in first
    assert " disabled" not in first


def test_a_note_is_cleared_by_an_empty_field_and_stays_without_one(gateway, ticket, send):
    send("marks", step="look", seen="Fan 2 glows")
    send("marks", step="look", state="done")
    assert "Fan 2 glows" in page_of(gateway, ticket)
    send("marks", step="look", seen="")
    page = page_of(gateway, ticket)
    assert "<b>Seen:</b>" not in page
    assert "<b>1 of 4</b> steps done" in page


def test_a_note_that_comes_while_a_step_is_ticked_stays(gateway, ticket, send, monkeypatch):
    look, comes = AdoptionService.work, iter([True])

    def look_while_a_note_comes(service, workflow_id):
        seen = look(service, workflow_id)
        if next(comes, False):
            send("marks", step="look", seen="Fan 2 glows")
        return seen

    monkeypatch.setattr(AdoptionService, "work", look_while_a_note_comes)
    send("marks", step="look", state="done")
    page = page_of(gateway, ticket)
    assert "Fan 2 glows" in page
    assert "<b>1 of 4</b> steps done" in page


def test_an_edit_of_an_earlier_walk_is_shown_once_it_is_saved(gateway, ticket, send):
    with gateway.database.session() as session:
        walk_again(session, gateway.outbox, ticket["id"])
    gateway.work()
    assert gateway.ticket(ticket["id"])["workflow_id"] != ticket["workflow_id"]
    saved = send("edits", edit="change", step="replace", text="Swap the tray by hand")
    assert saved.status_code == 303
    page = gateway.client.get(saved.headers["location"]).text
    assert "Swap the tray by hand" in page
    assert "another candidate than the one that is shown" in page
