"""How few pages an owner checks, in the order of the list, until most tickets have a checked page.

Tickets go through the gateway of a copy of the data folder, so that the list knows of them what it
would know on a site: the pages that it showed, not the right ones, which only the count sees.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean

from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import Pair
from evaluation.measures.figures import Figures, Report
from services.contracts.clarification import ClarificationAnswer, ClarificationState
from services.contracts.readings import WaitingQuery
from services.contracts.ticket import TicketDraft
from services.deployment.embedded import Embedded
from services.gateway.room import ROOM as GATEWAY
from services.kit.access.caller import LOCAL
from services.tickets.intake.delivery import Delivery
from services.tickets.intake.intake import Intake
from services.tickets.ticket.question import QuestionTopic
from services.web.ui.knowledge.readings.pages import DAYS

SHARES = (50, 80, 95)
"""Tickets of 100 whose pages are to be checked."""
SHUFFLES = 1000

Page = tuple[str, ...]
"""The documents that have one text."""


@dataclass(frozen=True)
class TicketOfPage:
    """A ticket, and the page that is right for it."""

    ticket: TicketDraft
    page: str


def tickets_of(
    rows: Iterable[LogicRow], alerts: Iterable[Pair], count: int, seed: int
) -> list[TicketOfPage]:
    """Draw tickets of drawn pages and alerts with a page; several may be of one page."""
    drawn = [TicketOfPage(row.draft, row.page) for row in rows]
    for pair in alerts:
        text = next(iter(pair.forms.values()))
        ticket = TicketDraft(
            source="bench",
            external_id=pair.id,
            title=pair.alert or text[:80],
            alert_name=pair.alert,
            description=text,
        )
        drawn.append(TicketOfPage(ticket, pair.gold_documents[0]))
    chosen = random.Random(seed)  # noqa: S311
    return chosen.sample(drawn, min(count, len(drawn)))


def walk_tickets(
    platform: Embedded, tickets: Iterable[TicketOfPage], advance: Callable[[], None]
) -> list[str]:
    """Take the tickets in and walk each to its end; return their ids."""
    register = platform.open_room(GATEWAY).register
    assert register is not None  # noqa: S101 - the gateway has tasks
    register()
    intake = Intake(platform.database, platform.outbox, repeats_within_s=0)
    ids = []
    for each in tickets:
        accepted = intake.accept(Delivery(tickets=(each.ticket,)))
        ids.append(accepted.tickets[0].id)
        while platform.outbox.run_next(GATEWAY.name):
            pass
        advance()
    return ids


def list_order(platform: Embedded) -> list[Page]:
    """Return the pages in the order of the list."""
    uses = platform.gateway.coverage.page_uses(days=DAYS)
    query = WaitingQuery(uses=uses.pages, limit=1000)
    pages: list[Page] = []
    while True:
        some = platform.readings(LOCAL).waiting(query.model_copy(update={"start": len(pages)}))
        pages += (each.documents for each in some.readings)
        if len(pages) >= some.total:
            return pages


def alerts_order(platform: Embedded, pages: Sequence[Page], ids: Iterable[str]) -> list[Page]:
    """Return the pages by the tickets that they answered, or came nearest to where none fits.

    So the list was ordered before choices among pages, confirmation and harm counted.
    """
    tickets: Counter[str] = Counter()
    for id_ in ids:
        detail = platform.gateway.queries.ticket(id_)
        stored = (
            platform.gateway.queries.workflow(detail.workflow_id) if detail.workflow_id else None
        )
        cited = (
            (c.document_id for s in stored.workflow.steps for c in s.citations) if stored else ()
        )
        tickets.update({*cited, *(near.document_id for near in detail.nearest)})
    return sorted(pages, key=lambda page: (-sum(tickets[each] for each in page), min(page)))


def choose_pages(
    platform: Embedded, tickets: Mapping[str, TicketOfPage], advance: Callable[[], None]
) -> int:
    """Answer which page applies, as an engineer does who knows; return the number of answers.

    Only where the right page is among the choices of an open question.
    """
    handler, answers = platform.gateway.answer_handler, 0
    for id_, each in tickets.items():
        for question in handler.of_ticket(id_):
            is_open = question.state is ClarificationState.OPEN
            if (
                is_open
                and question.about == QuestionTopic.PAGES
                and each.page in question.decisions
            ):
                place = question.decisions.index(each.page) + 1
                handler.answer(id_, question.id, ClarificationAnswer(choice=place))
                answers += 1
        while platform.outbox.run_next(GATEWAY.name):
            pass
        advance()
    return answers


def pages_needed(order: Sequence[Page], tickets: Sequence[TicketOfPage]) -> Figures:
    """Count the first pages of the order until so many of 100 tickets have theirs among them."""
    places = {id_: place for place, page in enumerate(order, start=1) for id_ in page}
    reached = sorted(places.get(each.page, len(order)) for each in tickets)
    return {str(share): reached[ceil(share / 100 * len(reached)) - 1] for share in SHARES}


def pages_needed_at_random(
    pages: Sequence[Page], tickets: Sequence[TicketOfPage], seed: int
) -> Figures:
    """Return the mean over many shuffles of the pages."""
    shuffled, draws = list(pages), random.Random(seed)  # noqa: S311
    counts = []
    for _ in range(SHUFFLES):
        draws.shuffle(shuffled)
        counts.append(pages_needed(shuffled, tickets))
    return {name: round(fmean(each[name] for each in counts), 1) for name in counts[0]}


def least_possible(pages: Sequence[Page], tickets: Sequence[TicketOfPage]) -> Figures:
    """Count the pages of an order that knows the right page of each ticket."""
    tickets_by_page = Counter(each.page for each in tickets)
    order = sorted(pages, key=lambda page: -sum(tickets_by_page[id_] for id_ in page))
    return pages_needed(order, tickets)


def report(
    orders: Mapping[str, Sequence[Page]],
    tickets: Sequence[TicketOfPage],
    seed: int,
    config: dict[str, object],
    seconds: float,
) -> Report:
    """Compare the orders, any order, and the least that is possible."""
    pages = next(iter(orders.values()))
    ids = {id_ for page in pages for id_ in page}
    with_page = [each for each in tickets if each.page in ids]
    sets = {name: pages_needed(order, with_page) for name, order in orders.items()}
    sets["any order"] = pages_needed_at_random(pages, with_page, seed)
    sets["least possible"] = least_possible(pages, with_page)
    counts = {"n": len(with_page), "pages": len(pages)}
    return Report(
        benchmark="review order: pages checked until 50, 80 and 95 of 100 tickets have theirs",
        overall=next(iter(sets.values())),
        sets={name: {**figures, **counts} for name, figures in sets.items()},
        config=config,
        seconds=seconds,
        mean_over="tickets, in the order of the list",
    )
