"""Every panel and every rule is asked of a real Prometheus that scraped the real platform."""

import json
import re
import shutil
import time

import pytest
import yaml

from tests.servers.prometheus import CONFIG, prometheus

SEEN_WITHIN_S = 40

pytestmark = pytest.mark.skipif(
    shutil.which("prometheus") is None,
    reason="prometheus is not on the path: Debian has it in the package `prometheus`",
)


def panel_queries():
    for path in sorted((CONFIG / "grafana" / "dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}", target["expr"]


def rule_queries():
    """Of an alert what it compares: it gives no series while all is well."""
    for path in sorted((CONFIG / "rules").glob("*.yml")):
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                yield from named_queries(rule)


def named_queries(rule):
    if "record" in rule:
        yield rule["record"], rule["expr"]
        return
    for part in re.split(r"\n\s*(?:and|or)\n", rule["expr"].strip()):
        yield rule["alert"], re.split(r"\s(?:[<>]=?|==)\s", part)[0]


def eventually(holds, waits_for=None):
    until = time.monotonic() + SEEN_WITHIN_S
    while not holds():
        assert time.monotonic() < until, list(waits_for or ())
        time.sleep(0.2)


def drop(waiting, ask):
    """Those that still have no series."""
    for named in [each for each in waiting if ask(each[1])]:
        del waiting[named]
    return waiting


@pytest.fixture
def server(running, example, tmp_path):
    """Prometheus, which has seen what tickets of every kind leave behind."""
    with prometheus(tmp_path, running.url) as started:
        eventually(lambda: started.ask("up == 1"))  # a series must be seen before it rises
        running.walked(example("alertmanager/fan-tray"))
        running.walked({"id": "observed-1", "title": "The coffee machine is out of beans"})
        yield started


def test_every_panel_and_every_rule_has_series(server):
    queries = {*panel_queries(), *rule_queries()}
    assert len(queries) > 60
    eventually(lambda: server.ask("sum(increase(flowxpert_gateway_answers_total[1m])) > 0"))
    # What is recorded or told over minutes has its first sample a little later.
    waiting = dict.fromkeys(sorted(queries))
    eventually(lambda: not drop(waiting, server.ask), waiting)
    assert server.ask('ALERTS{alertstate="firing", severity="critical"}') == []
