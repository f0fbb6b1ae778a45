"""Work for a platform whose processes are killed: tickets, uploads, runs that change devices."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from evaluation.benches.execution import is_of_hands
from evaluation.benches.load.speed import new_ticket
from services.contracts.execution import RunDetail, RunPhase
from services.simulator.faults import Fault, variants
from services.simulator.simulation import SentLine, Simulation, WireLog

AGAIN_S = 0.1
"""Seconds before what was not taken is sent again."""
FAULTS = tuple(
    fault
    for kind in (
        "bgp_session_shut",
        "bgp_session_hung",
        "default_route_deleted",
        "link_flapping",
        "process_cpu",
    )
    for fault in variants(kind, most=1)
)
"""Faults that one change mends."""
_RUN_WITHIN_S = 180.0
_ANSWERED = {200, 201, 202}


class Moments:
    """Moments at which a kind of work has just begun."""

    def __init__(self) -> None:
        kinds = ("ticket", "upload", "approval", "received")
        self._begun = {kind: threading.Event() for kind in kinds}

    def begin(self, kind: str) -> None:
        """Tell that such work begins."""
        self._begun[kind].set()

    def wait(self, kind: str, seconds: float) -> bool:
        """Wait for the next moment at which it begins; False if there is none in time."""
        self._begun[kind].clear()
        return self._begun[kind].wait(seconds)


class WatchedLog(WireLog):
    """Log of the devices that tells the moment at which one is sent a change."""

    def __init__(self, path: Path, moments: Moments) -> None:
        super().__init__(path)
        self._moments = moments

    def add(self, sent: SentLine) -> None:
        """See `WireLog.add`."""
        super().add(sent)
        if sent.is_change:
            self._moments.begin("received")


class Caller:
    """Client that sends again what was not answered, as ticket systems do."""

    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url, timeout=20)
        self.answers = Counter[int]()
        """Answers by status; 0 counts those that did not come."""

    def send(self, method: str, path: str, **body: Any) -> httpx.Response | None:  # noqa: ANN401 - httpx
        """Send once; None if no answer came, or one to come again later."""
        try:
            answer = self.client.request(method, path, **body)
        except httpx.HTTPError:
            self.answers[0] += 1
            return None
        self.answers[answer.status_code] += 1
        return answer if answer.status_code < 500 and answer.status_code != 429 else None

    def insist(self, method: str, path: str, **body: Any) -> httpx.Response:  # noqa: ANN401 - httpx
        """Send until it is answered."""
        while (answer := self.send(method, path, **body)) is None:
            time.sleep(AGAIN_S)
        return answer


class Work:
    """Tickets, uploads and runs that go on in the background, with what was accepted of each."""

    def __init__(self, url: str, simulation: Simulation, titles: list[str]) -> None:
        self._url, self._simulation, self._titles = url, simulation, titles
        self.moments = Moments()
        simulation.log = WatchedLog(simulation.log.path, self.moments)
        self.tickets: dict[str, set[str]] = {}
        """Ids of tickets by what their sender calls them: more than one is a double."""
        self.uploads: dict[str, list[str]] = {}
        """Ids of the jobs of each page."""
        self.runs: list[dict[str, Any]] = []
        """Each run's `id`, and the changes that its device was `sent`."""
        self.bad: Counter[int] = Counter()
        """Answers that no kill excuses, by status."""
        self._stopping = threading.Event()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Work until the block ends; what was begun is carried through."""
        loops = (self._send_tickets, self._send_tickets, self._upload, self._run)
        threads = [threading.Thread(target=loop, daemon=True) for loop in loops]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            for thread in threads:
                thread.join()

    _numbers = itertools.count()

    def _send_tickets(self) -> None:
        caller = Caller(self._url)
        while not self._stopping.wait(0.3):
            number = next(self._numbers)
            body = new_ticket(self._titles[number % len(self._titles)]) | {"id": f"kill-{number}"}
            self.moments.begin("ticket")
            answer = caller.insist("POST", "/workflow", json=body)
            self._note(answer)
            if answer.is_success:
                self.tickets.setdefault(body["id"], set()).add(answer.json()["id"])
                if number % 5 == 0:  # the answer may have been lost: it is sent again
                    again = caller.insist("POST", "/workflow", json=body)
                    self.tickets[body["id"]].add(again.json()["id"])

    def _upload(self) -> None:
        caller = Caller(self._url)
        for number in itertools.count():
            if self._stopping.wait(0.7):
                return
            name = f"fan-{number}.md"
            page = f"# Fan {number} fails\n\n1. Reseat fan {number}.\n2. Replace it.\n"
            files = {"files": (name, page.encode())}
            self.moments.begin("upload")
            answer = caller.insist("POST", "/v1/documents", files=files)
            self._note(answer)
            if answer.is_success:
                self.uploads.setdefault(name, []).append(answer.json()["id"])

    def _run(self) -> None:
        caller = Caller(self._url)
        for number in itertools.count():
            if self._stopping.wait(0.05):
                return
            self._carry_out(caller, FAULTS[number % len(FAULTS)], number)

    def _carry_out(self, caller: Caller, fault: Fault, number: int) -> None:
        simulation = self._simulation
        simulation.heal()
        simulation.inject(fault)
        before = len(simulation.log.changes())
        minute = f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        alert = {**fault.alert(simulation.world), "startsAt": minute}
        body = {"version": "4", "alerts": [alert]}
        ticket = str(
            caller.insist("POST", "/workflow/alertmanager", json=body).json()["tickets"][0]["id"]
        )
        by = time.monotonic() + _RUN_WITHIN_S
        while not _is_walked(caller, ticket) and time.monotonic() < by:
            time.sleep(AGAIN_S)
        approve_bindings(caller, ticket)
        run_id = self._start(caller, ticket)
        if not run_id:
            return
        run = self._drive(caller, run_id, by)
        sent = [f"{each.device} {each.line}" for each in simulation.log.changes()[before:]]
        self.runs.append({"id": run_id, "sent": sent, "run": run})

    def _start(self, caller: Caller, ticket: str) -> str:
        """Start a run; if no answer came, look whether there is one before another is started."""
        wanted = {"ticket_id": ticket, "mode": "supervised", "confirms_page": True}
        while True:
            answer = caller.send("POST", "/v1/runs", json=wanted)
            if answer is not None and answer.is_success:
                return str(answer.json()["id"])
            if answer is not None:
                self._note(answer)
                return ""
            listed = caller.insist("GET", "/v1/runs", params={"ticket_id": ticket}).json()
            mine = [each["id"] for each in listed if each["mode"] == "supervised"]
            if mine:
                return str(mine[0])
            time.sleep(AGAIN_S)

    def _drive(self, caller: Caller, run_id: str, by: float) -> RunDetail | None:
        run = None
        while time.monotonic() < by:
            answer = caller.send("GET", f"/v1/runs/{run_id}")
            if answer is not None and answer.is_success:
                run = RunDetail.model_validate(answer.json())
                if run.phase is RunPhase.ENDED:
                    return run
                self._decide(caller, run)
            time.sleep(0.05)
        return run

    def _decide(self, caller: Caller, run: RunDetail) -> None:
        """Approve what waits; say of a change whose effect is not known what the device got."""
        if run.approval is not None:
            self.moments.begin("approval")
            caller.send("POST", f"/v1/runs/{run.id}/approval", json={"digest": run.approval.digest})
            return
        question = run.question
        if question is None:
            return
        option = "done" if is_of_hands(run) else "hand over"
        if question.what == "unknown":
            lines = [each.line for each in self._simulation.log.changes()]
            shown = question.text
            option = "it was made" if any(line in shown for line in lines[-3:]) else "hand over"
        answer = {"question": question.seq, "option": option}
        caller.send("POST", f"/v1/runs/{run.id}/answer", json=answer)

    def _note(self, answer: httpx.Response) -> None:
        if answer.status_code not in _ANSWERED:
            self.bad[answer.status_code] += 1


def _is_walked(caller: Caller, ticket: str) -> bool:
    answer = caller.insist("GET", f"/v1/tickets/{ticket}").json()
    return answer.get("status") not in {"received", "planning"}


def approve_bindings(caller: Caller, ticket: str) -> None:
    """Let a person vouch for what is proposed."""
    proposals = caller.insist("GET", "/v1/bindings", params={"ticket_id": ticket})
    for each in proposals.json() if proposals.is_success else ():
        if each["binding"]["tool"] and not each["approved_by"]:
            body = {"ticket_id": ticket, "step": each["step"], "binding": each["binding"]}
            caller.insist("POST", "/v1/bindings", json=body)


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition; False if it does not hold in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(httpx.HTTPError):
            if condition():
                return True
        time.sleep(0.2)
    return False
