"""A plan: looks, questions, changes and ends, learned from cases and made for any ticket."""

from collections.abc import Iterator, Sequence

from services.execution.bindings.binding import Argument, Origin
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.compare import Test
from services.execution.tools.tool import Verification
from services.investigation.summary.cases import Ending, TraceCase
from services.investigation.summary.field_tests import (
    FieldTest,
    FieldTestKind,
    find_all_clear,
    find_guards,
    find_split,
)
from services.investigation.summary.planned_calls import CallPlanner, PlannedCall, PlannedLook
from services.kit.errors import InvalidInputError
from services.kit.value import Value
from services.runbook.model import EndKind

MOST_DEEP = 8
"""Most questions in a row that tell remedies apart."""
MOST_GUARDS = 8
"""Most questions before one change; of more the first ones."""

_MIN_IN_VAIN = (3, 2)
"""Least traces in vain from which an exclusion is learned: by numbers, by states."""


class NotLearnedError(InvalidInputError):
    """Error of traces that do not agree on one workflow; the message says why."""


class Finish(Value):
    """End of a path."""

    kind: EndKind


class ToolStep(Value):
    """A look or a change."""

    call: PlannedCall
    is_again: bool = False
    """True if the same was looked at before."""


class Ask(Value):
    """A question that a look answers; `no` is done and ends the path if it does not hold."""

    look: PlannedCall
    test: Test
    yes: "Plan | None" = None
    """Plan that ends; None goes on with what follows."""
    no: "Plan | None" = None
    """Plan that ends; None goes on with what follows."""
    is_again: bool = False
    """True if it asks for the state after a change."""


PlanNode = ToolStep | Ask | Finish
Plan = tuple[PlanNode, ...]

HAND_OVER: Plan = (Finish(kind=EndKind.ESCALATE),)

Ask.model_rebuild()


def learn_plan(cases: Sequence[TraceCase], catalogue: Catalogue) -> Plan:
    """Learn the plan that the cases agree on.

    Raises:
        NotLearnedError: They contradict one another, or nothing in them can be done again.
    """
    useful = [each for each in cases if each.ending is not Ending.IN_VAIN]
    in_vain = [each for each in cases if each.ending is Ending.IN_VAIN]
    if not useful and not in_vain:
        raise NotLearnedError("no trace shows what to do")
    if not useful:
        raise NotLearnedError("no trace shows what helped: what was changed was not seen to work")
    return _prune(_PlanLearner(in_vain, catalogue).learn(useful, (), ()), len(useful))


class _PlanLearner:
    def __init__(self, in_vain: Sequence[TraceCase], catalogue: Catalogue) -> None:
        self._in_vain = in_vain
        self._catalogue = catalogue

    def learn(
        self,
        cases: Sequence[TraceCase],
        answered: Sequence[FieldTest],
        planned_looks: Sequence[PlannedCall],
    ) -> Plan:
        """Learn the plan from where these tests are answered and these looks are made."""
        looks = CallPlanner(cases, self._catalogue).plan_looks()
        acts = tuple(ToolStep(call=e.call) for e in looks if e.call not in planned_looks)
        planned_looks = (*planned_looks, *(act.call for act in acts))
        by_remedy: dict[tuple[object, ...], list[TraceCase]] = {}
        for case in cases:
            by_remedy.setdefault((case.ending, case.remedy), []).append(case)
        groups = sorted(by_remedy.values(), key=len, reverse=True)
        if len(groups) == 1:
            return (*acts, *self._leaf(groups[0], looks, answered))
        if len(answered) >= MOST_DEEP:
            raise NotLearnedError("there are too many ways to tell the traces apart")
        split = find_split(looks, groups, self._catalogue)
        if split is None:
            return (*acts, *self._majority_over_hand_over(groups, looks, answered))
        test, positive = split
        yes, no = (
            [
                case
                for place, group in enumerate(groups)
                if (place in positive) is side
                for case in group
            ]
            for side in (True, False)
        )
        ask = Ask(
            look=test.look, test=test.test, yes=self.learn(yes, (*answered, test), planned_looks)
        )
        return (*acts, ask, *self.learn(no, (*answered, test), planned_looks))

    def _majority_over_hand_over(
        self,
        groups: Sequence[Sequence[TraceCase]],
        looks: Sequence[PlannedLook],
        answered: Sequence[FieldTest],
    ) -> Plan:
        """Plan for cases that part of the people handed over: as the others, if they are more."""
        solved = [group for group in groups if group[0].ending is not Ending.HANDED_OVER]
        handed_over = sum(len(g) for g in groups if g[0].ending is Ending.HANDED_OVER)
        if len(solved) == 1 and len(solved[0]) > handed_over:
            return self._leaf(solved[0], looks, answered)
        acts = (
            ", then ".join(group[0].remedy) or group[0].ending.value.replace("_", " ")
            for group in groups
        )
        remedies = "; ".join(f"{act} ({len(g)})" for act, g in zip(acts, groups, strict=True))
        raise NotLearnedError(
            f"the traces part and no field that was looked at before tells them apart: {remedies}"
        )

    def _leaf(
        self,
        cases: Sequence[TraceCase],
        looks: Sequence[PlannedLook],
        answered: Sequence[FieldTest],
    ) -> Plan:
        match cases[0].ending:
            case Ending.HANDED_OVER:
                return HAND_OVER
            case Ending.CLOSED:
                all_clear = find_all_clear(looks, cases, answered, self._catalogue)
                if not all_clear and not answered:
                    raise NotLearnedError("nothing that was looked at says that all is well")
                return (*_questions(all_clear), Finish(kind=EndKind.NOT_THIS_FAULT))
            case _:
                return self._remedy(cases, looks, answered)

    def _remedy(
        self,
        cases: Sequence[TraceCase],
        looks: Sequence[PlannedLook],
        answered: Sequence[FieldTest],
    ) -> Plan:
        preconditions = find_guards(looks, cases, answered, self._catalogue)
        preconditions += self._exclusions(cases, looks, [*answered, *preconditions])
        if not preconditions and not answered:
            raise NotLearnedError("nothing that was looked at before speaks for the change")
        tools = [self._catalogue.tool(each.call.tool) for each in looks]
        readable_fields = {f"{tool.name}.{name}" for tool in tools for name in tool.output.fields}
        plan: list[PlanNode] = [*_questions(preconditions[:MOST_GUARDS])]
        for place in range(len(cases[0].remedy)):
            change = CallPlanner(cases, self._catalogue).plan_change(place, readable_fields)
            if change is None:
                raise NotLearnedError("no label of the tickets names what was changed")
            plan += [ToolStep(call=change), *_verification_nodes(change, self._catalogue)]
        return (*plan, Finish(kind=EndKind.RESOLVED))

    def _exclusions(
        self,
        cases: Sequence[TraceCase],
        looks: Sequence[PlannedLook],
        preconditions: Sequence[FieldTest],
    ) -> list[FieldTest]:
        """Find what tells the cases that the change helped from those that it did not.

        Raises:
            NotLearnedError: Nothing does, and it helped no more often than not.
        """
        seen = [case for case in self._in_vain if cases[0].remedy[0] in case.remedy]
        both = CallPlanner([*cases, *seen], self._catalogue).plan_looks()
        alike = []
        for case in seen:  # those in which no test before the change keeps it from being made
            calls = {each.call: each.before.get(case, ()) for each in both}
            results = (each.holds(calls.get(each.look, ())) for each in preconditions)
            if all(result is not False for result in results):
                alike.append(case)
        if not alike:
            return []
        split = find_split(both, [cases, alike], self._catalogue)
        is_made = split and 0 in split[1] and split[0].look in {e.call for e in looks}
        if (
            split
            and is_made
            and len(alike) >= _MIN_IN_VAIN[split[0].kind <= FieldTestKind.PRESENCE]
        ):
            return [split[0]]
        if len(alike) >= len(cases):
            raise NotLearnedError(
                f"{cases[0].remedy[0]} helped in {len(cases)} and did not in {len(alike)} traces "
                "that look alike"
            )
        return []


