"""Deliveries in, tickets and workflows out."""

import json
import threading

import pytest

from services.tickets.formats import accepted_format

TICKET = {"id": "T-1", "title": "Fan 2 has failed"}


def planned(gateway, body=None):
    """A ticket that was walked to its end."""
    ticket_id = gateway.post(body or TICKET)["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


def test_a_delivery_is_answered_202_with_its_ticket_and_where_to_look(gateway):
    answer = gateway.client.post("/workflow", json=TICKET)
    assert answer.status_code == 202
    body = answer.json()
    assert body["status_url"] == f"/v1/tickets/{body['id']}" == answer.headers["location"]
    assert body["tickets"][0]["created"] is True
    assert gateway.client.get(body["status_url"]).json()["status"] == "received"


def test_the_ticket_and_its_queued_walk_are_stored_before_the_answer(gateway):
    body = gateway.post(TICKET)
    assert [key for key, *_ in gateway.outbox.due(limit=9)] == [f"gateway.walk_ticket:{body['id']}"]


def test_the_same_delivery_again_gives_the_same_ticket_and_no_new_walk(gateway):
    first = planned(gateway)
    again = gateway.post(TICKET)
    assert again["id"] == first["id"]
    assert again["tickets"][0]["created"] is False
    assert again["status"] == "planned"
    assert gateway.work() == 0


def test_equal_deliveries_at_the_same_moment_give_one_ticket(gateway):
    ids, start = [], threading.Barrier(8)

    def deliver():
        start.wait()
        ids.append(gateway.post(TICKET)["id"])

    threads = [threading.Thread(target=deliver) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 8
    assert len(set(ids)) == 1
    assert gateway.work() == 1


def test_an_idempotency_key_makes_a_delivery_without_id_one_ticket(gateway):
    headers = {"Idempotency-Key": "retry-7"}
    first = gateway.post({"title": "a"}, headers=headers)
    again = gateway.post({"title": "a"}, headers=headers)
    assert first["id"] == again["id"]
    assert again["tickets"][0]["created"] is False


def test_an_idempotency_key_with_another_body_is_a_conflict(gateway):
    headers = {"Idempotency-Key": "retry-7"}
    gateway.post({"title": "a"}, headers=headers)
    answer = gateway.client.post("/workflow", json={"title": "b"}, headers=headers)
    assert answer.status_code == 409
    assert answer.json()["error"] == "IdempotencyKeyReusedError"
    assert len(gateway.client.get("/v1/tickets").json()["tickets"]) == 1


def test_equal_deliveries_under_one_key_at_the_same_moment_give_one_ticket(gateway):
    ids, start = [], threading.Barrier(6)

    def deliver():
        start.wait()
        ids.append(gateway.post({"title": "a"}, headers={"Idempotency-Key": "k"})["id"])

    threads = [threading.Thread(target=deliver) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 6
    assert len(set(ids)) == 1
    assert len(gateway.client.get("/v1/tickets").json()["tickets"]) == 1


def test_an_idempotency_key_that_is_none_is_refused(gateway):
    for key in ["", "with space", "x" * 256, "ü"]:
        headers = {"Idempotency-Key": key.encode()}
        answer = gateway.client.post("/workflow", json=TICKET, headers=headers)
        assert answer.status_code == 422


def test_waiting_answers_with_the_workflow_when_it_is_stored_in_time(gateway):
    answered = threading.Event()

    def work() -> None:
        while not answered.wait(0.1):
            gateway.work()

    worker = threading.Thread(target=work)
    worker.start()
    answer = gateway.client.post("/workflow?wait=10", json=TICKET)
    answered.set()
    worker.join()
    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "planned"
    assert body["workflow"]["workflow"]["title"] == "Replace a failed fan"
    assert body["workflow"] == body["tickets"][0]["workflow"]


def test_waiting_ends_with_202_when_the_time_is_up(gateway):
    answer = gateway.client.post("/workflow?wait=0.1", json=TICKET)
    assert answer.status_code == 202
    assert "workflow" not in answer.json()


def test_waiting_is_bounded_by_the_settings(make_gateway):
    gateway = make_gateway(max_wait_s=0.1)
    assert gateway.client.post("/workflow?wait=100000", json=TICKET).status_code == 202


def test_a_wait_that_is_no_time_is_refused(gateway):
    for wait in ["-1", "nan", "inf", "soon"]:
        answer = gateway.client.post(f"/workflow?wait={wait}", json=TICKET)
        assert answer.status_code == 422


def test_a_group_gives_a_ticket_for_each_alert(gateway, group, alert):
    group["alerts"].append(alert | {"fingerprint": "ffff"})
    body = gateway.post(group)
    assert [t["external_id"] for t in body["tickets"]] == ["5e6f7081a2b3c4d5", "ffff"]
    assert "id" not in body


def test_an_alert_that_fires_again_long_after_it_was_resolved_is_a_new_ticket(
    make_gateway, group, alert
):
    gateway = make_gateway(repeats_within_s=0)
    first = gateway.post(group)["id"]
    alert["status"] = "resolved"
    resolved = gateway.post(group)
    assert resolved["id"] == first
    assert resolved["tickets"][0]["resolved"] is True
    assert gateway.ticket(first)["resolved_at"] is not None
    alert |= {"status": "firing", "startsAt": "2025-03-13T01:00:00Z"}
    assert gateway.post(group)["id"] != first


def test_a_resolved_alert_that_was_never_seen_makes_no_ticket(gateway, group, alert):
    alert["status"] = "resolved"
    body = gateway.post(group)
    assert body["tickets"] == []
    assert body["unmatched_resolved"] == 1
    assert gateway.client.get("/v1/tickets").json()["tickets"] == []


def test_an_alert_that_is_over_before_it_begins_here_is_a_resolved_ticket(gateway, group, alert):
    alert["status"] = "resolved"
    for _ in range(2):
        assert gateway.post(group)["unmatched_resolved"] == 1
    alert["status"] = "firing"
    first = gateway.post(group)
    assert first["tickets"][0]["created"] is True
    ticket = gateway.ticket(first["id"])
    assert ticket["resolved_at"] < ticket["created_at"]
    assert gateway.work() == 1
    assert gateway.ticket(first["id"])["status"] == "planned"
    _, _, kinds = read_events(gateway, first["id"])
    assert kinds[:2] == ["received", "resolved"]
    assert kinds.count("resolved") == 1
    alert["status"] = "resolved"
    assert gateway.post(group)["id"] == first["id"]
    assert gateway.ticket(first["id"])["resolved_at"] == ticket["resolved_at"]


def test_an_alert_that_begins_and_ends_at_the_same_moment_is_over(gateway, group, alert):
    for number in range(10):
        start = threading.Barrier(2)
        ending = alert | {"fingerprint": f"f{number}", "status": "resolved"}

        def deliver(one, start=start):
            start.wait()
            gateway.post(group | {"alerts": [one]})

        ends = threading.Thread(target=deliver, args=[ending])
        ends.start()
        deliver(ending | {"status": "firing"})
        ends.join()
    tickets = gateway.client.get("/v1/tickets").json()["tickets"]
    assert len(tickets) == 10
    assert all(ticket["resolved_at"] for ticket in tickets)


@pytest.mark.parametrize(
    "other", [{"startsAt": "2025-03-13T01:00:00Z"}, {"fingerprint": "ffff"}], ids=["time", "alert"]
)
def test_an_end_that_came_first_ends_no_other_alert(gateway, group, alert, other):
    alert["status"] = "resolved"
    gateway.post(group)
    alert |= {"status": "firing"} | other
    assert gateway.ticket(gateway.post(group)["id"])["resolved_at"] is None


@pytest.mark.parametrize("started", [None, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00"])
def test_an_end_without_a_time_ends_only_what_has_begun(gateway, group, alert, started):
    alert |= {"status": "resolved", "startsAt": started}
    gateway.post(group)
    alert["status"] = "firing"
    ticket_id = gateway.post(group)["id"]
    assert gateway.ticket(ticket_id)["resolved_at"] is None
    alert["status"] = "resolved"
    assert gateway.post(group)["id"] == ticket_id
    assert gateway.ticket(ticket_id)["resolved_at"] is not None


def test_one_bad_alert_of_a_group_fails_alone_with_its_reason(gateway, group, alert):
    group["alerts"] = [alert, {"labels": "none"}, alert | {"fingerprint": "ffff"}]
    body = gateway.post(group)
    assert len(body["tickets"]) == 2
    assert body["rejected"][0]["index"] == 1
    assert "label" in body["rejected"][0]["reason"]


def test_the_list_is_paged_newest_first_without_gap_or_double(gateway):
    posted = [gateway.post({"id": str(n), "title": f"t{n}"})["id"] for n in range(7)]
    seen, cursor = [], None
    while True:
        query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = gateway.client.get("/v1/tickets", params=query).json()
        seen += [t["id"] for t in page["tickets"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sorted(posted, reverse=True)


def test_the_list_is_filtered_by_status_source_and_text(gateway, group):
    planned(gateway)
    gateway.post(group)
    gateway.post({"id": "T-2", "title": "100% of_disk"})

    def external_ids(**query):
        tickets = gateway.client.get("/v1/tickets", params=query).json()["tickets"]
        return sorted(t["external_id"] for t in tickets)

    assert external_ids(status="planned") == ["T-1"]
    assert external_ids(source="alertmanager") == ["5e6f7081a2b3c4d5"]
    assert external_ids(text="FANFAILED") == ["5e6f7081a2b3c4d5"]
    assert external_ids(text="% OF_") == ["T-2"]
    assert external_ids(text="%") == ["T-2"]


def test_an_unknown_status_is_refused(gateway):
    assert gateway.client.get("/v1/tickets?status=lost").status_code == 422


def test_what_does_not_exist_is_answered_404(gateway):
    for path in [
        "/v1/tickets/none",
        "/v1/tickets/none/events",
        "/v1/workflows/none",
        "/v1/workflows/none/candidates",
        "/v1/sources/none.md?lines=1",
    ]:
        answer = gateway.client.get(path)
        assert answer.status_code == 404
        assert set(answer.json()) == {"error", "detail"}


def test_a_workflow_is_given_in_each_form_by_name_and_by_accept(gateway):
    for form, media_type, holds in [
        ("mermaid", "text/vnd.mermaid", "flowchart"),
        ("text", "text/plain", "Show the fans"),
        ("code", "text/x-python", "def "),
        ("markdown", "text/markdown", "1. **Show the fans**"),
        ("svg", "image/svg+xml", "<svg"),
        ("json", "application/json", '"workflow"'),
    ]:
        url = planned(gateway)["candidates"][0]["url"]
        named = gateway.client.get(url, params={"format": form})
        liked = gateway.client.get(url, headers={"accept": f"text/html;q=0.2, {media_type}"})
        assert named.headers["content-type"].startswith(media_type)
        assert holds in named.text
        assert liked.text == named.text


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "json"),
        ("*/*", "json"),
        ("image/png", "json"),
        ("text/markdown;q=0.1, image/svg+xml;q=0.9", "svg"),
        ("text/markdown;q=0, */*", "json"),
        ("text/markdown;q=odd", "json"),
    ],
)
def test_the_best_liked_form_is_chosen(accept, form):
    assert accepted_format(accept) == form


def test_the_candidates_of_a_workflow_are_those_of_its_ticket(gateway):
    ticket = planned(gateway)
    second = ticket["candidates"][1]
    assert gateway.client.get(f"{second['url']}/candidates").json() == ticket["candidates"]


def test_cited_lines_come_with_the_lines_around_them(gateway):
    url = "/v1/sources/runbooks/FanFailed.md"
    source = gateway.client.get(url, params={"lines": "12-14", "context": 2}).json()
    assert source["first_line"] == 10
    assert source["lines"][2] == "line 12 of the runbook"
    assert len(source["lines"]) == 7
    start = gateway.client.get(url, params={"lines": "1", "context": 2}).json()
    assert start["first_line"] == 1
    assert len(start["lines"]) == 3


def test_lines_that_are_no_range_of_the_document_are_refused(gateway):
    for lines in ["", "0", "9-3", "a", "1-", "-4", "1-99999", "41", "9" * 40]:
        answer = gateway.client.get("/v1/sources/runbooks/FanFailed.md", params={"lines": lines})
        assert answer.status_code == 422


def read_events(gateway, ticket_id, **headers):
    """The (id, kind) pairs of a stream that ends, and the status."""
    answer = gateway.client.get(f"/v1/tickets/{ticket_id}/events", headers=headers)
    ids, kinds = [], []
    for line in answer.text.splitlines():
        name, _, value = line.partition(": ")
        if name == "id":
            ids.append(value)
        if name == "event":
            kinds.append(value)
        if name == "data":
            assert json.loads(value)["ticket_id"] == ticket_id
    return answer.status_code, ids, kinds


def test_progress_is_told_from_the_beginning_to_the_end(gateway):
    ticket = planned(gateway)
    status, _, kinds = read_events(gateway, ticket["id"])
    assert status == 200
    written = ["candidate"] * len(ticket["candidates"])
    assert kinds == ["received", "planning", "retrieved", *written, "drafted", "planned"]


def test_progress_goes_on_after_the_last_event_a_reader_has_seen(gateway):
    ticket = planned(gateway)
    _, ids, _ = read_events(gateway, ticket["id"])
    _, _, rest = read_events(gateway, ticket["id"], **{"Last-Event-ID": ids[2]})
    assert rest == ["candidate", "candidate", "drafted", "planned"]
    status, _, none = read_events(gateway, ticket["id"], **{"Last-Event-ID": ids[-1]})
    assert (status, none) == (204, [])


def test_progress_is_told_while_it_happens(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    worker = threading.Timer(0.2, gateway.work)
    worker.start()
    _, _, kinds = read_events(gateway, ticket_id)
    worker.join()
    assert kinds[-1] == "planned"


def test_a_key_is_asked_for_when_one_is_configured(gateway):
    assert gateway.client.get("/", headers={"host": "evil.example"}).status_code == 403


def test_tickets_and_walks_are_counted(gateway):
    planned(gateway)
    gateway.post(TICKET)
    metrics = gateway.client.get("/metrics").text
    assert 'flowxpert_gateway_tickets_total{novelty="known",source="generic"}' in metrics
    assert 'flowxpert_gateway_walk_seconds_count{status="planned"}' in metrics


def test_an_end_that_names_no_time_ends_every_open_time_of_the_alert(make_gateway):
    gateway = make_gateway(repeats_within_s=0)
    alarm = {"AlarmName": "Backlog", "NewStateValue": "ALARM", "AlarmArn": "arn:x"}
    first = gateway.post(alarm | {"StateChangeTime": "2025-01-01T00:00:00Z"})["id"]
    second = gateway.post(alarm | {"StateChangeTime": "2025-01-02T00:00:00Z"})["id"]
    assert first != second
    answer = gateway.post(
        alarm | {"NewStateValue": "OK", "StateChangeTime": "2025-01-03T00:00:00Z"}
    )
    assert (answer["id"], answer["tickets"][0]["resolved"]) == (second, True)
    assert all(gateway.ticket(ticket)["resolved_at"] for ticket in (first, second))
    third = gateway.post(alarm | {"StateChangeTime": "2025-01-04T00:00:00Z"})["id"]
    assert gateway.ticket(third)["resolved_at"] is None


def test_an_event_that_tells_of_no_fault_is_taken_and_let_go(gateway):
    ping = {"event": {"id": "1", "event_type": "pagey.ping", "data": {"message": "Hello"}}}
    answer = gateway.post(ping)
    assert answer["tickets"] == []
    assert len(answer["ignored"]) == 1
    assert gateway.client.get("/v1/tickets").json()["tickets"] == []


def test_a_ticket_keeps_service_and_teams(gateway):
    posted = gateway.post(
        {"title": "Lift 2 stands", "service": "Lifts", "teams": ["House", "Yard"]}
    )
    ticket = gateway.ticket(posted["id"])
    assert (ticket["service"], ticket["teams"]) == ("Lifts", ["House", "Yard"])
