"""A plan: looks, questions, changes and ends, learned from cases and made for any ticket."""

from collections.abc import Iterator, Sequence

from services.executor.bindings.binding import Argument, Origin
from services.executor.summary.cases import Case, Ending
from services.executor.summary.planned import Explained, Planned, Planning
from services.executor.summary.telling import (
    Natural,
    Telling,
    guards,
    nothing_found,
    telling_apart,
)
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.compare import Test
from services.executor.tools.tool import Verification
from services.kit.errors import InvalidInputError
from services.kit.value import Value
from services.procedure.model import EndKind

MOST_DEEP = 8
"""Questions that tell remedies apart, one behind the other."""
MOST_GUARDS = 8
"""Questions in front of one change; of more the first ones."""

_LEAST_IN_VAIN = (3, 2)
"""Traces in vain from which it is learned when a change does not help: by numbers, by states."""


class NotLearnedError(InvalidInputError):
    """The traces do not say one thing; the message says why."""


class Finish(Value):
    """An end."""

    kind: EndKind


class Act(Value):
    """A look or a change."""

    call: Planned
    is_again: bool = False
    """Whether it was looked at before."""


class Ask(Value):
    """A question that a look answers. Where it does not hold, `no` is done, and that ends."""

    look: Planned
    test: Test
    yes: "Plan | None" = None
    """What ends; None: what follows."""
    no: "Plan | None" = None
    """What ends; None: what follows."""
    is_again: bool = False
    """Whether it asks how it is after a change."""


Node = Act | Ask | Finish
Plan = tuple[Node, ...]

HAND_OVER: Plan = (Finish(kind=EndKind.ESCALATE),)

Ask.model_rebuild()


def learned_plan(cases: Sequence[Case], catalogue: Catalogue) -> Plan:
    """What the cases say together.

    Raises:
        NotLearnedError: They contradict one another, or nothing in them can be done again.
    """
    useful = [each for each in cases if each.ending is not Ending.IN_VAIN]
    in_vain = [each for each in cases if each.ending is Ending.IN_VAIN]
    if not useful and not in_vain:
        raise NotLearnedError("no trace shows what to do")
    if not useful:
        raise NotLearnedError("no trace shows what helped: what was changed was not seen to work")
    return _pruned(_Learning(in_vain, catalogue).plan(useful, (), ()), len(useful))


class _Learning:
    def __init__(self, in_vain: Sequence[Case], catalogue: Catalogue) -> None:
        self._in_vain = in_vain
        self._catalogue = catalogue

    def plan(
        self, cases: Sequence[Case], asked: Sequence[Telling], looked: Sequence[Planned]
    ) -> Plan:
        """From where these questions are answered and these looks are made."""
        looks = Planning(cases, self._catalogue).looks()
        acts = tuple(Act(call=e.planned) for e in looks if e.planned not in looked)
        looked = (*looked, *(act.call for act in acts))
        groups = _groups(cases)
        if len(groups) == 1:
            return (*acts, *self._leaf(groups[0], looks, asked))
        if len(asked) >= MOST_DEEP:
            raise NotLearnedError("there are too many ways to tell the traces apart")
        told = telling_apart(looks, groups, self._catalogue)
        if told is None:
            return (*acts, *self._inseparable(groups, looks, asked))
        telling, places = told
        yes, no = (
            [
                case
                for place, group in enumerate(groups)
                if (place in places) is side
                for case in group
            ]
            for side in (True, False)
        )
        ask = Ask(
            look=telling.look, test=telling.test, yes=self.plan(yes, (*asked, telling), looked)
        )
        return (*acts, ask, *self.plan(no, (*asked, telling), looked))

    def _inseparable(
        self,
        groups: Sequence[Sequence[Case]],
        looks: Sequence[Explained],
        asked: Sequence[Telling],
    ) -> Plan:
        """Somebody handed over what others mended: the others say what to do, if they are more."""
        mended = [group for group in groups if group[0].ending is not Ending.HANDED_OVER]
        handed_over = sum(len(g) for g in groups if g[0].ending is Ending.HANDED_OVER)
        if len(mended) == 1 and len(mended[0]) > handed_over:
            return self._leaf(mended[0], looks, asked)
        told = "; ".join(_in_words(group) for group in groups)
        raise NotLearnedError(
            f"the traces part and no field that was looked at before tells them apart: {told}"
        )

    def _leaf(
        self, cases: Sequence[Case], looks: Sequence[Explained], asked: Sequence[Telling]
    ) -> Plan:
        match cases[0].ending:
            case Ending.HANDED_OVER:
                return HAND_OVER
            case Ending.CLOSED:
                held = nothing_found(looks, cases, asked, self._catalogue)
                if not held and not asked:
                    raise NotLearnedError("nothing that was looked at says that all is well")
                return (*_asked(held), Finish(kind=EndKind.NOT_THIS_FAULT))
            case _:
                return self._mended(cases, looks, asked)

    def _mended(
        self, cases: Sequence[Case], looks: Sequence[Explained], asked: Sequence[Telling]
    ) -> Plan:
        held = guards(looks, cases, asked, self._catalogue)
        held += self._unlike_those_in_vain(cases, looks, [*asked, *held])
        if not held and not asked:
            raise NotLearnedError("nothing that was looked at before speaks for the change")
        told = _told(looks, self._catalogue)
        plan: list[Node] = [*_asked(held[:MOST_GUARDS])]
        for place in range(len(cases[0].remedy)):
            change = Planning(cases, self._catalogue).change(place, told)
            if change is None:
                raise NotLearnedError("no label of the tickets names what was changed")
            plan += [Act(call=change), *_verified(change, self._catalogue)]
        return (*plan, Finish(kind=EndKind.RESOLVED))

    def _unlike_those_in_vain(
        self, cases: Sequence[Case], looks: Sequence[Explained], known: Sequence[Telling]
    ) -> list[Telling]:
        """What tells those whom the change did not help from those whom it did.

        Raises:
            NotLearnedError: Nothing does, and it helped no more often than not.
        """
        seen = [case for case in self._in_vain if cases[0].remedy[0] in case.remedy]
        both = Planning([*cases, *seen], self._catalogue).looks()
        alike = [case for case in seen if _would_change(case, known, both)]
        if not alike:
            return []
        found = telling_apart(both, [cases, alike], self._catalogue)
        is_made = found and 0 in found[1] and found[0].look in {e.planned for e in looks}
        if found and is_made and len(alike) >= _LEAST_IN_VAIN[found[0].natural <= Natural.PRESENCE]:
            return [found[0]]
        if len(alike) >= len(cases):
            raise NotLearnedError(
                f"{cases[0].remedy[0]} helped in {len(cases)} and did not in {len(alike)} traces "
                "that look alike"
            )
        return []


