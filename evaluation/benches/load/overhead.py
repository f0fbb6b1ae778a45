"""`bench overhead`: what the platform adds to the time that a language model takes.

Tickets go one after the other through the whole embedded walk, from the webhook to the stored
workflow. Time in which an answer of the model is waited for is the model's; the rest is the
platform's, even where the model goes on writing meanwhile.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import httpx
from rich.console import Console
from rich.table import Table

from evaluation.benches.load.scripted_answers import scripted_answers
from evaluation.benches.load.speed import copied, new_ticket, queries
from evaluation.material.metered import MeteredChatModel
from evaluation.measures.figures import Figures, Report
from services.contracts.gateway import Accepted, TicketDetail
from services.contracts.ticket import TicketStatus
from services.deployment.embedded import Embedded
from services.kit.errors import FlowXpertError
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.llm.chat_model import ChatModel
from services.llm.open import open_chat_model
from services.llm.scripted import ScriptedChatModel
from services.llm.settings import ModelSettings

MOST_OVERHEAD = 0.10
"""Of the model's own time: what the platform is built to keep."""

_SETTLE_TICKETS = 2
"""Tickets before these that are not counted: the first ones load the embedder and fill caches."""
_LONGEST_WALK_S = 900.0
_LOOK_S = 0.1

Say = Callable[[str], None]


class NothingPlannedError(FlowXpertError):
    """No ticket got a workflow that a model took part in, so there is nothing to compare."""


class SlowWalkError(FlowXpertError):
    """A walk did not come to an end."""


@dataclass(frozen=True)
class Timing:
    """One ticket."""

    walk_s: float
    """From the webhook to the stored workflow."""
    model_s: float

    @property
    def platform_s(self) -> float:
        """What the model does not account for."""
        return self.walk_s - self.model_s

    @property
    def overhead(self) -> float:
        """The platform's time by the model's."""
        return self.platform_s / self.model_s


def measure_overhead(
    data_dir: Path, pairs: Path, *, latency_s: float, tickets: int, say: Say
) -> Report:
    """On a scripted model of fixed latency and on the configured one, where there is one.

    Raises:
        NothingPlannedError: Retrieval found nothing that fits any of the tickets.
    """
    started = time.monotonic()
    models: dict[str, ChatModel] = {
        "scripted": ScriptedChatModel(scripted_answers, seconds=latency_s)
    }
    configured = open_chat_model(ModelSettings(), data_dir.resolve() / "models")
    if configured:
        models["configured"] = configured
    titles = _spread(list(dict.fromkeys(queries(pairs))), tickets + _SETTLE_TICKETS)
    overall: Figures = {}
    for name, model in models.items():
        timings = _timings(data_dir, MeteredChatModel(model), titles, say)
        overall |= {f"{name}_{key}": value for key, value in _figures(timings).items()}
    return Report(
        benchmark="overhead",
        overall=overall,
        sets={},
        config={
            "pairs": pairs.name,
            "tickets": tickets,
            "latency_s": latency_s,
            "models": {name: model.name for name, model in models.items()},
            "target": MOST_OVERHEAD,
        },
        seconds=round(time.monotonic() - started, 1),
    )


def _timings(
    data_dir: Path, meter: MeteredChatModel, titles: Sequence[str], say: Say
) -> list[Timing]:
    with copied(data_dir) as folder:
        settings = PlatformSettings(data_dir=folder, host="127.0.0.1", port=0)
        with Embedded(settings, model=meter) as platform:
            server = ServerThread(platform.app, host=settings.host, port=settings.port)
            platform.start()
            server.start()
            try:
                walks = list(_walks(server.url, meter, titles, say))
            finally:
                server.stop()
    timings = [timing for timing in walks[_SETTLE_TICKETS:] if timing]
    if not timings:
        raise NothingPlannedError("no ticket got a workflow from a model; choose other pairs")
    return timings


def _walks(
    url: str, meter: MeteredChatModel, titles: Sequence[str], say: Say
) -> Iterator[Timing | None]:
    with httpx.Client(base_url=url, timeout=_LONGEST_WALK_S) as client:
        for number, title in enumerate(titles, start=1):
            timing = _walk(client, meter, title)
            summary = (
                f"{timing.walk_s:.2f} s, model {timing.model_s:.2f} s" if timing else "no model"
            )
            say(f"overhead on {meter.name}: {number} of {len(titles)}, {summary}")
            yield timing


def _walk(client: httpx.Client, meter: MeteredChatModel, title: str) -> Timing | None:
    """None when the ticket was refused or the model took no part."""
    before, began = meter.spent.busy, time.time()
    answer = client.post("/workflow/generic", json=new_ticket(title)).raise_for_status()
    ticket = _concluded(client, Accepted.model_validate(answer.json()).tickets[0].status_url)
    model_s = meter.spent.busy - before
    if ticket.status is not TicketStatus.PLANNED or not model_s:
        return None
    return Timing(ticket.updated_at.timestamp() - began, model_s)


def _concluded(client: httpx.Client, status_url: str) -> TicketDetail:
    """The ticket once its walk is over; how often it is looked at does not change its times."""
    until = time.monotonic() + _LONGEST_WALK_S
    while time.monotonic() < until:
        answer = client.get(status_url).raise_for_status()
        ticket = TicketDetail.model_validate(answer.json())
        if ticket.status.is_final:
            return ticket
        time.sleep(_LOOK_S)
    raise SlowWalkError(f"a walk was not over after {_LONGEST_WALK_S:.0f} s")


def _spread(titles: Sequence[str], count: int) -> list[str]:
    """So many titles from all over the list, from its start again where it is shorter."""
    step = max(1, len(titles) // count)
    return [titles[place * step % len(titles)] for place in range(count)]


def _figures(timings: Sequence[Timing]) -> Figures:
    overheads = [timing.overhead for timing in timings]
    return {
        "tickets": float(len(timings)),
        "walk_p50_s": round(median(timing.walk_s for timing in timings), 3),
        "model_p50_s": round(median(timing.model_s for timing in timings), 3),
        "platform_p50_ms": round(1000 * median(timing.platform_s for timing in timings), 1),
        "overhead_p50": round(median(overheads), 4),
        "overhead_mean": round(fmean(overheads), 4),
        "overhead_most": round(max(overheads), 4),
    }


def show(report: Report) -> None:
    """The figures beside what they should be."""
    table = Table("figure", "measured", "target", title=report.benchmark)
    for name, value in report.overall.items():
        is_target = name.endswith("overhead_mean")
        met = f"≤ {MOST_OVERHEAD:g} {'✓' if value <= MOST_OVERHEAD else '✗'}" if is_target else ""
        table.add_row(name, f"{value:g}", met)
    Console().print(table)
