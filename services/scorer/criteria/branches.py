"""Does each answer of a question lead where it should?

A question about a fault is answered well or badly; a remedy belongs to the bad answer, the next
question to the good one. What the words leave open, the causes that the sources name and the tone
of the texts help to decide.
"""

from collections.abc import Mapping

from services.grounding.evidence import terms_of
from services.knowledge.model import SectionRole
from services.language.answers import answer_of
from services.language.deeds import checks, cuts, first_stem, mends, supplies
from services.language.states import lacks, names_fault, negates, polarity
from services.language.verbs import begins_with_verb
from services.scorer.criteria.case import Case
from services.scorer.criteria.wording import is_question
from services.workflow.model import Step, StepKind, Transition

TONES = (
    "Everything is present, valid and healthy.",
    "Something is broken, missing, failing or expired.",
)
"""Texts whose vectors, one less the other, point from faulty to fine."""


_CAUSES_AMONG = 40
"""Sentences nearest to a question among which a cause is looked for."""
_WEIGHTS: Mapping[str, float] = {
    "state, goes on": 0.36,
    "state, mends": -0.51,
    "state, checks": 0.08,
    "state, other": 0.07,
    "yes, goes on": 0.25,
    "yes, checks": -0.28,
    "cause, goes on": 0.29,
    "cause, mends": -0.19,
    "cause, checks": 0.33,
    "cause, other": -0.43,
    "state, shared words": -0.35,
    "state, near": -0.17,
    "yes, shared words": 0.18,
    "yes, near": 0.30,
    "yes, supplies": -0.31,
    "yes, cuts": 0.21,
    "yes, names a fault": -0.36,
    "yes, negates": -0.13,
    "yes, tone of an end": 0.16,
    "yes, tone of the question, near": 0.17,
    "yes, both tones": -0.28,
}
"""Logistic regression of decisions as written against the same with exits exchanged, fitted on the
even ids of the benchmark; right for 77% of the decisions of the odd ones."""


def exits_fit(case: Case) -> float:
    """Mean fit of the answers and where they lead, -1–1; 0 where nothing tells."""
    workflow = case.workflow
    fits = [
        _fit(case, step, edge, workflow.by_id[edge.target])
        for step in workflow.of_kind(StepKind.DECISION)
        for edge in workflow.exits(step.id)
        if edge.condition
    ]
    return max(-1.0, min(1.0, sum(fits) / len(fits))) if fits else 0.0


def _fit(case: Case, question: Step, edge: Transition, target: Step) -> float:
    answer = answer_of(edge.condition)
    state = answer * polarity(question.text) if answer else polarity(edge.condition)
    kind, first = _kind(target), first_stem(target.text)
    shared, near = _shared(question.text, target.text), _near(case, question, target)
    tone, end = _tone(case, question), _tone(case, target)
    signs = {
        f"state, {kind}": state,
        f"yes, {kind}": answer,
        f"cause, {kind}": answer * _lack(case, question),
        "state, shared words": state * shared,
        "state, near": state * near,
        "yes, shared words": answer * shared,
        "yes, near": answer * near,
        "yes, supplies": answer * supplies(first),
        "yes, cuts": answer * cuts(first),
        "yes, names a fault": answer * names_fault(target.text),
        "yes, negates": answer * negates(target.text),
        "yes, tone of an end": answer * end * (kind != "goes on"),
        "yes, tone of the question, near": answer * tone * near,
        "yes, both tones": answer * tone * end,
    }
    return sum(_WEIGHTS.get(name, 0.0) * value for name, value in signs.items())


def _kind(target: Step) -> str:
    if target.kind is StepKind.DECISION or is_question(target.text):
        return "goes on"
    first = first_stem(target.text)
    if checks(first):
        return "checks"
    return "mends" if mends(first) or begins_with_verb(target.text) else "other"


def _lack(case: Case, question: Step) -> float:
    """Whether a cause is that what is asked for is missing (1) or that it is there (-1).

    Less by how little of the question the cause says; 0 when no cause speaks of it.
    """
    for unit, share in case.evidence.nearest(terms_of(question.text), _CAUSES_AMONG):
        if unit.role is SectionRole.CAUSE:
            return share if lacks(unit.text) else -share
    return 0.0


def _near(case: Case, question: Step, target: Step) -> float:
    """Cosine of the two; 0 where it was not asked for."""
    a, b = case.vectors.get(question.text), case.vectors.get(target.text)
    return 0.0 if a is None or b is None else float(a @ b)


def _tone(case: Case, step: Step) -> float:
    """About -1–1, faulty to fine, by meaning; 0 where it was not asked for."""
    vector = case.vectors.get(step.text)
    fine, faulty = (case.vectors.get(tone) for tone in TONES)
    if vector is None or fine is None or faulty is None:
        return 0.0
    return 5 * float(vector @ (fine - faulty))


def _shared(question: str, target: str) -> float:
    a, b = terms_of(question), terms_of(target)
    return len(a & b) / max(1, min(len(a), len(b)))
