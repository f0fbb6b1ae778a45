"""Candidates over HTTP: each when it is written, and no more of them when nobody listens."""

import threading
from collections.abc import Iterator

import pytest

from services.contracts.planner import Candidate, PlannerClient, PlanRequest
from services.contracts.ticket import TicketDraft
from services.kit.http.client import ServiceClient, ServiceUnavailableError
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.knowledge.model import KnowledgeContext
from services.planner.app import create_app
from services.workflow.model import Provenance, Step, StepKind, Workflow

REQUEST = PlanRequest(
    ticket=TicketDraft(source="generic", external_id="1", title="x"), context=KnowledgeContext()
)


class SlowPlanner:
    """Writes a candidate at once and the second when it is told to; notices being closed."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.closed = threading.Event()

    def stream(self, _request: PlanRequest) -> Iterator[Candidate]:
        try:
            yield candidate("extractive")
            self.go_on.wait()
            yield candidate("llm")
            yield candidate("never asked for")
        finally:
            self.closed.set()


def candidate(planner: str) -> Candidate:
    step = Step(id="s1", kind=StepKind.TERMINAL, text="Look.")
    origin = Provenance(planner=planner)
    return Candidate(id=planner, workflow=Workflow(title="x", steps=(step,), provenance=origin))


@pytest.fixture
def planner() -> SlowPlanner:
    return SlowPlanner()


@pytest.fixture
def client(planner, tmp_path) -> Iterator[PlannerClient]:
    app = create_app(PlatformSettings(_env_file=None, data_dir=tmp_path), service=planner)
    server = ServerThread(app, host="127.0.0.1", port=0)
    server.start()
    with ServiceClient(server.url) as http:
        yield PlannerClient(http)
    planner.go_on.set()
    server.stop()


def test_the_first_candidate_comes_while_the_second_is_still_being_written(client, planner):
    stream = client.stream(REQUEST)
    assert next(stream).id == "extractive"
    assert not planner.go_on.is_set()
    planner.go_on.set()
    assert next(stream).id == "llm"


def test_hanging_up_closes_the_writing(client, planner):
    stream = client.stream(REQUEST)
    next(stream)
    stream.close()
    planner.go_on.set()
    assert planner.closed.wait(60)


def test_a_planner_that_is_not_there_is_unavailable():
    with ServiceClient("http://127.0.0.1:9") as http, pytest.raises(ServiceUnavailableError):
        next(PlannerClient(http).stream(REQUEST))


def test_a_stream_that_says_nothing_for_too_long_is_given_up(planner, tmp_path):
    app = create_app(PlatformSettings(_env_file=None, data_dir=tmp_path), service=planner)
    server = ServerThread(app, host="127.0.0.1", port=0)
    server.start()
    with ServiceClient(server.url, timeout_s=0.3) as http:
        stream = PlannerClient(http).stream(REQUEST)
        next(stream)
        with pytest.raises(ServiceUnavailableError):
            next(stream)  # of a planner that goes on only now
    planner.go_on.set()
    server.stop()
