"""Recorded incidents held against what pages' steps are bound to, on a record of our own."""

import json

import pytest

from evaluation.benches.incidents import (
    catalogue_of,
    incidents_in,
    measure,
    pages_of,
    recorded_in,
)

PAGE = """\
# QueueStuck

## Steps

1. Look at the worker:

   ```
   kubectl -n <namespace> describe pod <pod>
   ```

2. Look at its log:

   ```
   kubectl logs <pod> -n <namespace>
   ```

3. Restart the worker.
"""


def output(tool, command, **arguments):
    head = {"tool_name": tool, "match_params": arguments}
    return f"{json.dumps(head)}\n{json.dumps({'invocation': command})}\nsaid\n"


@pytest.fixture
def record(tmp_path):
    case = tmp_path / "record" / "suite" / "01_queue"
    case.mkdir(parents=True)
    subject = {"kind": "pod", "name": "worker-1", "namespace": "queues"}
    request = {"title": "QueueStuck.", "subject": subject}
    (case / "investigate_request.json").write_text(json.dumps(request))
    (case / "issue_data.json").write_text("{}")
    pod = {"name": "worker-1", "namespace": "queues"}
    outputs = {
        "describe": output(
            "describe", "kubectl describe pod worker-1 -n queues", kind="pod", **pod
        ),
        "again": output("describe", "", kind="pod", **pod),
        "logs": output("logs", "kubectl logs worker-1 -n queues", **pod),
        "other": output(
            "logs", "kubectl logs worker-2 -n queues", name="worker-2", namespace="queues"
        ),
        "piped": output("find", "kubectl get pod | grep worker", keyword="worker"),
        "broken": "no record",
    }
    for name, text in outputs.items():
        (case / f"{name}.txt").write_text(text)
    pages = tmp_path / "pages" / "deep"
    pages.mkdir(parents=True)
    (pages / "queuestuck.md").write_text(PAGE)
    (pages / "Other.md").write_text(PAGE)
    return tmp_path


def test_an_incident_is_its_alert_its_labels_and_each_call_once(record):
    [incident] = incidents_in(record / "record")
    assert (incident.alert, incident.labels) == (
        "QueueStuck",
        {"pod": "worker-1", "namespace": "queues"},
    )
    assert sorted(each.tool for each in incident.recorded) == ["describe", "find", "logs", "logs"]


def test_the_catalogue_has_places_where_arguments_stood(record):
    catalogue = catalogue_of(recorded_in(record / "record"), all_orders=False)
    assert {" ".join(tool.way.command) for tool in catalogue.tools} == {
        "kubectl describe {kind} {name} -n {namespace}",
        "kubectl logs {name} -n {namespace}",
    }


def test_pages_are_those_that_are_named_like_the_alert(record):
    assert [page.name for page in pages_of("QueueStuck", record / "pages")] == ["queuestuck.md"]


def test_what_steps_ask_for_is_counted_call_by_call(record):
    in_order = measure(record / "record", record / "pages", all_orders=False).looked[0]
    assert (in_order.recorded, in_order.sayable, in_order.asked) == (4, 3, 1)
    assert (in_order.steps, in_order.bound) == (3, 1)
    in_all = measure(record / "record", record / "pages", all_orders=True).looked[0]
    assert (in_all.recorded, in_all.sayable, in_all.asked) == (4, 3, 2)


def test_an_incident_without_a_page_is_named(record):
    report = measure(record / "record", record / "record", all_orders=False)
    assert report.without_page == ("01_queue",)
    assert report.looked == ()
