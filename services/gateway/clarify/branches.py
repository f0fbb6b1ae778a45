"""Questions about the branches of a procedure that hang on what the ticket does not say."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from services.gateway.clarify.dialogue import Dialogue
from services.gateway.clarify.situation import Situation, changes
from services.gateway.clarify.ticket_statements import TicketStatements
from services.gateway.ticket.question import About, Choice, Fact, Question, known_in, words
from services.language.answers import answer_of
from services.workflow.model import Step, StepKind, Workflow

MOST_CHOICES = 6
"""What a person takes in at a glance; further ones are left for another question."""
NONE_OF_THESE = "None of these"
FIRST_OF = "Which is the first of these that is so? Those above it then count as not so."
_LATER = 0.25
"""Share of the gain where a remedy comes before the question: its state may not be there yet."""
_OUTCOME = re.compile(
    r"\b(?:help(?:s|ed)?|again|still|now|after|resolved?|fix(?:es|ed)?|back|remains?|persists?"
    r"|succe\w+|no longer)\b",
    re.IGNORECASE,
)
"""Words by which a question behind a remedy asks for what came of it."""
_HELPED = re.compile(r"\bhelp(?:s|ed)?\b", re.IGNORECASE)
_UNNAMED = re.compile(
    r"(?:\w+\s+){1,2}(?:it|they|this|these|those|that|its|their)\b", re.IGNORECASE
)
"""A question whose subject is named by the step before it."""


def branch_questions(workflow: Workflow, asked: Dialogue) -> list[Question]:
    """Those that an answer may cut steps away by, the most expected steps first."""
    if not workflow.steps:
        return []
    situation = Situation(workflow, known_in(workflow, asked.facts))
    open_ = _open_decisions(situation, asked)
    found = [each for each in _questions(situation, open_) if each.gain > 0]
    return sorted(found, key=lambda each: -each.gain)


def _open_decisions(situation: Situation, asked: Dialogue) -> dict[str, Step]:
    """What can be asked of a person now: states and observations, no outcomes of remedies.

    What the ticket says is not asked.
    """
    unknown = {words(text) for text in asked.unknown}
    found = [
        step
        for step in situation.workflow.of_kind(StepKind.DECISION)
        if step.id in situation.chances
        and len({edge.condition for edge in situation.exits(step.id) if edge.condition}) > 1
        and step.id not in situation.known
        and not _is_outcome(situation, step)
        and words(step.text) not in unknown
    ]
    said = TicketStatements("\n".join((asked.ticket_text, *asked.own_words)))
    unsaid = set(said.open([step.text for step in found]))
    return {step.id: step for step in found if step.text in unsaid}


def _is_outcome(situation: Situation, step: Step) -> bool:
    """Whether it asks what came of a remedy."""
    outcome = _HELPED if step.id in situation.at_the_start else _OUTCOME
    return step.implied or outcome.search(step.text) is not None


# Chains: decisions each of which is come to when the one before is answered by the other word.


@dataclass(frozen=True)
class _Link:
    """A decision, the answer that leads out of the chain, and the one that goes on in it."""

    step: Step
    leaving: str
    onward: str


def _chain(situation: Situation, open_: Mapping[str, Step], first: Step) -> list[_Link]:
    """From this decision on; empty where it is none that yes and no answer."""
    links: list[_Link] = []
    step: Step | None = first
    while step and len(links) < MOST_CHOICES - 1 and all(step.id != each.step.id for each in links):
        exits = situation.exits(step.id)
        leading = {edge.condition: _next_decision(situation, edge.target) for edge in exits}
        if sorted(map(answer_of, leading)) != [-1.0, 1.0] or len(exits) != len(leading):
            break
        onward = _onward(leading, open_, links)
        leaving = next(answer for answer in leading if answer != onward)
        if answer_of(leaving) < 0:  # among what is so, what is not so would be misread
            break
        links.append(_Link(step, leaving, onward))
        step = open_.get(leading[onward])
    return links


def _onward(leading: Mapping[str, str], open_: Collection[str], before: Sequence[_Link]) -> str:
    """The answer that leads to another question; rather the one that went on before, then No."""
    rather = answer_of(before[-1].onward) if before else -1.0
    return min(leading, key=lambda each: (leading[each] not in open_, answer_of(each) != rather))


def _next_decision(situation: Situation, step_id: str) -> str:
    """The decision that follows without anything being changed; empty where none does."""
    seen: set[str] = set()
    while step_id not in seen:
        seen.add(step_id)
        step, exits = situation.workflow.by_id[step_id], situation.exits(step_id)
        if step.kind is StepKind.DECISION and len(exits) > 1:
            return step_id
        if changes(step) or len(exits) != 1:
            return ""
        step_id = exits[0].target
    return ""


# Questions.


def _questions(situation: Situation, open_: Mapping[str, Step]) -> Iterator[Question]:
    for step in open_.values():
        chain = _chain(situation, open_, step)
        yield _of_chain(situation, chain) if len(chain) > 1 else of_decision(situation, step)


def of_decision(situation: Situation, step: Step) -> Question:
    """The question of one decision, in its own words."""
    answers = dict.fromkeys(edge.condition for edge in situation.exits(step.id))
    choices = [_choice(answer, [_fact(step, answer)]) for answer in answers if answer]
    return _question(situation, _named(situation, step), choices, [step])


def _of_chain(situation: Situation, chain: Sequence[_Link]) -> Question:
    """Which decision is the first to hold, or that none does."""
    passed: list[Fact] = []
    choices = []
    for link in chain:
        text = f"{_named(situation, link.step)} {link.leaving}"
        choices.append(_choice(text, [*passed, _fact(link.step, link.leaving)]))
        passed.append(_fact(link.step, link.onward))
    choices.append(_choice(NONE_OF_THESE, passed))
    return _question(situation, FIRST_OF, choices, [link.step for link in chain])


def _named(situation: Situation, step: Step) -> str:
    """The decision in words that stand alone: one about `it` says which step it is about."""
    by_id = situation.workflow.by_id
    before = [by_id[edge.source] for edge in situation.workflow.entries(step.id)]
    is_one = len(before) == 1 and before[0].kind is StepKind.PROCESS
    if not is_one or not _UNNAMED.match(step.text):
        return step.text
    done = before[0].text
    return f"{done.rstrip(' .:;')}: {step.text}"


def _question(
    situation: Situation, text: str, choices: Sequence[Choice], steps: Sequence[Step]
) -> Question:
    return Question(
        text=text,
        choices=tuple(choices),
        about=About.STEPS,
        gain=_gain(situation, steps[0], choices),
        decisions=tuple(step.text for step in steps),
    )


def _gain(situation: Situation, first: Step, choices: Sequence[Choice]) -> float:
    """Steps that need not be done after an answer, on the average, when the question is come to.

    A decision that is answered is one of them.
    """
    left = situation.left()
    saved = [_saved(situation, left, choice) for choice in choices]
    sure = 1.0 if first.id in situation.at_the_start else _LATER
    return sure * situation.chances[first.id] * sum(saved) / len(saved) if saved else 0.0


def _saved(situation: Situation, left: Set[str], choice: Choice) -> int:
    known = known_in(situation.workflow, choice.facts)
    return len((left - situation.left(known)) | known.keys())


def _choice(text: str, facts: Sequence[Fact]) -> Choice:
    return Choice(text=text, facts=tuple(facts), says=" ".join(filter(None, map(_says, facts))))


def _says(fact: Fact) -> str:
    """What the fact adds to a search: a state that does not hold is no word to search by."""
    answer = answer_of(fact.answer)
    if answer < 0:
        return ""
    return fact.decision if answer else f"{fact.decision} {fact.answer}"


def _fact(step: Step, answer: str) -> Fact:
    return Fact(decision=step.text, answer=answer, node=step.node)
