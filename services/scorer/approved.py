"""What a person has approved of a page decides the facts of its drawings; nobody else is asked."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

from services.contracts.retrieval import PageReading
from services.language.answers import compared_answer
from services.procedure.agreement import matched
from services.procedure.evidence.decide import Decided
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import Fact, FactKind
from services.procedure.lowering import lower
from services.workflow.graph import reachable, successors
from services.workflow.model import Step, StepKind, Transition, Workflow

BY_APPROVED = "approved"
"""Who decides what an approved procedure says."""
STATED, CONTRADICTED = 0.98, 0.03
"""People err too, and steps are matched by their words: neither is certain."""

_Guard = tuple[str, bool | str]
"""A decision of the approved procedure with an answer as answers are compared."""


class Approved:
    """The approved procedures of the pages of one ticket."""

    def __init__(self, pages: Sequence[PageReading]) -> None:
        self._pages = {page.document_id: page for page in pages}

    def settle(self, drawn: Drawn, decided: Sequence[Decided]) -> list[Decided]:
        """The facts, those decided that an approved procedure of the same page tells about.

        Of several it is the one that shares most steps: whether the ticket wants it is a matter of
        relevance.
        """
        page = self._pages.get(drawn.page)
        approved = (lower(each, drawn.page) for each in page.approved) if page else ()
        held = [_Held(drawn, Drawn(each, drawn.source)) for each in approved]
        closest = max(held, key=lambda each: len(each.same), default=None)
        if closest is None:
            return list(decided)
        return [_settled(each, closest.says(each.fact)) for each in decided]


def _settled(decided: Decided, is_so: bool | None) -> Decided:
    if is_so is None:
        return decided
    return decided.with_chance(STATED if is_so else CONTRADICTED, BY_APPROVED)


class _Held:
    """A candidate held against an approved procedure."""

    def __init__(self, drawn: Drawn, approved: Drawn) -> None:
        self._drawn = drawn
        self._approved = approved
        self._is_itself = _shape(drawn.workflow) == _shape(approved.workflow)

    @cached_property
    def same(self) -> Mapping[str, str]:
        """Steps of the approved procedure by those of the candidate that say the same.

        Steps of other pages are left out, since numbers of lines are compared.
        """
        if self._is_itself:
            return {step.id: step.id for step in self._drawn.workflow.steps}
        steps = [
            s
            for s in self._drawn.workflow.steps
            if all(citation.document_id == self._drawn.page for citation in s.citations)
        ]
        theirs = self._approved.workflow.steps
        known = {_content(step): step.id for step in theirs if step.citations}
        alike = {s.id: known[_content(s)] for s in steps if _content(s) in known}
        taken = set(alike.values())
        rest = matched(
            [s for s in steps if s.id not in alike], [s for s in theirs if s.id not in taken]
        )
        return alike | rest

    def says(self, fact: Fact) -> bool | None:
        """Whether the approved procedure has the fact; None where it says nothing about it."""
        if self._is_itself:
            return True
        if fact.kind is not FactKind.QUESTION and fact.step not in self.same:
            return None
        return _TELLS[fact.kind](self, fact)

    def asks(self, fact: Fact) -> bool | None:
        """What it does not ask at lines that it tells, is no question of the page."""
        if fact.step in self.same:
            return True
        lines, approved = self._drawn.lines[fact.step], self._approved
        is_told = bool(approved.at(lines, approved.workflow.steps))
        return False if is_told and not approved.at(lines, approved.decisions) else None

    def guards(self, fact: Fact) -> bool | None:
        """A question that it does not have may be one of its own in other words."""
        guards = self._guards_of(self.same[fact.step])
        if fact.other not in self.same:
            return None if guards else False
        return (self.same[fact.other], self._answer(fact.other, fact.answer)) in guards

    def frees(self, fact: Fact) -> bool | None:
        """Whether it does the step whatever was answered."""
        return not self._guards_of(self.same[fact.step])

    def _guards_of(self, step: str) -> set[_Guard]:
        by_id = self._approved.workflow.by_id
        return {
            (guard.decision, compared_answer(by_id[guard.decision].text, guard.answer))
            for guard in self._approved.guards.get(step, ())
        }

    def _answer(self, question: str, answer: str) -> bool | str:
        return compared_answer(self._drawn.workflow.by_id[question].text, answer)

    def follows(self, fact: Fact) -> bool | None:
        """Steps that the candidate leaves out are a matter of coverage: nothing is said there."""
        if fact.other not in self.same:
            return None
        source, target = self.same[fact.step], self.same[fact.other]
        ways = self._ways(source, self._answer(fact.step, fact.answer))
        if any(way.target == target for way in ways):
            return True
        through = _reached([w.target for w in ways], self._approved.workflow, self._left_out)
        return None if target in through else False

    def _ways(self, source: str, answer: bool | str) -> list[Transition]:
        """Exits on this answer; all of them where the answers are worded otherwise."""
        workflow = self._approved.workflow
        asked, exits = workflow.by_id[source].text, workflow.exits(source)
        on = [way for way in exits if compared_answer(asked, way.condition) == answer]
        return on or exits

    @cached_property
    def _left_out(self) -> set[str]:
        return self._approved.workflow.by_id.keys() - set(self.same.values())

    def ends(self, fact: Fact) -> bool | None:
        """Whether it goes on behind the step with nothing that a line says."""
        workflow = self._approved.workflow
        implied = {s.id for s in workflow.steps if not s.citations}
        after = [way.target for way in workflow.exits(self.same[fact.step])]
        return not _reached(after, workflow, implied) - implied


_TELLS: Mapping[FactKind, Callable[[_Held, Fact], bool | None]] = {
    FactKind.QUESTION: _Held.asks,
    FactKind.GUARD: _Held.guards,
    FactKind.FREE: _Held.frees,
    FactKind.ARROW: _Held.follows,
    FactKind.END: _Held.ends,
}


def _reached(begin: Iterable[str], workflow: Workflow, through: Collection[str]) -> set[str]:
    """Steps that are come to from these without passing any but those of `through`."""
    arrows = successors(workflow.transitions)
    return {
        found
        for step in begin
        for found in reachable(step, arrows, passes=lambda passed: passed in through)
    }


def _content(step: Step) -> tuple[object, ...]:
    is_question = step.kind is StepKind.DECISION
    return is_question, step.text, step.node, step.citations


def _shape(workflow: Workflow) -> tuple[object, ...]:
    """What a drawing says, whoever drew it."""
    steps = tuple((step.id, step.kind, step.text, step.citations) for step in workflow.steps)
    return steps, frozenset(workflow.transitions)