def _would_change(case: Case, known: Sequence[Telling], looks: Sequence[Explained]) -> bool:
    """Whether nothing that is asked before keeps the change from being made there."""
    seen = {each.planned: each.before.get(case, ()) for each in looks}
    return all(each.holds(seen.get(each.look, ())) is not False for each in known)


def _groups(cases: Sequence[Case]) -> list[list[Case]]:
    """By what was done: the most frequent first."""
    found: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        found.setdefault((case.ending, case.remedy), []).append(case)
    return sorted(found.values(), key=len, reverse=True)


def _in_words(group: Sequence[Case]) -> str:
    done = ", then ".join(group[0].remedy) or group[0].ending.value.replace("_", " ")
    return f"{done} ({len(group)})"


def _asked(held: Sequence[Telling]) -> tuple[Ask, ...]:
    return tuple(Ask(look=each.look, test=each.test, no=HAND_OVER) for each in held)


def _told(looks: Sequence[Explained], catalogue: Catalogue) -> set[str]:
    tools = {each.planned.tool for each in looks}
    return {f"{tool}.{name}" for tool in tools for name in catalogue.tool(tool).output.fields}


def _verified(change: Planned, catalogue: Catalogue) -> tuple[Node, ...]:
    """The look by which it shows that a change worked, and the question whether it did."""
    wanted = catalogue.tool(change.tool).verify
    if wanted is None or (look := verifying(change, wanted)) is None:
        return ()
    asked = (Ask(look=look, test=t, no=HAND_OVER, is_again=True) for t in wanted.tests)
    return (Act(call=look, is_again=True), *asked)


def verifying(change: Planned, wanted: Verification) -> Planned | None:
    """The tool's own verification with the arguments of the change; None where a person fills."""
    given, found = dict(change.arguments), list[tuple[str, Argument]]()
    for name, value in wanted.arguments.items():
        source = value.removeprefix("{").removesuffix("}")
        argument = given.get(source) if value == f"{{{source}}}" else None
        found.append((name, argument or Argument(origin=Origin.GIVEN, value=value)))
    if any(a.origin is Origin.PERSON or "{" in a.value for _, a in found):
        return None
    return Planned(tool=wanted.tool, label=change.label, arguments=tuple(found))


def _pruned(plan: Plan, cases: int) -> Plan:
    """Of one case alone: without looks that decide nothing and tell nobody anything."""
    if cases > 1:
        return plan
    used = {each.look for each in walked(plan) if isinstance(each, Ask)}
    needs = {n.partition(".")[0] for e in walked(plan) if isinstance(e, Act) for n in e.call.needs}
    ends_in_change = any(
        isinstance(each, Finish) and each.kind is EndKind.RESOLVED for each in walked(plan)
    )
    if not ends_in_change:
        return plan
    return tuple(
        each
        for each in plan
        if not isinstance(each, Act)
        or each.is_again
        or each.call in used
        or each.call.tool in needs
        or _is_change(each, plan)
    )


def _is_change(act: Act, plan: Plan) -> bool:
    """Whether it stands behind the first question: looks come before it."""
    asks = [place for place, each in enumerate(plan) if isinstance(each, Ask)]
    return bool(asks) and plan.index(act) > asks[0]


def walked(plan: Plan) -> Iterator[Node]:
    """All nodes, in order."""
    for node in plan:
        yield node
        if isinstance(node, Ask):
            yield from walked(node.yes or ())
            yield from walked(node.no or ())
