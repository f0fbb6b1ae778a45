"""Whether an answer to a question leads to what stands under it."""

from services.language.answers import answer_of
from services.language.cues import is_outcome, is_success
from services.language.deeds import first_stem, mends
from services.language.states import negates, polarity
from services.language.words import tokenise
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.signs.words import is_negated
from services.workflow.model import Step, StepKind

_PLAIN = {"yes": 1.0, "no": -1.0}


def answered(drawn: Drawn, question: Step, step: Step, answer: str) -> dict[str, float]:
    """Signs of the answer beside the words of the question, of the step and of their lines."""
    said = _PLAIN.get(answer.strip().casefold()) or answer_of(answer)
    asked_lines = drawn.source.text(drawn.lines[question.id])
    told_lines = drawn.source.text(drawn.lines[step.id])
    tone = polarity(question.text)
    asks = float(step.kind is StepKind.DECISION)
    negated = -1.0 if negates(question.text) else 1.0
    return {
        "answer": said,
        "answer in words": float(not said),
        "answer, question": said * negated,
        "answer, question and its lines": said * negated * _sign(asked_lines),
        "answer, question and lines of the step": said * negated * _sign(told_lines),
        "answer, tone": said * tone,
        "answer, negated step": said * float(negates(step.text)),
        "answer, remedy": said * float(mends(first_stem(step.text))) * tone,
        "answer, question follows": said * asks,
        "answer, tone, question follows": said * asks * tone,
        "answer, end follows": said * float(step.kind is StepKind.TERMINAL),
        "answer, outcome": said * float(is_outcome(question.text)),
        "answer, success": said * float(is_success(question.text)),
        "exits": float(len(drawn.workflow.exits(question.id))),
        **_words(drawn, question, step, "" if said else answer),
    }


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of the shorter's words that the other has."""
    return len(one & other) / max(1, min(len(one), len(other)))


def terms(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(tokenise(text))


def _words(drawn: Drawn, question: Step, step: Step, answer: str) -> dict[str, float]:
    asked, own = terms(question.text), terms(answer)
    lines = drawn.source.terms(drawn.lines[step.id])
    return {
        "answer said by step": shared(own, lines | terms(step.text)),
        "answer said by question": shared(own, drawn.source.terms(drawn.lines[question.id])),
        "question said by lines of the step": shared(asked, lines),
        "question said by step": shared(asked, terms(step.text)),
    }


def _sign(text: str) -> float:
    return -1.0 if is_negated(text) else 1.0
