"""From a ticket that no workflow fits to its cause, on the pages, in a terminal and by itself."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from fastapi.testclient import TestClient

from services.deployment.embedded import Embedded
from services.kit.settings import PlatformSettings
from services.llm.chat_model import ChatRequest, ModelUnavailableError
from services.llm.scripted import ScriptedChatModel
from services.simulator.faults import Fault
from services.simulator.simulation import PAGES, Simulation
from tests.waiting import eventually

SHUT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")
SAYS = "The neighbor 10.0.11.1 is administratively shut down"


class Gate:
    """Stands before the model: it answers at once while the gate is open."""

    def __init__(self) -> None:
        self._is_open = threading.Event()
        self._is_open.set()
        self._is_called = threading.Event()

    def passed(self) -> None:
        """Wait until it is open."""
        self._is_called.set()
        self._is_open.wait()

    @contextmanager
    def shut(self) -> Iterator[threading.Event]:
        """Keep it shut meanwhile; the event says that the model is asked and waits before it."""
        self._is_called.clear()
        self._is_open.clear()
        try:
            yield self._is_called
        finally:
            self._is_open.set()


GATE = Gate()


def answers(request: ChatRequest) -> list[str]:
    """Of a model that knows how to search, and answers nothing else."""
    if request.prompt.startswith("search_"):
        GATE.passed()
    prompt = request.messages[1].content
    if request.prompt.startswith("search_plan@"):
        if "O1: bgp_session" not in prompt:
            return [
                plan(expert="network", subtask="state of <b>the</b> session", hypothesis="shut")
            ]
        claims = [
            {"text": SAYS, "evidence": [{"observation": "O1", "fields": ["shut"], "lines": [3]}]},
            {"text": "Fan3 burns", "evidence": [{"observation": "O1", "lines": [1]}]},
        ]
        conclusion = {"choice": "answer", "cause": SAYS, "claims": claims}
        return [json.dumps(conclusion | {"suggestion": {"tool": "bgp_session_enable"}})]
    if request.prompt.startswith("search_act@"):
        if "log of leaf-2" in prompt.partition("subtask-")[2].partition("</subtask")[0]:
            return [act("log", "leaf-2", count="5")]
        return [act("bgp_session", "leaf-1", neighbor="10.0.11.1")]
    if request.prompt.startswith("search_reflect@"):
        finding = {"text": SAYS, "lines": [3], "fields": ["shut"], "supports": ["H1"]}
        return [json.dumps({"findings": [finding] if "BGP state" in prompt else []})]
    raise ModelUnavailableError("it only searches")


def plan(**fields: str) -> str:
    return json.dumps({"choice": "look", "from": 0} | fields)


def act(tool: str, target: str, **arguments: str) -> str:
    return json.dumps({"tool": tool, "target": target, "arguments": arguments})


class Network:
    """A platform that does not know the page of what breaks."""

    def __init__(self, client: TestClient, world: Simulation) -> None:
        self.client = client
        self.world = world
        self.alert_count = 0

    def ticket(self) -> str:
        ticket = self.anew()
        assert self.client.get(f"/v1/tickets/{ticket}").json()["status"] == "refused"
        return ticket

    def anew(self, fault: Fault = SHUT) -> str:
        """The ticket of its alert, whatever came of it."""
        self.alert_count += 1
        alert = fault.alert(self.world.world) | {
            "startsAt": f"2026-01-01T00:{self.alert_count:02}:00Z"
        }
        body = {"version": "4", "alerts": [alert]}
        receipt = self.client.post("/workflow/alertmanager?wait=60", json=body).json()
        return str(receipt["tickets"][0]["id"])

    def ended(self, search: str) -> dict[str, object]:
        where = f"/v1/searches/{search}"
        return eventually(
            lambda: dict(self.client.get(where).json()), lambda state: state["phase"] == "ended"
        )

    def page_that_says(self, ticket: str, what: str) -> str:
        """The ticket's page, once it says this."""
        where = f"/tickets/{ticket}"
        return eventually(lambda: self.client.get(where).text, lambda page: what in page)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with platform_in(tmp_path_factory.mktemp("searched"), ScriptedChatModel(answers)) as platform:
        yield platform


