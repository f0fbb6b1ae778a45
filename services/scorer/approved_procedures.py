"""Approved procedures: they decide the facts of drawings of their page, and no model is asked."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

from services.contracts.retrieval import PageReading
from services.language.answers import compared_answer
from services.runbook.agreement import match_steps
from services.runbook.checking.approvals import ApprovalUse
from services.runbook.evidence.fact import Fact, FactKind, ScoredFact
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.lowering import lower
from services.workflow.graph import reachable, successors
from services.workflow.model import Step, StepKind, Workflow

BY_APPROVED = "approved"
"""Decider of the facts that an approved procedure states."""
STATED, CONTRADICTED = 0.98, 0.03
"""Chances of a fact that is stated, or contradicted. Neither is certain: people err too, and steps
are matched by their words.
"""

_Guard = tuple[str, bool | str]
"""Decision of the approved procedure with an answer, in the form that answers are compared in."""


class ApprovedProcedures:
    """Approved procedures of the pages of one ticket."""

    def __init__(self, pages: Sequence[PageReading]) -> None:
        self._pages = {page.document_id: page for page in pages}

    def settle(self, drawn: GroundedWorkflow, decided: Sequence[ScoredFact]) -> list[ScoredFact]:
        """Return the facts, those decided that an approved procedure of the same page covers.

        Of several procedures it is the one that shares most steps: whether the ticket wants it is a
        matter of relevance.
        """
        page = self._pages.get(drawn.page)
        checked = page.approved_for(ApprovalUse.FACTS) if page else ()
        approved = (lower(each, drawn.page) for each in checked)
        comparisons = [
            _ApprovedComparison(drawn, GroundedWorkflow(each, drawn.pages)) for each in approved
        ]
        closest = max(comparisons, key=lambda each: len(each.same), default=None)
        if closest is None:
            return list(decided)
        settled = []
        for each in decided:
            is_stated = closest.states(each.fact)
            chance = STATED if is_stated else CONTRADICTED
            settled.append(each if is_stated is None else each.with_chance(chance, BY_APPROVED))
        return settled


class _ApprovedComparison:
    """Comparison of a candidate with an approved procedure."""

    def __init__(self, drawn: GroundedWorkflow, approved: GroundedWorkflow) -> None:
        self._drawn = drawn
        self._approved = approved
        self._is_identical = _shape(drawn.workflow) == _shape(approved.workflow)

    @cached_property
    def same(self) -> Mapping[str, str]:
        """Steps of the approved procedure by the candidate's steps that say the same.

        Steps of other pages are left out, since line numbers are compared.
        """
        if self._is_identical:
            return {step.id: step.id for step in self._drawn.workflow.steps}
        steps = [
            s
            for s in self._drawn.workflow.steps
            if all(citation.document_id == self._drawn.page for citation in s.citations)
        ]
        theirs = self._approved.workflow.steps
        ids_by_content = {_content(step): step.id for step in theirs if step.citations}
        same_content = {
            s.id: ids_by_content[_content(s)] for s in steps if _content(s) in ids_by_content
        }
        taken = set(same_content.values())
        rest = match_steps(
            [s for s in steps if s.id not in same_content], [s for s in theirs if s.id not in taken]
        )
        return same_content | rest

    def states(self, fact: Fact) -> bool | None:
        """Return True if the procedure has the fact; None if it does not cover it."""
        if self._is_identical:
            return True
        if fact.kind is not FactKind.QUESTION and fact.step not in self.same:
            return None
        return _CHECKS[fact.kind](self, fact)

    def has_question(self, fact: Fact) -> bool | None:
        """Return True if the procedure asks the question, False if it covers its lines without."""
        if fact.step in self.same:
            return True
        lines, approved = self._drawn.lines[fact.step], self._approved
        covers_lines = bool(approved.steps_at(lines, approved.workflow.steps))
        return False if covers_lines and not approved.steps_at(lines, approved.decisions) else None

    def has_guard(self, fact: Fact) -> bool | None:
        """Check the guard; None if the procedure may word its question otherwise."""
        guards = self._guards_of(self.same[fact.step])
        if fact.other not in self.same:
            return None if guards else False
        return (self.same[fact.other], self._answer(fact.other, fact.answer)) in guards

    def is_unconditional(self, fact: Fact) -> bool | None:
        """Return True if the procedure does the step whatever was answered."""
        return not self._guards_of(self.same[fact.step])

    def _guards_of(self, step: str) -> set[_Guard]:
        by_id = self._approved.workflow.by_id
        return {
            (guard.decision, compared_answer(by_id[guard.decision].text, guard.answer))
            for guard in self._approved.guards.get(step, ())
        }

    def _answer(self, question: str, answer: str) -> bool | str:
        return compared_answer(self._drawn.workflow.by_id[question].text, answer)

    def has_transition(self, fact: Fact) -> bool | None:
        """Check the transition; None if it leaves steps out, which is a matter of coverage."""
        if fact.other not in self.same:
            return None
        source, target = self.same[fact.step], self.same[fact.other]
        workflow, answer = self._approved.workflow, self._answer(fact.step, fact.answer)
        question, exits = workflow.by_id[source].text, workflow.exits(source)
        on = [way for way in exits if compared_answer(question, way.condition) == answer]
        ways = on or exits  # all of them if the answers are worded otherwise
        if any(way.target == target for way in ways):
            return True
        left_out = workflow.by_id.keys() - set(self.same.values())
        through = _reachable_through([way.target for way in ways], workflow, left_out)
        return None if target in through else False

    def is_end(self, fact: Fact) -> bool | None:
        """Return True if nothing that a line states follows the step."""
        workflow = self._approved.workflow
        implied = {s.id for s in workflow.steps if not s.citations}
        after = [way.target for way in workflow.exits(self.same[fact.step])]
        return not _reachable_through(after, workflow, implied) - implied


_CHECKS: Mapping[FactKind, Callable[[_ApprovedComparison, Fact], bool | None]] = {
    FactKind.QUESTION: _ApprovedComparison.has_question,
    FactKind.GUARD: _ApprovedComparison.has_guard,
    FactKind.FREE: _ApprovedComparison.is_unconditional,
    FactKind.ARROW: _ApprovedComparison.has_transition,
    FactKind.END: _ApprovedComparison.is_end,
}


def _reachable_through(
    begin: Iterable[str], workflow: Workflow, through: Collection[str]
) -> set[str]:
    """Return the steps reached from these without passing any others than those of `through`."""
    arrows = successors(workflow.transitions)
    return {
        step_id
        for start in begin
        for step_id in reachable(start, arrows, passes=lambda passed: passed in through)
    }


def _content(step: Step) -> tuple[object, ...]:
    is_question = step.kind is StepKind.DECISION
    return is_question, step.text, step.node, step.citations


def _shape(workflow: Workflow) -> tuple[object, ...]:
    """Return the content of a drawing, whoever drew it."""
    steps = tuple((step.id, step.kind, step.text, step.citations) for step in workflow.steps)
    return steps, frozenset(workflow.transitions)
