"""Alerts of rule files: read with all that people put into them, and held against pages."""

import pytest

from services.contracts.coverage import AlertRule, RulesQuestion, RuleState
from services.contracts.ingestion import IngestedDocument
from services.contracts.ticket import Fit
from services.kit.files import UnusableFileError
from services.tickets.page_quality.rule_files import MOST_BYTES, RuleFileError, read_rules
from services.tickets.page_quality.service import CoverageService, page_of_link
from tests.unit.gateway.fakes import RUNBOOK, FakeRetrieval

PLAIN = """
groups:
- name: net
  rules:
  - alert: FanTrayFailed
    expr: fan == 0
    labels: {severity: critical, tier: 1}
    annotations:
      summary: "Fan tray of {{ $labels.device }} failed"
      runbook_url: https://wiki.example.net/hardware/fan-tray.md
  - record: job:fans
    expr: sum(fans)
  - alert: FanTrayFailed
    expr: fan == 1
"""
OBJECT = """
apiVersion: v1
kind: List
items:
- apiVersion: monitoring.coreos.com/v1
  kind: PrometheusRule
  spec: {groups: [{name: a, rules: [{alert: DiskFull, expr: "1"}]}]}
---
spec: {groups: [{name: b, rules: [{alert: PumpDry, expr: "1", annotations: null}]}]}
"""


def written(tmp_path, text):
    path = tmp_path / "rules.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_rule_file_is_read(tmp_path):
    (rule,) = read_rules(written(tmp_path, PLAIN))
    assert rule.text == "Fan tray of   failed"  # what differs from alert to alert is left out
    assert rule.runbook_url == "https://wiki.example.net/hardware/fan-tray.md"
    assert rule.labels == {"severity": "critical", "tier": "1"}


def test_objects_of_kubernetes_are_read(tmp_path):
    assert [each.alert for each in read_rules(written(tmp_path, OBJECT))] == ["DiskFull", "PumpDry"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: [",
        "groups: 7",
        "- alert: X",
        "groups: [{rules: [{alert: 5}]}]",
        "\x00",
        "a: &a [*a]",
    ],
)
def test_what_is_no_rule_file_is_refused(text, tmp_path):
    with pytest.raises(RuleFileError):
        read_rules(written(tmp_path, text))


def test_a_file_that_only_records_has_no_alert(tmp_path):
    rule = "groups: [{rules: [{record: 'job:up', expr: up}]}]"
    assert read_rules(written(tmp_path, rule)) == []


def test_aliases_of_aliases_are_no_text(tmp_path):
    names = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    rule = "groups: [{rules: [{alert: Fan, annotations: {summary: *a8, note: hot}}]}]"
    (alert_rule,) = read_rules(written(tmp_path, "\n".join(["a0: &a0 x", *names, rule])))
    assert alert_rule.text == "hot"


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = written(tmp_path, PLAIN)
    with path.open("ab") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(UnusableFileError, match="at most"):
        read_rules(path)


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://git.example.net/runbooks/blob/main/net/Fan.md", "net/Fan.md"),
        ("https://wiki.example.net/net/fan", "net/Fan.md"),
        ("https://wiki.example.net/host/fan.html", "host/fan.md"),
        ("https://wiki.example.net/fan", ""),  # two pages are called so
        ("https://wiki.example.net/pump", ""),
        ("https://wiki.example.net/", ""),
        ("no address", ""),
        ("http://[::1/fan.md", ""),
        ("", ""),
    ],
)
def test_a_link_leads_to_the_page_that_shares_the_end_of_its_path(url, page):
    assert page_of_link(url, ["net/Fan.md", "host/fan.md", "disk.md"]) == page


class FakeIngestion:
    """Knows some documents."""

    def documents(self, query):
        fields = {"media_type": "text/markdown", "source": "/x", "chunks": 1, "updated_at": 0}
        documents = [
            IngestedDocument(id=id_, title=id_, nodes=nodes, **fields)
            for id_, nodes in (("disk.md", 1), ("readme.md", 0), (RUNBOOK, 1))
        ]
        return [each for each in documents if each.id > query.after][: query.limit]


@pytest.fixture
def covered(gateway):
    def covered(fit):
        return CoverageService(
            gateway.database,
            retrieval=FakeRetrieval(),
            ingestion=FakeIngestion(),
            execution=lambda: None,
            fit_of=lambda _: fit,
        )

    return covered


@pytest.mark.parametrize(
    ("fit", "state", "page"),
    [
        (Fit.SURE, RuleState.SURE, RUNBOOK),
        (Fit.UNSURE, RuleState.NEAR, RUNBOOK),
        (None, RuleState.NONE, ""),
    ],
)
def test_an_alert_is_covered_as_surely_as_its_ticket_would_be(covered, fit, state, page):
    question = RulesQuestion(rules=(AlertRule(alert="FanFailed", runbook_url="http://x/gone.md"),))
    (rule,) = covered(fit).of_rules(question).rules
    assert (rule.state, rule.document_id, rule.is_link_dead) == (state, page, True)


def test_a_link_is_preferred_to_the_best_match(covered):
    question = RulesQuestion(rules=(AlertRule(alert="FanFailed", runbook_url="http://x/disk.md"),))
    (rule,) = covered(None).of_rules(question).rules
    assert (rule.state, rule.document_id, rule.is_link_dead) == (RuleState.LINKED, "disk.md", False)


def test_alerts_are_counted_and_pages_that_no_ticket_rests_on_are_listed(gateway, covered, group):
    question = RulesQuestion(rules=(AlertRule(alert="FanFailed"), AlertRule(alert="PumpDry")))
    before = [each.document_id for each in covered(None).unreached(weeks=4)]
    assert before == ["disk.md", RUNBOOK]
    gateway.post(group, "/workflow/alertmanager")
    gateway.work()
    report = covered(None).of_rules(question)
    assert ([each.tickets for each in report.rules], report.tickets) == ([1, 0], 1)
    assert [each.document_id for each in covered(None).unreached(weeks=4)] == ["disk.md"]


def test_the_api_answers_about_rules_and_refuses_too_many(gateway):
    rules = [{"alert": f"A{n}"} for n in range(201)]
    assert gateway.client.post("/v1/coverage/rules", json={"rules": rules}).status_code == 422
