import pytest
import yaml

from services.execution.tools.catalogue import (
    BadCatalogueError,
    CachedCatalogue,
    Catalogue,
    UnknownToolError,
)
from services.simulator.simulation import CATALOGUE

LOOK = {
    "name": "look",
    "description": "Look",
    "effect": "read",
    "target": "switch",
    "way": {"by": "ssh", "command": ["show", "version"]},
}


TESTS = [{"field": "x", "comparison": "is"}]


def folder_of(tmp_path, *tools, targets=(), policy=None):
    (tmp_path / "tools").mkdir(exist_ok=True)
    (tmp_path / "tools" / "a.yaml").write_text(yaml.safe_dump(list(tools)))
    (tmp_path / "targets.yaml").write_text(yaml.safe_dump(list(targets)))
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(policy or {}))
    return tmp_path


def test_without_a_folder_nothing_can_be_run():
    assert Catalogue.of_folder(None).tools == ()
    with pytest.raises(UnknownToolError):
        Catalogue().tool("look")


@pytest.mark.parametrize(
    "way",
    [
        {"by": "ssh", "command": ["clear", "ip", "bgp", "10.0.0.1"]},
        {"by": "ssh", "command": ["reload"]},
        {"by": "ssh", "command": ["rm", "-rf", "/var/log"]},
        {"by": "ssh", "command": ["systemctl", "restart", "x"]},
        {"by": "ssh", "lines": [["interface", "Ethernet1/1"], ["shutdown"]]},
        {"by": "http", "method": "POST", "path": "/x"},
        {"by": "http", "method": "DELETE", "path": "/x"},
    ],
)
def test_what_is_known_to_change_something_is_no_look(tmp_path, way):
    with pytest.raises(BadCatalogueError, match="cannot be `read`"):
        Catalogue.of_folder(folder_of(tmp_path, {**LOOK, "way": way}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"before": [{"tool": "nothing", "tests": [{"field": "x", "comparison": "is"}]}]},
            "no tool",
        ),
        ({"way": {"by": "ssh", "command": ["show", "{x}"]}}, "no parameter"),
        ({"way": {"by": "ssh", "command": ["show", "{a}{b}"]}}, "one place"),
        ({"way": {"by": "ssh"}}, "command"),
        ({"way": {"by": "telnet"}}, "telnet"),
        ({"name": "Look!"}, "name"),
        ({"effects": "read"}, "effects"),
        ({"output": {"fields": {"x": {"find": "("}}}}, "a.yaml"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_the_file(tmp_path, change, message):
    with pytest.raises((BadCatalogueError, ValueError), match=r"(?s)" + message):
        Catalogue.of_folder(folder_of(tmp_path, {**LOOK, **change}))


@pytest.mark.parametrize(
    ("on", "message"), [("nowhere", "which is no target"), ("leaf-1", "which is for a metrics")]
)
def test_another_target_that_is_asked_is_there_and_of_the_tool_s_kind(tmp_path, on, message):
    query = {**LOOK, "target": "metrics", "way": {"by": "prometheus", "query": "up"}}
    query["output"] = {"parser": "json", "fields": {"x": {"find": "data"}}}
    change = {**LOOK, "name": "change", "effect": "change"}
    targets = [{"name": "leaf-1", "kind": "switch"}, {"name": "prometheus", "kind": "metrics"}]

    def catalogue(on):
        verify = {"tool": "look", "on": on, "tests": TESTS}
        return Catalogue.of_folder(
            folder_of(tmp_path, query, {**change, "verify": verify}, targets=targets)
        )

    with pytest.raises(BadCatalogueError, match=message):
        catalogue(on)
    assert catalogue("prometheus").tool("change").verify.on == "prometheus"


def test_what_is_told_twice_is_an_error(tmp_path):
    with pytest.raises(BadCatalogueError, match="twice"):
        Catalogue.of_folder(folder_of(tmp_path, LOOK, LOOK))


def test_no_yaml_is_an_error(tmp_path):
    folder = folder_of(tmp_path, LOOK)
    (folder / "policy.yaml").write_text("changes: [")
    with pytest.raises(BadCatalogueError, match=r"policy\.yaml"):
        Catalogue.of_folder(folder)


def test_a_file_that_is_changed_counts_at_once(tmp_path):
    folder = folder_of(tmp_path, LOOK)
    kept = CachedCatalogue(folder)
    assert not kept().policy.changes.installation
    folder_of(tmp_path, LOOK, policy={"changes": {"installation": True}})
    assert kept().policy.changes.installation
    (folder / "policy.yaml").write_text("changes: [")
    with pytest.raises(BadCatalogueError):
        kept()


def test_the_simulated_network_s_own_files_are_a_catalogue(tmp_path):
    tools = yaml.safe_load((CATALOGUE / "switch.yaml").read_text())
    policy = yaml.safe_load((CATALOGUE / "policy.yaml").read_text())
    assert len(Catalogue.of_folder(folder_of(tmp_path, *tools, policy=policy)).tools) >= 20
