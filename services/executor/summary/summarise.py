"""Traces of one title become a page for each fault, or a reason why they do not."""

from collections.abc import Mapping, Sequence

from services.executor.summary.cases import cases_of
from services.executor.summary.choose import Learn, Measured, measured
from services.executor.summary.learned import Learned
from services.executor.summary.page import plain, written
from services.executor.summary.plan import NotLearnedError, Plan, learned_plan
from services.executor.summary.trace import Trace, is_hidden, joined, without_secrets
from services.executor.tools.catalogue import Catalogue
from services.kit.value import Value
from services.knowledge.screening.instructions import instruction_in
from services.procedure.checking.walker import findings_of
from services.workflow.lint import Severity, lint

ALERT = "alertname"
"""The label that names a fault: traces that differ in it are of different faults."""


class Summary(Value):
    """What came of the traces of one title."""

    found: tuple[Measured, ...] = ()
    refused: tuple[str, ...] = ()
    """Why something was not learned."""

    @property
    def learned(self) -> tuple[Learned, ...]:
        """The pages."""
        return tuple(each.learned for each in self.found)


def summarised(
    traces: Sequence[Trace], catalogue: Catalogue, title: str, *others: Learn
) -> Summary:
    """A page for each fault that the traces are of; their labels tell faults apart.

    `others` learn as well; one of them is taken where it does better on traces that were left out.
    """
    by_alert: dict[str, list[Trace]] = {}
    for each in joined(without_secrets(each) for each in traces):
        by_alert.setdefault(each.labels.get(ALERT, ""), []).append(each)
    found, refused = [], []
    for alert, mine in by_alert.items():
        named = title if len(by_alert) == 1 else f"{title}: {alert or 'other tickets'}"
        try:
            found.append(_best(mine, catalogue, named, others))
        except NotLearnedError as error:
            refused.append(f"{named}: {error}" if len(by_alert) > 1 else str(error))
    return Summary(found=tuple(found), refused=tuple(refused))


def _best(
    traces: Sequence[Trace], catalogue: Catalogue, title: str, others: Sequence[Learn]
) -> Measured:
    """The better one; of equal ones the rules', which asks what it has not seen otherwise.

    Raises:
        NotLearnedError: Nobody learned anything; with the rules' reason.
    """
    found, reason = [], NotLearnedError("no trace shows what to do")
    for learn in (by_rules(catalogue, title), *others):
        try:
            found.append(measured(learn, traces, catalogue))
        except NotLearnedError as error:
            reason = error if learn not in others else reason
    if not found:
        raise reason
    return max(found, key=lambda each: each.rank)


def by_rules(catalogue: Catalogue, title: str) -> Learn:
    """Learns without a model."""

    def learn(traces: Sequence[Trace]) -> Learned:
        plan = learned_plan(cases_of(traces), catalogue)
        return checked(page_of(plan, traces, catalogue, title))

    return learn


def page_of(
    plan: Plan, traces: Sequence[Trace], catalogue: Catalogue, title: str, by_model: str = ""
) -> Learned:
    """The plan as a page about the tickets of these traces."""
    named = plain(title)
    return written(
        plan,
        catalogue,
        title=named if instruction_in(named) is None else "What was done",
        labels=_common_labels(traces),
        tickets=[each.ticket for each in traces],
        by_model=by_model,
    )


def checked(learned: Learned) -> Learned:
    """Itself, if its graph holds.

    Raises:
        NotLearnedError: Lint or walker find an error in it.
    """
    if wrong := graph_findings(learned):
        raise NotLearnedError(f"the workflow does not hold: {'; '.join(wrong)}")
    return learned


def graph_findings(learned: Learned) -> list[str]:
    """What lint and walker find wrong."""
    errors = [str(f) for f in lint(learned.workflow()) if f.severity is Severity.ERROR]
    return [*errors, *map(str, findings_of([learned.procedure], learned.text))]


def _common_labels(traces: Sequence[Trace]) -> Mapping[str, str]:
    """The alert that all tickets had."""
    told = {each.labels.get(ALERT, "") for each in traces}
    name = told.pop() if len(told) == 1 else ""
    is_plain = name and not is_hidden(name) and plain(name) == name
    return {ALERT: name} if is_plain and instruction_in(name) is None else {}
