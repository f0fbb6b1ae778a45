"""`bench planners`: many planners on the same pairs, sharing the model's calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluation.benches.planning.context_parts import ContextPart, part_of
from evaluation.benches.planning.planners import Method, method_named
from evaluation.benches.planning.shared_plans import Cost, SharedPlans
from evaluation.benches.planning.workflows import Advance, FindContext, Plan, WorkflowBench
from evaluation.material.metered import NOTHING_SPENT, MeteredChatModel, Spent
from evaluation.material.pairs import Pair
from evaluation.material.requests import plan_request
from evaluation.measures.answer_figures import Row
from services.contracts.planner import PlanRequest, PlanResponse
from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import Scorer
from services.contracts.ticket import TicketDraft
from services.kit.errors import InvalidInputError


class NoModelError(InvalidInputError):
    """A planner that needs a language model was to be measured without one."""


@dataclass(frozen=True)
class ModelSide:
    """All that a model takes part in."""

    plans: SharedPlans
    scorer: Scorer
    """Asks the model through `scorer_meter`, where it asks one."""
    scorer_meter: MeteredChatModel


@dataclass(frozen=True)
class Entry:
    """What one planner made of the pairs."""

    name: str
    rows: Sequence[Row]
    costs: Sequence[Cost] = ()
    """Of the plans, one for each row; none where no model is asked."""
    scoring: Spent = NOTHING_SPENT
    """Of all rows together."""

    @property
    def spent(self) -> Spent:
        """By plans and scoring together."""
        return sum((cost.spent for cost in self.costs), self.scoring)


class Comparison:
    """Runs one planner after the other; contexts and plans are made once."""

    def __init__(self, floor: WorkflowBench, model: ModelSide | None) -> None:
        """`floor` is the walk without a model; the others differ from it as their method says."""
        self._floor = replace(floor, find_context=_remembering(floor.find_context))
        self._model = model

    def entry(self, name: str, pairs: Sequence[Pair], advance: Advance) -> Entry:
        """Answers and measures every form of every pair.

        Raises:
            NoModelError: The planner asks a model and there is none.
            ModelLostError: The model stopped answering.
        """
        method = method_named(name)
        if not method.asks_model:
            return Entry(name, self._floor.rows(pairs, advance))
        if self._model is None:
            raise NoModelError(
                f"the planner {name!r} asks a language model: set FLOWXPERT_MODEL_URL and _NAME, "
                "or FLOWXPERT_MODEL_GGUF"
            )
        return self._with_model(name, method, self._model, pairs, advance)

    def requests(self, names: Sequence[str], pairs: Sequence[Pair]) -> list[PlanRequest]:
        """What the planners will ask of the model, none twice."""
        methods = (method_named(name) for name in names)
        parts = dict.fromkeys(method.context for method in methods if method.asks_model)
        tickets = [(pair, pair.ticket(form)) for pair in pairs for form in pair.forms]
        find = self._floor.find_context
        return [
            plan_request(ticket, part_of(find(pair, ticket), part))
            for part in parts
            for pair, ticket in tickets
        ]

    def _with_model(
        self, name: str, method: Method, model: ModelSide, pairs: Sequence[Pair], advance: Advance
    ) -> Entry:
        before = model.scorer_meter.spent
        bench = replace(
            self._floor,
            find_context=_only(method.context, self._floor.find_context),
            plan=_choosing(method, model.plans),
            scorer=model.scorer if method.is_scored else None,
        )
        rows = bench.rows(pairs, advance)
        costs = [model.plans.costs[_ticket_id(row), method.context] for row in rows]
        return Entry(name, rows, costs, model.scorer_meter.spent.since(before))


def _choosing(method: Method, plans: SharedPlans) -> Plan:
    def plan(request: PlanRequest) -> PlanResponse:
        response = plans.plan(request, method.context)
        return PlanResponse(candidates=tuple(method.choose(response.candidates)))

    return plan


def _only(part: ContextPart, find: FindContext) -> FindContext:
    return lambda pair, ticket: part_of(find(pair, ticket), part)


def _remembering(find: FindContext) -> FindContext:
    contexts: dict[str, RetrievedContext] = {}

    def remembered(pair: Pair, ticket: TicketDraft) -> RetrievedContext:
        if ticket.external_id not in contexts:
            contexts[ticket.external_id] = find(pair, ticket)
        return contexts[ticket.external_id]

    return remembered


def _ticket_id(row: Row) -> str:
    return row.pair.ticket(row.form).external_id
