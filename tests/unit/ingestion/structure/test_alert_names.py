import pytest

from services.ingestion.structure.nodes import stated_alerts
from services.knowledge.model import Passage, SectionRole, Span

SPAN = Span(document_id="a.md", start_line=1, end_line=1)


def passage(text: str, role: SectionRole = SectionRole.MEANING, heading: str = "") -> Passage:
    return Passage(span=SPAN, role=role, heading_path=("Page", heading), text=text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Alert: SwitchMemoryLow, or a log line", ["SwitchMemoryLow"]),
        (
            "Alerts: **TempHigh** (warning), **TempCritical** (critical)",
            ["TempHigh", "TempCritical"],
        ),
        ("Alert names: `PeerDown` and `PeerSplit`. Two leaves", ["PeerDown", "PeerSplit"]),
        ("**Alarm:** `PsuFailed`, `%PLATFORM-2-PS_FAIL`", ["PsuFailed"]),
        ("**Alert that fired:** `MacMoveRateHigh`, later `CpuHigh`", ["MacMoveRateHigh"]),
        ("when the alert **CrcErrors** fires", ["CrcErrors"]),
        ("Expect BgpDown alerts of the same switch", []),
        ("An alert says that CPU is high", []),
        ("ALERT: ALL FANS", []),
    ],
)
def test_names_after_the_word_alert_are_recognised(text, names):
    assert stated_alerts("A page", [passage(text)]) == names


def test_a_heading_may_state_the_alert():
    alerts = stated_alerts("A page", [passage("Yes.", heading="Q: The alert `DriftHigh` fired?")])
    assert alerts == ["DriftHigh"]


def test_what_the_remedy_names_belongs_to_other_pages():
    passages = [passage("A fan failed."), passage("Wait for alert: TempHigh", SectionRole.REMEDY)]
    assert stated_alerts("A page", passages) == []


def test_a_page_named_after_an_alert_is_about_that_one_only():
    assert stated_alerts("FanFault", [passage("Alerts: TempHigh")]) == []


def test_what_a_log_or_rule_shown_as_code_names_is_an_example():
    text = 'Rules fail to evaluate:\n\n```\nrule="alert: PeerLagHigh"\n```\n\nAlert: RulesFail'
    assert stated_alerts("A page", [passage(text)]) == ["RulesFail"]
