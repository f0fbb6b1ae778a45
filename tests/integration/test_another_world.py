"""Another world is files: repositories, spoken to through an MCP server that others wrote.

`pip install mcp-server-git` into an environment of its own; FLOWXPERT_TEST_MCP_GIT names the
command where it is not on the path.
"""

import os
import shutil
import subprocess
from pathlib import Path

import mcp.client.stdio  # noqa: F401 - it keeps the stderr that there is when it is imported
import pytest
import yaml

from services.execution.tools.catalogue import Catalogue
from services.knowledge.screening.document import hash_of
from services.runbook.model import as_json
from services.simulator.simulation import PAGES
from tests.command import flowxpert
from tests.readings import drawn_reading
from tests.worlds import team_over

ESCALATE = "Escalate to the owner of the repository, who knows what is to be kept"
READING = drawn_reading(
    "DeploymentOffMain",
    {"do": "Look at the status of the repository", "at": [[8, 8]]},
    {
        "choice": "exclusive",
        "at": [[10, 10]],
        "arms": [
            {
                "when": "Is the working tree clean?",
                "at": [[10, 10], [14, 14]],
                "steps": [
                    {
                        "choice": "exclusive",
                        "at": [[16, 16]],
                        "arms": [
                            {
                                "when": "Is the repository on main?",
                                "at": [[16, 16], [18, 18]],
                                "steps": [
                                    {
                                        "end": "not_this_fault",
                                        "text": "Close the alert as a false alarm",
                                        "at": [[18, 18]],
                                    }
                                ],
                            }
                        ],
                        "otherwise": [{"do": "Check out the branch", "at": [[20, 20]]}],
                    }
                ],
            }
        ],
        "otherwise": [
            {"do": ESCALATE, "at": [[12, 12]]},
            {"end": "escalate", "text": "Its owner has it", "at": [[12, 12]]},
        ],
    },
    {"do": "Look at the status of the repository again", "at": [[22, 22]]},
)
WORLD = Path(__file__).parents[1] / "fixtures" / "another_world"
SERVER = shutil.which(os.environ.get("FLOWXPERT_TEST_MCP_GIT", "mcp-server-git"))

pytestmark = pytest.mark.skipif(
    SERVER is None,
    reason="mcp-server-git is not on the path: install it from PyPI apart, and name its command in"
    " FLOWXPERT_TEST_MCP_GIT",
)


def git(where, *words):
    own = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(
        ["git", *own, *words], cwd=where, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deploy") / "storefront"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "release.yaml").write_text("version: 7\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Release 7")
    git(folder, "branch", "hotfix")
    return folder


@pytest.fixture(scope="module")
def team(repository, tmp_path_factory):
    """The platform with other pages, to which the files of that world are added."""
    folder = tmp_path_factory.mktemp("world")
    catalogue = shutil.copytree(WORLD, folder / "catalogue")
    [target] = yaml.safe_load((catalogue / "targets.yaml").read_text())
    target["command"] = [SERVER, target["command"][1], str(repository)]
    (catalogue / "targets.yaml").write_text(yaml.safe_dump([target]))
    page = catalogue / "pages" / "DeploymentOffMain.md"
    with team_over(catalogue, folder, PAGES, page.parent) as people:
        where = f"/v1/readings/{hash_of(page.read_text())}"
        people.bea.put(where, json=as_json(READING)).raise_for_status()
        people.approve_pages()
        yield people


@pytest.fixture
def ticket(team, repository):
    """The ticket of an alert, once Bea has approved how its steps are carried out."""
    git(repository, "checkout", "-q", "-f", "hotfix")
    labels = {
        "alertname": "DeploymentOffMain",
        "repository": "storefront",
        "path": str(repository),
        "branch": "main",
    }
    summary = "The repository that storefront is deployed from is not on its main branch"
    planned = team.ticket(summary, **labels)
    assert planned["fit"] == "sure", planned["against"]
    bound = team.approve_bindings(planned["id"])
    tools = {text: each.binding["tool"] for text, each in bound.items()}
    assert tools["Check out the branch"] == "git_checkout"
    return planned


def test_its_tools_are_written_by_what_the_server_lists(tmp_path):
    (tmp_path / "tools").mkdir()
    words = ("tools", "import", "mcp", "--command", SERVER, "--target", "repository")
    done = flowxpert(*words, "--out", str(tmp_path / "tools" / "git.yaml"))
    assert done.returncode == 0, done.stderr
    tools = Catalogue.of_folder(tmp_path).by_name
    effects = {name: tools[name].effect.value for name in ("git_status", "git_log", "git_checkout")}
    assert effects == {"git_status": "read", "git_log": "read", "git_checkout": "change"}
    assert tools["git_checkout"].parameters.keys() == {"repo_path", "branch_name"}


def decided(run):
    texts = {step.id: step.text for step in run.steps}
    decisions = [(e.step, e.facts) for e in run.events if e.kind == "decided"]
    return [(texts[step], facts["answer"], facts["by"]) for step, facts in decisions]


def test_a_run_looks_decides_changes_by_leave_and_verifies(team, ticket, repository):
    run = team.carried(ticket["id"])
    assert run.outcome == "recovered", run.model_dump_json(indent=1)
    assert decided(run) == [
        ("Is the working tree clean?", "Yes", "evidence"),
        ("Is the repository on main?", "No", "evidence"),
        ("Is the issue resolved?", "Yes", "verification"),
    ]
    assert team.leaves[-1] == f"git_checkout(repo_path={repository}, branch_name=main)"
    assert [e.kind for e in run.events].count("changed") == 1
    assert git(repository, "branch", "--show-current") == "main"


def test_what_somebody_left_in_the_working_tree_is_not_touched(team, ticket, repository):
    (repository / "release.yaml").write_text("version: 8\n")
    leaves = list(team.leaves)
    run = team.carried(ticket["id"])
    assert run.question.text.startswith("Escalate to the owner of the repository")
    assert decided(run) == [("Is the working tree clean?", "No", "evidence")]
    assert team.leaves == leaves
    assert git(repository, "branch", "--show-current") == "hotfix"
    assert (repository / "release.yaml").read_text() == "version: 8\n"


def test_a_run_that_may_only_look_changes_nothing(team, ticket, repository):
    run = team.carried(ticket["id"], mode="read_only")
    assert run.question.what == "do"
    assert "this run changes nothing" in run.question.text
    assert git(repository, "branch", "--show-current") == "hotfix"
