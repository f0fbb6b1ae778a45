"""Which page is taken for a ticket, and how surely: by retrieval alone, and with a model's choice.

Drawn tickets, some of them once more with their page hidden, and alerts, one for each page.
"""

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluation.benches.logic.bench import standing
from evaluation.benches.retrieval.ranks import ranked_documents
from evaluation.material.logic_rows import GoldGraph, LogicRow
from evaluation.material.pairs import Pair, is_fitted
from evaluation.material.recorded_choices import RecordedPageChoice, answered
from evaluation.material.requests import plan_request, score_request
from evaluation.measures.bootstrap import Interval, intervals
from evaluation.measures.figures import Report
from evaluation.measures.logic import LogicCase, logic_figures
from services.contracts.planner import Planner
from services.contracts.retrieval import Retrieval, RetrievedContext, RetrieveRequest
from services.contracts.scorer import Scorer
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft
from services.kit.files import read_json
from services.knowledge.ports import Embedder
from services.tickets.page_choice.chance import ChoiceChance
from services.tickets.page_choice.model_choice import PROMPT, ModelChoice, messages
from services.tickets.page_choice.page_chooser import PageChoice, has_choice, weigh_choice
from services.tickets.page_choice.shown_pages import MOST_PAGES, show_pages
from services.tickets.walk.fit import Thresholds
from services.workflow.model import Workflow

INDEX = "index.json"
DRAWN = 120
HIDDEN = 60
_WITH_INTERVAL = ("first", "sure", "right of sure", "acceptable")
"""Figures that are reported with their interval."""


@dataclass(frozen=True)
class Case:
    """A ticket, and the page that is right for it."""

    id: str
    ticket: ScreenedTicket
    page: str
    kind: str
    """`drawn`, `hidden` or `alert`."""
    reference: GoldGraph | None = None
    """The drawing of its page, of drawn tickets."""

    @property
    def is_hidden(self) -> bool:
        """Whether retrieval is blind for its page."""
        return self.kind == "hidden"

    @property
    def key(self) -> str:
        """Names the case among all, and tells nothing of its page."""
        return hashlib.sha256(f"{self.id}, {self.kind}".encode()).hexdigest()[:12]


