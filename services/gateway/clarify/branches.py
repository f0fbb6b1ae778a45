"""Questions about the branches of a procedure that hang on what the ticket does not say."""

import re
from collections.abc import Mapping, Sequence, Set

from services.gateway.clarify.asked_words import asked_words
from services.gateway.clarify.dialogue import Dialogue
from services.gateway.clarify.situation import Situation
from services.gateway.clarify.ticket_statements import TicketStatements
from services.gateway.ticket.question import About, Choice, Fact, Question, known_in, words
from services.language.answers import answer_of
from services.workflow.model import Step, StepKind, Workflow

_LATER = 0.25
"""Share of the gain where a remedy comes before the question: its state may not be there yet."""
_OUTCOME = re.compile(
    r"\b(?:help(?:s|ed)?|again|still|now|after(?:wards)?|resolved?|fix(?:es|ed)?|back|remains?|persists?"
    r"|succe\w+|no longer)\b",
    re.IGNORECASE,
)
"""Words by which a question behind a remedy asks for what came of it."""
_HELPED = re.compile(r"\bhelp(?:s|ed)?\b", re.IGNORECASE)


def branch_questions(
    workflow: Workflow, asked: Dialogue, texts: Mapping[str, str] | None = None
) -> list[Question]:
    """Those that an answer may cut steps away by, the most expected steps first.

    `texts` of the pages by their ids: a decision that asks badly is asked in their words.
    """
    if not workflow.steps:
        return []
    situation = Situation(workflow, known_in(workflow, asked.facts))
    found = []
    for step in _open_decisions(situation, asked):
        answers = [edge.condition for edge in situation.exits(step.id) if edge.condition]
        text = asked_words(step, list(dict.fromkeys(answers)), texts or {})
        if text:
            found.append(of_decision(situation, step, text))
    return sorted((each for each in found if each.gain > 0), key=lambda each: -each.gain)


def _open_decisions(situation: Situation, asked: Dialogue) -> list[Step]:
    """What can be asked of a person now: states and observations, no outcomes of remedies.

    What the ticket says is not asked, nor what was answered, wherever the page says it again.
    """
    told = {words(text) for text in (*asked.unknown, *(fact.decision for fact in asked.facts))}
    found = [
        step
        for step in situation.workflow.of_kind(StepKind.DECISION)
        if step.id in situation.chances
        and len({edge.target for edge in situation.exits(step.id) if edge.condition}) > 1
        and step.id not in situation.known
        and not _is_outcome(situation, step)
        and words(step.text) not in told
    ]
    said = TicketStatements("\n".join((asked.ticket_text, *asked.own_words)))
    unsaid = set(said.open([step.text for step in found]))
    return [step for step in found if step.text in unsaid]


def _is_outcome(situation: Situation, step: Step) -> bool:
    """Whether it asks what came of a remedy."""
    outcome = _HELPED if step.id in situation.at_the_start else _OUTCOME
    return step.implied or outcome.search(step.text) is not None


def of_decision(situation: Situation, step: Step, text: str = "") -> Question:
    """The question of one decision, in these words or in its own; it settles nothing else."""
    answers = dict.fromkeys(edge.condition for edge in situation.exits(step.id))
    choices = [_choice(step, answer) for answer in answers if answer]
    return Question(
        text=text or step.text,
        choices=tuple(choices),
        about=About.STEPS,
        gain=_gain(situation, step, choices),
        decisions=(step.text,),
    )


def _gain(situation: Situation, step: Step, choices: Sequence[Choice]) -> float:
    """Steps that need not be done after an answer, on the average, when the question is come to.

    A decision that is answered is one of them.
    """
    left = situation.left()
    saved = [_saved(situation, left, choice) for choice in choices]
    sure = 1.0 if step.id in situation.at_the_start else _LATER
    return sure * situation.chances[step.id] * sum(saved) / len(saved) if saved else 0.0


def _saved(situation: Situation, left: Set[str], choice: Choice) -> int:
    known = known_in(situation.workflow, choice.facts)
    return len((left - situation.left(known)) | known.keys())


def _choice(step: Step, answer: str) -> Choice:
    """The answer; a state that does not hold is no word to search by."""
    holds = answer_of(answer)
    says = "" if holds < 0 else step.text if holds else f"{step.text} {answer}"
    fact = Fact(decision=step.text, answer=answer, node=step.node)
    return Choice(text=answer, facts=(fact,), says=says)
