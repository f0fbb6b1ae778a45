"""What is configured for Prometheus and Alertmanager holds, and each alert says what to do."""

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
import typer
import yaml

from services.cli import app
from services.deployment.rooms import SETTINGS

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "deploy" / "observability"
RUNBOOKS = ROOT / "docs" / "operate" / "runbooks"
RULES = sorted((CONFIG / "rules").glob("*.yml"))
TESTS = sorted((CONFIG / "tests").glob("*.yml"))


def rules():
    groups = [group for path in RULES for group in yaml.safe_load(path.read_text())["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def alerts():
    return {rule["alert"]: rule for rule in rules() if "alert" in rule}


def promtool(*arguments):
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not on the path: Debian has it in the package `prometheus`")
    ran = subprocess.run(
        ["promtool", *arguments], cwd=CONFIG / "tests", capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_rules_are_well_formed():
    promtool("check", "rules", *map(str, RULES))


def test_the_scrape_configuration_is_well_formed():
    promtool("check", "config", "--syntax-only", str(CONFIG / "prometheus.yml"))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_the_rules_do_what_their_tests_say(path):
    promtool("test", "rules", str(path))


def test_each_alert_is_seen_firing_in_a_test():
    seen = {
        case["alertname"]
        for path in TESTS
        for test in yaml.safe_load(path.read_text())["tests"]
        for case in test["alert_rule_test"]
        if case.get("exp_alerts")
    }
    assert seen == set(alerts())


def test_each_recorded_series_is_used():
    """By an alert or a panel: others would be computed for nobody."""
    queries = [rule["expr"] for rule in rules()]
    queries += [path.read_text() for path in (CONFIG / "grafana" / "dashboards").glob("*.json")]
    recorded = [rule["record"] for rule in rules() if "record" in rule]
    assert [name for name in recorded if not any(name in text for text in queries)] == []


def test_each_alert_has_its_runbook_and_each_runbook_its_alert():
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == set(alerts())
    for name, rule in alerts().items():
        assert rule["annotations"]["runbook_url"] == f"docs/operate/runbooks/{name}.md"


@pytest.mark.parametrize("name", sorted(alerts()))
def test_a_runbook_says_what_it_means_what_to_check_and_what_to_do(name):
    text = (RUNBOOKS / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {name}\n")
    parts = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert parts == ["Meaning", "Impact", "Diagnosis", "Mitigation", "Verification"]
    assert "```" in text


def test_every_service_is_scraped():
    scraped = yaml.safe_load((CONFIG / "prometheus.yml").read_text())["scrape_configs"][0]
    names = set(scraped["dns_sd_configs"][0]["names"])
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    ours = {name for name, each in services.items() if "healthy" in str(each.get("depends_on"))}
    ours |= {name for name, each in services.items() if "flowxpert/" in str(each.get("image"))}
    assert ours - names - {"migrate", "model-files", "tools"} == set()


def test_alertmanager_posts_where_the_gateway_takes_alerts_and_proves_itself():
    hook = yaml.safe_load((CONFIG / "alertmanager.yml").read_text())["receivers"][0]
    (webhook,) = hook["webhook_configs"]
    assert webhook["url"].endswith("/workflow/alertmanager")
    assert webhook["send_resolved"] is True
    assert webhook["http_config"]["authorization"]["credentials_file"].startswith("/run/secrets/")


DASHBOARDS = sorted((CONFIG / "grafana" / "dashboards").glob("*.json"))


def test_the_committed_dashboards_are_what_the_command_writes():
    build = runpy.run_path(str(CONFIG / "grafana" / "build.py"))
    assert {path.stem for path in DASHBOARDS} == set(build["DASHBOARDS"])
    for path in DASHBOARDS:
        hint = "run `python deploy/observability/grafana/build.py`"
        assert path.read_text(encoding="utf-8") == build["written"](path.stem), hint


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_says_what_it_shows_and_asks_the_chosen_source(path):
    board = json.loads(path.read_text())
    assert board["uid"] == f"flowxpert-{path.stem}"
    assert [each["type"] for each in board["templating"]["list"]] == ["datasource"]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert len({panel["title"] for panel in board["panels"]}) == len(board["panels"])
    for panel in board["panels"]:
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["targets"]
        sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
        assert all(source == {"type": "prometheus", "uid": "${source}"} for source in sources)


def test_the_dashboards_name_runbooks_that_are_there():
    named = set(re.findall(r"Runbook: (\w+)", "".join(p.read_text() for p in DASHBOARDS)))
    assert named == set(alerts())


def test_runbooks_name_settings_that_are_there():
    existing = {name for cls in SETTINGS for name, _ in cls.variables()}
    for path in RUNBOOKS.glob("*.md"):
        named = set(re.findall(r"FLOWXPERT_[A-Z_]+[A-Z]", path.read_text(encoding="utf-8")))
        unknown = {
            name for name in named - existing if not any(k.startswith(name) for k in existing)
        }
        assert unknown == set(), path.name


def test_runbooks_name_commands_that_are_there():
    commands = typer.main.get_command(app).commands
    for path in RUNBOOKS.glob("*.md"):
        for line in re.findall(
            r"(?<!-U )flowxpert ([a-z][a-z -]+)", path.read_text(encoding="utf-8")
        ):
            first, *rest = line.split()
            assert first in commands, (path.name, line)
            below = getattr(commands[first], "commands", None)
            assert below is None or rest[0] in below, (path.name, line)