def _questions(tests: Sequence[FieldTest]) -> tuple[Ask, ...]:
    return tuple(Ask(look=each.look, test=each.test, no=HAND_OVER) for each in tests)


def _verification_nodes(change: PlannedCall, catalogue: Catalogue) -> tuple[PlanNode, ...]:
    """Return the look that verifies a change, and the questions about its result."""
    verification = catalogue.tool(change.tool).verify
    if verification is None or (look := verification_call(change, verification)) is None:
        return ()
    questions = (Ask(look=look, test=t, no=HAND_OVER, is_again=True) for t in verification.tests)
    return (ToolStep(call=look, is_again=True), *questions)


def verification_call(change: PlannedCall, verification: Verification) -> PlannedCall | None:
    """Return the call that verifies a change; None if a person fills an argument in."""
    change_arguments, arguments = dict(change.arguments), list[tuple[str, Argument]]()
    for name, value in verification.arguments.items():
        source = value.removeprefix("{").removesuffix("}")
        argument = change_arguments.get(source) if value == f"{{{source}}}" else None
        arguments.append((name, argument or Argument(origin=Origin.LITERAL, value=value)))
    if any(a.origin is Origin.PERSON or "{" in a.value for _, a in arguments):
        return None
    return PlannedCall(tool=verification.tool, label=change.label, arguments=tuple(arguments))


def _prune(plan: Plan, cases: int) -> Plan:
    """Drop looks that decide nothing and supply no argument, in the plan of one case alone."""
    if cases > 1:
        return plan
    used = {each.look for each in iter_nodes(plan) if isinstance(each, Ask)}
    needs = {
        n.partition(".")[0]
        for e in iter_nodes(plan)
        if isinstance(e, ToolStep)
        for n in e.call.needs
    }
    ends_in_change = any(
        isinstance(each, Finish) and each.kind is EndKind.RESOLVED for each in iter_nodes(plan)
    )
    if not ends_in_change:
        return plan
    asks = [place for place, each in enumerate(plan) if isinstance(each, Ask)]
    return tuple(
        each
        for each in plan
        if not isinstance(each, ToolStep)
        or each.is_again
        or each.call in used
        or each.call.tool in needs
        or (asks and plan.index(each) > asks[0])  # a change: looks come before the first question
    )


def iter_nodes(plan: Plan) -> Iterator[PlanNode]:
    """Yield all nodes, in order."""
    for node in plan:
        yield node
        if isinstance(node, Ask):
            yield from iter_nodes(node.yes or ())
            yield from iter_nodes(node.no or ())
