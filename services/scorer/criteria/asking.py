"""Do the decisions ask, and do their exits answer?"""

from services.language.answers import is_both
from services.language.verbs import begins_with_verb
from services.scorer.criteria.case import Case
from services.scorer.criteria.wording import is_question
from services.workflow.model import Step, StepKind


def decisions_ask(case: Case) -> float:
    """Share of the decisions that ask or check, less that of the other steps that ask."""
    steps = case.workflow.steps
    asking = [_asks(step) for step in steps if step.kind is StepKind.DECISION]
    beside = [is_question(step.text) for step in steps if step.kind is not StepKind.DECISION]
    return (sum(asking) / len(asking) if asking else 1.0) - _share(beside)


def exits_answer(case: Case) -> float:
    """Share of the labelled exits whose condition is one answer and not yes and no at once."""
    conditions = [edge.condition for edge in case.workflow.transitions if edge.condition]
    if not conditions:
        return 1.0
    return 1 - _share([is_both(condition) for condition in conditions])


def _asks(step: Step) -> bool:
    return is_question(step.text) or begins_with_verb(step.text)


def _share(values: list[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
