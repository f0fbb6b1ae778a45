"""Lists of tickets: what is found, in which order, page by page, and how many there are of each."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, select

from services.contracts.gateway import TicketQuery
from services.kit.ids import first_id_at
from services.tickets.tables import TicketRow
from services.tickets.ticket.listing import facets
from services.tickets.ticket.listing.facets import Facets

FIELDS = ("id", "title", "severity", "service", "team")
SEEN = (
    ("A-1", "Fan 2 stands", "critical", "core", "Net"),
    ("A-2", "Disk is full", "warning", "store", "Data"),
    ("A-3", "Fan 1 stands", "critical", "edge", "Net"),
    ("A-4", "Clock drifts", "blue", "", ""),
    ("A-5", "Log is long", "low", "store", "Data"),
)


@pytest.fixture
def listed(gateway):
    """A gateway with five tickets; `listed(query)` gives their ids as their sources call them."""
    for values in SEEN:
        gateway.post({name: value for name, value in zip(FIELDS, values, strict=True) if value})
    gateway.work()

    def ids(query=""):
        answer = gateway.client.get(f"/v1/tickets{query}")
        assert answer.status_code == 200, answer.text
        return [ticket["external_id"] for ticket in answer.json()["tickets"]]

    ids.gateway = gateway
    return ids


def test_a_list_holds_what_is_asked_for(listed):
    for query, expected in [
        ("?severity=critical", ["A-3", "A-1"]),
        ("?severity=critical&severity=low", ["A-5", "A-3", "A-1"]),
        ("?service=store", ["A-5", "A-2"]),
        ("?service=", ["A-4"]),
        ("?team=Net", ["A-3", "A-1"]),
        ("?team=Net&service=edge", ["A-3"]),
        ("?source=generic&text=FAN", ["A-3", "A-1"]),
        ("?source=jira", []),
        ("?status=planned&text=a-4", ["A-4"]),
        ("?status=received&status=failed", []),
        ("?resolved=false&severity=blue", ["A-4"]),
        ("?resolved=true", []),
        ("?within=1h&severity=low", ["A-5"]),
        ("?until=2020-01-01T00:00:00Z", []),
        ("?since=2020-01-01T00:00:00Z&team=Data", ["A-5", "A-2"]),
        ("?sort=oldest", ["A-1", "A-2", "A-3", "A-4", "A-5"]),
        ("?sort=severity", ["A-3", "A-1", "A-2", "A-4", "A-5"]),
        ("?within=&sort=&cursor=&resolved=", ["A-5", "A-4", "A-3", "A-2", "A-1"]),
        ("?text=%25", []),
    ]:
        assert listed(query) == expected


def test_a_cursor_goes_on_where_a_page_ended(listed):
    for sort in ["newest", "oldest", "severity"]:
        whole, cursor, ids = listed(f"?sort={sort}"), "", []
        while cursor is not None:
            query = f"/v1/tickets?sort={sort}&limit=2&cursor={cursor}"
            page = listed.gateway.client.get(query).json()
            ids += [ticket["external_id"] for ticket in page["tickets"]]
            cursor = page["next_cursor"]
        assert ids == whole


def test_a_cursor_of_another_order_is_refused(listed):
    for cursor in ["x", "9.x", "3.", "٣.x", "-1.x"]:
        answer = listed.gateway.client.get(
            "/v1/tickets", params={"sort": "severity", "cursor": cursor}
        )
        assert answer.status_code == 422
        page = listed.gateway.client.get("/", params={"sort": "severity", "cursor": cursor})
        assert page.status_code == 422


def test_what_cannot_be_asked_is_refused(listed):
    for query in [
        "within=1y",
        "sort=best",
        "resolved=perhaps",
        "since=2020-01-01T00:00:00",
        "limit=0",
    ]:
        assert listed.gateway.client.get(f"/v1/tickets?{query}").status_code == 422


def test_a_team_that_a_person_chose_is_found_beside_those_that_the_source_names(listed):
    (first,) = listed.gateway.client.get("/v1/tickets?text=A-1").json()["tickets"]
    address = f"/v1/tickets/{first['id']}/team"
    listed.gateway.client.post("/v1/teams", json={"name": "Power"})
    assert listed.gateway.client.put(address, json={"team": "Power"}).status_code == 200
    assert listed("?team=Power") == ["A-1"]
    assert listed("?team=Net") == ["A-3", "A-1"]
    (again,) = listed.gateway.client.get("/v1/tickets?team=Power").json()["tickets"]
    assert (again["team"], again["teams"], again["service"]) == ("Power", ["Net"], "core")


def test_counts_of_a_kind_let_what_is_chosen_in_it_go(listed):
    counts = Facets(listed.gateway.database).counts(TicketQuery(severity=("critical",)))
    assert counts.total == 2
    assert counts.is_whole
    assert counts.of["severity"] == {"critical": 2, "warning": 1, "blue": 1, "low": 1}
    assert counts.of["team"] == {"Net": 2}
    assert counts.of["service"] == {"core": 1, "edge": 1}
    assert counts.of["status"] == {"planned": 2}
    assert counts.of["resolved"] == {"false": 2}


def test_each_count_is_what_its_address_then_shows(listed):
    chosen = TicketQuery(team=("Data",), text="is")
    counts = Facets(listed.gateway.database).counts(chosen)
    for kind in ("severity", "service", "source", "status", "fit", "resolved"):
        for value, count in counts.of[kind].items():
            assert len(listed(f"?team=Data&text=is&{kind}={value}")) == count


def test_counts_are_made_again_once_something_happens(listed):
    database = listed.gateway.database
    counted, statements = Facets(database, clock=lambda: 0.0), []
    event.listen(
        database.engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2])
    )
    query = TicketQuery()
    assert counted.counts(query).of["resolved"] == {"false": 5}
    assert len(statements) == 2
    counted.counts(query)
    assert len(statements) == 3
    (ticket,) = listed.gateway.client.get("/v1/tickets?text=A-1").json()["tickets"]
    listed.gateway.client.post(f"/v1/tickets/{ticket['id']}/resolution")
    assert counted.counts(query).of["resolved"] == {"false": 4, "true": 1}


def test_no_more_than_the_newest_are_counted(listed, monkeypatch):
    monkeypatch.setattr(facets, "MOST", 3)
    counts = Facets(listed.gateway.database).counts(TicketQuery())
    assert (counts.total, counts.is_whole) == (3, False)
    assert counts.of["severity"] == {"critical": 1, "blue": 1, "low": 1}


def test_the_page_asks_the_database_little_however_many_tickets_there_are(listed):
    statements = []
    engine = listed.gateway.database.engine
    event.listen(
        engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2])
    )
    assert listed.gateway.client.get("/?severity=critical&team=Net").status_code == 200
    reads = [each for each in statements if "gateway_" in each]
    assert len(reads) <= 3


def test_a_list_is_read_from_its_index_alone_before_its_rows(listed):
    from services.tickets.ticket.listing.pages import _statement

    database = listed.gateway.database
    query = _statement(TicketQuery(severity=("critical",)), 50, ())
    sql = str(query.compile(database.engine, compile_kwargs={"literal_binds": True}))
    with database.engine.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}").all()
    assert any("COVERING INDEX ix_gateway_ticket_list" in row[3] for row in plan), plan


def test_tickets_of_a_day_are_those_that_came_in_it(listed):
    came = (datetime.now(UTC) - timedelta(days=2)).timestamp()
    with listed.gateway.database.session() as session:
        values = dict(session.execute(select(*TicketRow.__table__.columns)).first()._mapping)
        at = {"created_at": came, "updated_at": came, "last_at": came}
        session.add(TicketRow(**values | at | {"id": first_id_at(came), "external_id": "OLD"}))
    assert "OLD" not in listed("?within=1d")
    assert listed("?within=7d")[-1] == "OLD"


def test_a_name_that_is_too_long_for_an_index_is_cut(gateway):
    body = {"title": "x", "severity": "s" * 900, "service": "é" * 900, "team": "t" * 900}
    gateway.post(body)
    (ticket,) = gateway.client.get("/v1/tickets").json()["tickets"]
    assert len(ticket["severity"]) == 60
    assert len(ticket["service"]) == 200
    assert len(gateway.client.get("/v1/tickets", params={"team": "t" * 200}).json()["tickets"]) == 1


def test_the_page_keeps_what_is_chosen_in_each_of_its_addresses(listed):
    page = listed.gateway.client.get("/?severity=critical&text=s&sort=oldest&limit=1").text
    assert 'name="severity" value="critical"' in page
    assert 'href="/?severity=critical&amp;severity=warning&amp;text=s&amp;sort=oldest' in page
    assert 'href="/?text=s&amp;sort=oldest&amp;limit=1"' in page
    assert "cursor=" in page


def test_the_page_begins_with_what_is_open_the_worst_first(listed):
    (low,) = listed.gateway.client.get("/v1/tickets?text=A-1").json()["tickets"]
    listed.gateway.client.post(f"/v1/tickets/{low['id']}/resolution")
    assert _titles(listed, "/") == ["Fan 1 stands", "Disk is full", "Clock drifts", "Log is long"]
    assert _titles(listed, "/?resolved=true") == ["Fan 2 stands"]
    assert _titles(listed, "/?resolved=any&sort=oldest")[:2] == ["Fan 2 stands", "Disk is full"]
    assert "/?resolved=any&amp;text=2+stands" in listed.gateway.client.get("/?text=2+stands").text


def _titles(listed, address):
    page = listed.gateway.client.get(address).text
    return re.findall(r'<a href="/tickets/[^"]+" title="([^"]+)"', page)


@pytest.mark.parametrize("text", ["spline", "rack-7f", "münchen", "row 3"])
def test_words_of_descriptions_labels_and_services_are_looked_for_too(gateway, text):
    body = {
        "title": "Fan 2 stands",
        "description": "A spline has broken in row 3.",
        "labels": {"rack": "rack-7f", "site": "München"},
    }
    gateway.post(body)
    gateway.post({"title": "Another fault"})
    (ticket,) = gateway.client.get("/v1/tickets", params={"text": text}).json()["tickets"]
    assert ticket["title"] == "Fan 2 stands"


def test_a_row_says_what_is_proposed(listed):
    (ticket,) = listed.gateway.client.get("/v1/tickets?text=A-2").json()["tickets"]
    stored = listed.gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()
    assert ticket["proposed"] == stored["workflow"]["title"] != ""
    assert ticket["proposed"] in listed.gateway.client.get("/").text