class platform_in:  # noqa: N801 - used as a function
    def __init__(self, folder: Path, model: ScriptedChatModel | None) -> None:
        self.folder = folder
        self.model = model
        self.patch = pytest.MonkeyPatch()

    def __enter__(self) -> Network:
        pages = self.folder / "pages"
        pages.mkdir()
        (pages / "FanFailed.md").write_text((PAGES / "FanFailed.md").read_text())
        self.world = Simulation(self.folder / "world").__enter__()
        self.world.inject(SHUT)
        self.patch.setenv("FLOWXPERT_EXECUTOR_CATALOGUE", str(self.world.folder))
        settings = PlatformSettings(_env_file=None, data_dir=self.folder / "data", port=0)
        self.platform = Embedded(settings, model=self.model).__enter__()
        self.platform.ingestion.ingest_here(pages)
        self.platform.start()
        client = TestClient(self.platform.app, base_url="http://127.0.0.1")
        return Network(client, self.world)

    def __exit__(self, *error: object) -> None:
        self.platform.__exit__(*error)
        self.world.__exit__(None, None, None)
        self.patch.undo()


def test_a_ticket_leads_to_its_search_and_the_search_to_the_cause(network):
    ticket = network.ticket()
    assert "Search for the cause" in network.client.get(f"/tickets/{ticket}").text
    page = network.client.post(f"/tickets/{ticket}/searches")
    search = str(page.url).rpartition("/")[2]
    searched = network.ended(search)
    assert (searched["outcome"], searched["cause"]) == ("found", SAYS)
    page = network.client.get(f"/searches/{search}").text
    assert SAYS in page
    assert "Administratively shut down: yes" in page
    assert "struck:" in page
    assert "bgp_session_enable" in page
    assert "<b>the</b>" not in page  # what a model says is text
    assert "This leads nowhere" not in page
    assert "Searched: found" in network.page_that_says(ticket, "search for the cause ended: found")
    assert not network.world.log.changes()


def test_people_steer_on_the_page(network):
    ticket = network.ticket()
    with GATE.shut() as is_called:
        started = network.client.post("/v1/searches", json={"ticket_id": ticket}).json()
        assert is_called.wait(60)  # before that the wish would be taken up at once
        where = f"/searches/{started['id']}"
        request = {"what": "look at the log of leaf-2", "expert": "host"}
        page = network.client.post(f"{where}/requests", data=request).text
        assert "Asked for, and looked at next" in page
        assert "Pause" in page
    searched = network.ended(started["id"])
    (node,) = [each for each in searched["nodes"] if each["asked_by"]]
    assert (node["tool"], node["target"]) == ("log", "leaf-2")
    assert "asked for by" in network.client.get(where).text


def test_what_is_over_is_not_steered_and_says_so(network):
    ticket = network.ticket()
    started = network.client.post("/v1/searches", json={"ticket_id": ticket}).json()
    network.ended(started["id"])
    refused = network.client.post(f"/searches/{started['id']}/pruning", data={"node": 1})
    assert refused.status_code == 409
    assert "the search is over" in refused.text
    assert network.client.get("/searches").text.count(f"/searches/{started['id']}") == 1
    assert network.client.get("/searches/none").status_code == 404


def test_it_begins_by_itself_where_the_policy_lets_it(network):
    path = network.world.folder / "policy.yaml"
    policy = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(policy | {"searches": {"at_once": True}}))
    try:
        ticket = network.ticket()
        network.page_that_says(ticket, "Searched: found")
    finally:
        path.write_text(yaml.safe_dump(policy))


def test_without_a_model_the_ticket_says_what_is_missing(tmp_path):
    with platform_in(tmp_path, None) as network:
        ticket = network.ticket()
        page = network.client.get(f"/tickets/{ticket}").text
        assert "a search needs a language model" in page
        assert "search-cause" not in page
        refused = network.client.post("/v1/searches", json={"ticket_id": ticket})
        assert refused.status_code == 409
        assert "needs a language model" in refused.json()["detail"]
