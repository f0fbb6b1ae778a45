"""Traces of one fault become a page, or a reason why they do not."""

from collections.abc import Mapping, Sequence

from services.executor.summary.cases import cases_of
from services.executor.summary.learned import Learned
from services.executor.summary.page import written
from services.executor.summary.plan import NotLearnedError, Plan, learned_plan
from services.executor.summary.trace import Trace, is_hidden, joined, without_secrets
from services.executor.tools.catalogue import Catalogue
from services.kit.value import Value
from services.procedure.checking.walker import findings_of
from services.workflow.lint import is_clean, lint

ALERT = "alertname"
"""The label that names a fault: traces that differ in it are of different faults."""


class Summary(Value):
    """What came of the traces of one title."""

    learned: tuple[Learned, ...] = ()
    refused: tuple[str, ...] = ()
    """Why something was not learned."""


def summarised(traces: Sequence[Trace], catalogue: Catalogue, title: str) -> Summary:
    """A page for each fault that the traces are of; their labels tell faults apart."""
    by_ticket = joined(without_secrets(each) for each in traces)
    by_alert: dict[str, list[Trace]] = {}
    for each in by_ticket:
        by_alert.setdefault(each.labels.get(ALERT, ""), []).append(each)
    learned, refused = [], []
    for alert, mine in by_alert.items():
        named = title if len(by_alert) == 1 else f"{title}: {alert or 'other tickets'}"
        try:
            learned.append(learned_of(mine, catalogue, named))
        except NotLearnedError as error:
            refused.append(f"{named}: {error}" if len(by_alert) > 1 else str(error))
    return Summary(learned=tuple(learned), refused=tuple(refused))


def learned_of(traces: Sequence[Trace], catalogue: Catalogue, title: str) -> Learned:
    """The page of one fault.

    Raises:
        NotLearnedError: The traces do not say one thing.
    """
    cases = cases_of(traces)
    if not cases:
        raise NotLearnedError("no trace shows what to do")
    return checked(page_of(learned_plan(cases, catalogue), traces, catalogue, title))


def page_of(
    plan: Plan, traces: Sequence[Trace], catalogue: Catalogue, title: str, by_model: str = ""
) -> Learned:
    """The plan as a page about the tickets of these traces."""
    return written(
        plan,
        catalogue,
        title=title,
        labels=_common_labels(traces),
        learned_from=len(traces),
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
    found = lint(learned.workflow())
    errors = [] if is_clean(found) else [str(f) for f in found if f.severity == "error"]
    return [*errors, *map(str, findings_of([learned.procedure], learned.text))]


def _common_labels(traces: Sequence[Trace]) -> Mapping[str, str]:
    """The alert that all tickets had."""
    told = {each.labels.get(ALERT, "") for each in traces}
    name = told.pop() if len(told) == 1 else ""
    return {ALERT: name} if name and not is_hidden(name) else {}