def cases_of(rows: Sequence[LogicRow], alerts: Iterable[Pair], seed: int) -> list[Case]:
    """Half of the tickets, and of the hidden ones, are such that something may be fitted on them.

    Of the alerts of one page the first is taken.
    """
    chosen = random.Random(seed)  # noqa: S311
    cases = []
    for half in (True, False):
        own = [row for row in rows if is_fitted(row.id) is half]
        drawn = chosen.sample(own, min(len(own), DRAWN // 2))
        cases += [
            Case(row.id, ScreenedTicket(row.draft), row.page, "drawn", row.reference)
            for row in drawn
        ]
        hidden = drawn[: HIDDEN // 2]
        cases += [Case(row.id, ScreenedTicket(row.draft), row.page, "hidden") for row in hidden]
    of_page: dict[str, Pair] = {}
    for pair in alerts:
        of_page.setdefault(pair.gold_documents[0], pair)
    for page, pair in of_page.items():
        text = next(iter(pair.forms.values()))
        ticket = TicketDraft(
            source="bench",
            external_id=pair.id,
            title=pair.alert,
            alert_name=pair.alert,
            description=text,
        )
        cases.append(Case(pair.id, ScreenedTicket(ticket), page, "alert"))
    return cases


@dataclass(frozen=True)
class RetrievedCase:
    """A case with its context and, where a model chose, the choice of its page."""

    case: Case
    context: RetrievedContext
    choice: PageChoice | None = None


def retrieve_cases(
    cases: Iterable[Case], retrieval: Retrieval, blind_for: Callable[[str], Retrieval]
) -> Iterator[RetrievedCase]:
    """Yield each case with its context, without its page where that is to be hidden."""
    for case in cases:
        source = blind_for(case.page) if case.is_hidden else retrieval
        yield RetrievedCase(case, source.retrieve(RetrieveRequest.of_ticket(case.ticket)))


def write_prompts(cases: Sequence[RetrievedCase], folder: Path, batches: int) -> None:
    """What a model is asked for each case, as `batch-1.txt` and so on.

    A ticket and the same with its page hidden are in different ones. `index.json` keeps the pages
    of each in the order shown, which another state of the library would change.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shown = {each.case.key: show_pages(each.case.ticket, each.context).ids for each in cases}
    (folder / INDEX).write_text(json.dumps(shown), encoding="utf-8")
    drawn = [each for each in cases if not each.case.is_hidden]
    place = {each.case.id: n for n, each in enumerate(drawn)}
    for batch in range(batches):
        own = [
            each
            for each in cases
            if (place[each.case.id] + each.case.is_hidden * (batches // 2)) % batches == batch
        ]
        dialogues = [messages(show_pages(each.case.ticket, each.context)) for each in own]
        parts = [
            f"{e.case.key}\n{turns[-1].content}" for e, turns in zip(own, dialogues, strict=True)
        ]
        whole = "\n\n=== ".join((*(turns[0].content for turns in dialogues[:1]), *parts))
        (folder / f"batch-{batch + 1}.txt").write_text(f"{whole}\n", encoding="utf-8")


class ChoiceCase(NamedTuple):
    """One choice, and what was right."""

    chosen: ModelChoice
    first: str
    """Retrieval's page."""
    retrieval: float
    """Its chance, as retrieval has it."""
    page: str
    """The right one."""
    is_hidden: bool
    """Whether that could not be found."""
    is_fitted: bool

    @property
    def kind(self) -> str:
        """Which curve it belongs to."""
        if self.chosen.page is None:
            return "none"
        return "same" if self.chosen.page == self.first else "other"

    @property
    def is_right(self) -> bool:
        """Whether the page that comes first with this choice is the right one."""
        return not self.is_hidden and (self.chosen.page or self.first) == self.page


def kept_answers(folder: Path) -> list[RecordedPageChoice]:
    """The answers to the prompts of this folder, as they are kept."""
    shown = read_json(folder / INDEX, dict[str, list[str]])
    return answered(folder, shown, PROMPT.label)


def choice_cases(
    cases: Iterable[RetrievedCase], choices: Mapping[str, RecordedPageChoice]
) -> list[ChoiceCase]:
    """What a chance is fitted on."""
    return [
        ChoiceCase(
            chosen=chosen,
            first=ranked_documents(each.context)[0],
            retrieval=each.context.confidence,
            page=each.case.page,
            is_hidden=each.case.is_hidden,
            is_fitted=is_fitted(each.case.id),
        )
        for each in cases
        if (chosen := chosen_for(each, choices)) is not None
    ]


def with_choices(
    cases: Iterable[RetrievedCase], choices: Mapping[str, RecordedPageChoice], fitted: ChoiceChance
) -> Iterator[RetrievedCase]:
    """Each as the walk goes on with what was chosen; those that were not recorded are left out."""
    for each in cases:
        chosen = chosen_for(each, choices)
        if chosen is None:
            continue
        ticket, context = each.case.ticket, each.context
        if not has_choice(ticket, context):
            yield each
            continue
        choice = weigh_choice(ticket, context, chosen, fitted, model="recorded")
        yield RetrievedCase(each.case, choice.apply_to(context), choice)


def chosen_for(
    retrieved: RetrievedCase, choices: Mapping[str, RecordedPageChoice]
) -> ModelChoice | None:
    """What was chosen for this case; None where that page is not among those shown any more."""
    recorded = choices.get(retrieved.case.key)
    shown = show_pages(retrieved.case.ticket, retrieved.context)
    if recorded is None or (recorded.page and recorded.page not in shown.ids):
        return None
    return ModelChoice(page=recorded.page or None, stated=recorded.stated, place=recorded.place)


@dataclass(frozen=True)
class Judged:
    """What would be shown for a case."""

    case: Case
    is_first: bool
    is_among: bool
    """Whether the right page is one of those that a choice may name."""
    is_shown: bool
    is_sure: bool
    chance: float
    workflow: Workflow | None
    is_acceptable: bool = False
    """Whether an expert would accept it, by the drawing; only of drawn tickets."""


def judged(
    cases: Iterable[RetrievedCase],
    planner: Planner,
    scorer: Scorer,
    thresholds: Thresholds,
    advance: Callable[[], None],
) -> Iterator[Judged]:
    """Walks each case to its verdict."""
    for case, context, choice in ((each.case, each.context, each.choice) for each in cases):
        ticket = case.ticket.for_person()
        candidates = planner.plan(plan_request(ticket, context)).candidates
        request = score_request(ticket, context, candidates)
        ranked = scorer.score(request).ranked if candidates else ()
        stands = standing(ticket, context, ranked, thresholds, choice)
        documents = ranked_documents(context)
        yield Judged(
            case,
            documents[:1] == [case.page],
            case.page in documents[:MOST_PAGES],
            bool(stands["shown"]),
            bool(stands["sure"]),
            context.confidence,
            ranked[0].candidate.workflow if ranked else None,
        )
        advance()


def with_acceptance(rows: Sequence[Judged], embedder: Embedder) -> list[Judged]:
    """Each workflow held against the drawing of its ticket; all texts in one batch."""
    drawn = [row for row in rows if row.case.reference is not None]
    cases = [
        LogicCase(row.case.page, row.case.reference, row.workflow)
        for row in drawn
        if row.case.reference is not None
    ]
    figures = logic_figures(cases, embedder)
    acceptable_by_key = {
        row.case.key: bool(of["acceptable"]) for row, of in zip(drawn, figures, strict=True)
    }
    return [replace(row, is_acceptable=acceptable_by_key.get(row.case.key, False)) for row in rows]


def report(
    ways: Mapping[str, Sequence[Judged]],
    fitted: ChoiceChance,
    config: Mapping[str, object],
    seconds: float,
) -> Report:
    """For each way and kind of case shares with 95 % intervals, odd ids apart."""
    rows = {
        f"{way}, {kind}{half}": own
        for way, judged in ways.items()
        for kind in ("drawn", "hidden", "alert")
        for half, fitted in (("", (True, False)), (", odd", (False,)))
        if (own := [j for j in judged if j.case.kind == kind and is_fitted(j.case.id) in fitted])
    }
    columns = {name: _columns(own) for name, own in rows.items()}
    return Report.model_validate(
        {
            "benchmark": "page choice",
            "overall": {},
            "sets": {
                name: {"n": len(rows[name])} | {of: round(each.mean, 3) for of, each in own.items()}
                for name, own in columns.items()
            },
            "intervals": {
                name: {
                    f"{of} {end}": round(value, 3)
                    for of, each in own.items()
                    for end, value in (("from", each.low), ("to", each.high))
                    if of in _WITH_INTERVAL
                }
                for name, own in columns.items()
            },
            "calibration": fitted.figures,
            "config": dict(config),
            "seconds": seconds,
            "mean_over": "nothing",
        }
    )


def _columns(rows: Sequence[Judged]) -> dict[str, Interval]:
    columns = {
        "first": [row.is_first for row in rows],
        "among": [row.is_among for row in rows],
        "shown": [row.is_shown for row in rows],
        "sure": [row.is_sure for row in rows],
        "right of sure": [row.is_first for row in rows if row.is_sure],
        "brier": [(row.chance - row.is_first) ** 2 for row in rows],
        "acceptable": [row.is_acceptable for row in rows if row.case.reference is not None],
    }
    return {
        name: intervals([np.array(values, dtype=float)[:, None]], seed=0)[0]
        for name, values in columns.items()
        if values
    }
