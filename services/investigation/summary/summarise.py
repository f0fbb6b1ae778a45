"""Summary of the traces of one title: a page for each fault, or a reason why there is none."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from services.execution.tools.catalogue import Catalogue
from services.investigation.summary.cases import Ending, case_of, cases_of, is_nearly_all
from services.investigation.summary.learned_workflow import LearnedWorkflow
from services.investigation.summary.page import plain_title, write_page
from services.investigation.summary.plan import NotLearnedError, Plan, learn_plan
from services.investigation.summary.replay import replay, replay_all
from services.investigation.summary.trace import Trace, is_hidden, join_traces, without_secrets
from services.kit.value import Value
from services.knowledge.screening.instructions import instruction_in
from services.runbook.checking.walker import findings_of
from services.workflow.lint import Severity, lint

MOST_LEFT_OUT = 6
"""Most traces that are left out, one at a time; of more the first ones."""

Learner = Callable[[Sequence[Trace]], LearnedWorkflow]
"""Function that learns a workflow from traces; raises `NotLearnedError`."""


class MeasuredWorkflow(Value):
    """Learned workflow, with how it does on traces."""

    learned: LearnedWorkflow
    replayed: int
    """Number of the traces at hand on which it is right."""
    left_out: int | None
    """Number of left-out traces on which it is right; None with one trace alone."""


def measure(learn: Learner, traces: Sequence[Trace], catalogue: Catalogue) -> MeasuredWorkflow:
    """Learn from all traces, and once more without each of them, and count correct replays.

    Raises:
        NotLearnedError: All together say nothing.
    """
    learned = learn(traces)
    correct = _count_correct(learned, traces, catalogue)
    if len(traces) == 1:
        return MeasuredWorkflow(learned=learned, replayed=correct, left_out=None)
    correct_left_out = 0
    for place, each in enumerate(traces[:MOST_LEFT_OUT]):
        with suppress(NotLearnedError):
            from_others = learn([*traces[:place], *traces[place + 1 :]])
            correct_left_out += replay(from_others, each, catalogue).is_right
    return MeasuredWorkflow(learned=learned, replayed=correct, left_out=correct_left_out)


def _count_correct(learned: LearnedWorkflow, traces: Sequence[Trace], catalogue: Catalogue) -> int:
    """Count the traces on which it is right, of those that it was learned from.

    Raises:
        NotLearnedError: On too few of those that show what to do.
    """
    results = replay_all(learned, traces, catalogue)
    for shown in (Ending.HELPED, Ending.CLOSED):
        mine = [r for t, r in zip(traces, results, strict=True) if case_of(t).ending is shown]
        wrong = [each for each in mine if not each.is_right]
        if wrong and not is_nearly_all(len(mine) - len(wrong), len(mine)):
            raise NotLearnedError(
                f"carried out on the traces it does otherwise in {len(wrong)} of {len(mine)}: "
                f"{wrong[0].why}"
            )
    return sum(each.is_right for each in results)


ALERT = "alertname"
"""Label that names a fault: traces that differ in it are of different faults."""


class Summary(Value):
    """Outcome of learning from the traces of one title."""

    workflows: tuple[MeasuredWorkflow, ...] = ()
    refused: tuple[str, ...] = ()
    """Reasons why something was not learned."""

    @property
    def learned(self) -> tuple[LearnedWorkflow, ...]:
        """Learned workflows."""
        return tuple(each.learned for each in self.workflows)


def summarise_traces(
    traces: Sequence[Trace], catalogue: Catalogue, title: str, *others: Learner
) -> Summary:
    """Learn a page for each fault of the traces; their labels tell faults apart.

    `others` learn as well; one of them is chosen if it does better on left-out traces.
    """
    by_alert: dict[str, list[Trace]] = {}
    for each in join_traces(without_secrets(each) for each in traces):
        by_alert.setdefault(each.labels.get(ALERT, ""), []).append(each)
    workflows, refused = [], []
    for alert, mine in by_alert.items():
        named = title if len(by_alert) == 1 else f"{title}: {alert or 'other tickets'}"
        try:
            workflows.append(_best_workflow(mine, catalogue, named, others))
        except NotLearnedError as error:
            refused.append(f"{named}: {error}" if len(by_alert) > 1 else str(error))
    return Summary(workflows=tuple(workflows), refused=tuple(refused))


def _best_workflow(
    traces: Sequence[Trace], catalogue: Catalogue, title: str, others: Sequence[Learner]
) -> MeasuredWorkflow:
    """Return the better workflow; of equal ones that of the rules, which ask more.

    Raises:
        NotLearnedError: Nobody learned anything; with the rules' reason.
    """
    candidates, reason = [], NotLearnedError("no trace shows what to do")
    for learn in (rules_learner(catalogue, title), *others):
        try:
            candidates.append(measure(learn, traces, catalogue))
        except NotLearnedError as error:
            reason = error if learn not in others else reason
    if not candidates:
        raise reason
    return max(candidates, key=lambda each: (each.left_out or 0, each.replayed))


def rules_learner(catalogue: Catalogue, title: str) -> Learner:
    """Return a learner that works without a model."""

    def learn(traces: Sequence[Trace]) -> LearnedWorkflow:
        plan = learn_plan(cases_of(traces), catalogue)
        return check_graph(page_of(plan, traces, catalogue, title))

    return learn


def page_of(
    plan: Plan, traces: Sequence[Trace], catalogue: Catalogue, title: str, by_model: str = ""
) -> LearnedWorkflow:
    """Write the plan as a page about the tickets of these traces."""
    named = plain_title(title)
    return write_page(
        plan,
        catalogue,
        title=named if instruction_in(named) is None else "What was done",
        labels=_common_labels(traces),
        tickets=[each.ticket for each in traces],
        by_model=by_model,
    )


def check_graph(learned: LearnedWorkflow) -> LearnedWorkflow:
    """Return the workflow itself, if its graph holds.

    Raises:
        NotLearnedError: Lint or walker find an error in it.
    """
    if wrong := graph_findings(learned):
        raise NotLearnedError(f"the workflow does not hold: {'; '.join(wrong)}")
    return learned


def graph_findings(learned: LearnedWorkflow) -> list[str]:
    """Return the errors that lint and walker find."""
    errors = [str(f) for f in lint(learned.workflow()) if f.severity is Severity.ERROR]
    return [*errors, *map(str, findings_of([learned.procedure], learned.text))]


def _common_labels(traces: Sequence[Trace]) -> Mapping[str, str]:
    """Return the alert that all tickets had."""
    alerts = {each.labels.get(ALERT, "") for each in traces}
    name = alerts.pop() if len(alerts) == 1 else ""
    is_plain = name and not is_hidden(name) and plain_title(name) == name
    return {ALERT: name} if is_plain and instruction_in(name) is None else {}
