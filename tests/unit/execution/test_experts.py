"""Experts from files: their tools by name or pattern, none that changes anything."""

import pytest

from services.execution.tools.catalogue import BadCatalogueError, Catalogue
from services.investigation.search.search import load_experts, nearest_expert
from tests.unit.execution.carrying import catalogue

CATALOGUE = catalogue()


def written(folder, *texts):
    (folder / "experts").mkdir()
    for number, text in enumerate(texts):
        (folder / "experts" / f"{number}.yaml").write_text(text)
    return folder


def test_the_shipped_experts_have_the_tools_that_only_look():
    experts = {each.name: each for each in load_experts(None, CATALOGUE)}
    assert list(experts) == ["host", "network", "service"]
    assert "bgp_session" in experts["network"].tools
    assert "bgp_session_enable" not in experts["service"].tools
    assert {"cpu", "fans", "flash"} <= set(experts["host"].tools)


def test_without_tools_there_is_no_expert():
    assert load_experts(None, Catalogue()) == ()


def test_files_take_the_place_of_the_shipped_ones(tmp_path):
    folder = written(tmp_path, "{name: bgp, role: knows BGP, tools: [bgp_session, 'cpu*']}")
    (expert,) = load_experts(folder, CATALOGUE)
    assert expert.tools == ("bgp_session", "cpu")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{name: a, role: r, tools: [bgp_sesion]}", "0.yaml: the catalogue has no tool"),
        ("{name: a, role: r, tools: [bgp_session_clear]}", "0.yaml: bgp_session_clear changes"),
        ("{name: a, role: r, toolz: [cpu]}", "0.yaml"),
        ("{name: 'A b', role: r, tools: [cpu]}", "0.yaml"),
        ("just a text", "0.yaml"),
        ("a: [", "0.yaml"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_the_file(tmp_path, text, why):
    with pytest.raises(BadCatalogueError, match=why):
        load_experts(written(tmp_path, text), CATALOGUE)


def test_a_name_is_told_once(tmp_path):
    text = "{name: a, role: r, tools: [cpu]}"
    with pytest.raises(BadCatalogueError, match=r"1\.yaml: the expert 'a' is told twice"):
        load_experts(written(tmp_path, text, text), CATALOGUE)


def test_what_nobody_in_particular_is_asked_goes_to_the_nearest():
    experts = load_experts(None, CATALOGUE)
    says = {tool.name: tool.description for tool in CATALOGUE.tools}
    assert nearest_expert(experts, "how full is the flash", says).name == "host"
    assert nearest_expert(experts, "receive power of the optic", says).name == "network"
