"""Questions about branches of a procedure that depend on what the ticket does not say."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from services.language.answers import answer_of
from services.language.deeds import reports_deed
from services.language.sentences import sentences
from services.language.words import tokenise
from services.tickets.clarify.decision_question import question_text
from services.tickets.clarify.dialogue import Dialogue
from services.tickets.ticket.question import (
    AnswerChoice,
    ClarifyingQuestion,
    DecisionAnswer,
    QuestionTopic,
    answered_exits,
    words,
)
from services.workflow.effects.effect import effect_of
from services.workflow.graph import reachable, successors
from services.workflow.model import Step, StepKind, Transition, Workflow
from services.workflow.read_only import is_read_only_step


class Situation:
    """A workflow restricted to the exits that the answers leave open."""

    def __init__(self, workflow: Workflow, answers: Mapping[str, str]) -> None:
        """Restrict the workflow by `answers`: the condition that holds, by the decision's id."""
        self.workflow = workflow
        self.answers = answers
        self._start = workflow.steps[0].id
        self._successors = successors(self._open_transitions(answers))

    def steps_left(self, also: Mapping[str, str] | None = None) -> set[str]:
        """Return the steps that may still have to be done; fewer if `also` is answered."""
        edges = (
            successors(self._open_transitions({**self.answers, **also}))
            if also
            else self._successors
        )
        return reachable(self._start, edges)

    def exits(self, step_id: str) -> Sequence[Transition]:
        """Return the exits of a step that are still open."""
        answer = self.answers.get(step_id)
        exits = self.workflow.exits(step_id)
        return exits if answer is None else [edge for edge in exits if edge.condition == answer]

    @cached_property
    def at_the_start(self) -> set[str]:
        """Steps reached before anything has been changed: the states they ask for are there now."""
        by_id = self.workflow.by_id
        return reachable(
            self._start, self._successors, passes=lambda id_: not may_change_state(by_id[id_])
        )

    @cached_property
    def chances(self) -> Mapping[str, float]:
        """Probability that each step is reached, if all answers are equally likely.

        No loop is followed twice.
        """
        order = self._topological_order()
        place = {id_: number for number, id_ in enumerate(order)}
        chance = dict.fromkeys(order, 0.0)
        chance[self._start] = 1.0
        for id_ in order:
            onward = [to for to in self._successors.get(id_, ()) if place[to] > place[id_]]
            for to in onward:
                chance[to] += chance[id_] / len(onward)
        return chance

    def _topological_order(self) -> list[str]:
        """Return each step before those it leads to, except for arrows that lead back."""
        finished: list[str] = []
        seen = {self._start}
        open_ = [(self._start, iter(self._successors.get(self._start, ())))]
        while open_:
            id_, onward = open_[-1]
            following = next((to for to in onward if to not in seen), None)
            if following is None:
                finished.append(id_)
                open_.pop()
            else:
                seen.add(following)
                open_.append((following, iter(self._successors.get(following, ()))))
        return finished[::-1]

    def _open_transitions(self, answers: Mapping[str, str]) -> list[Transition]:
        return [
            edge
            for edge in self.workflow.transitions
            if answers.get(edge.source, edge.condition) == edge.condition
        ]


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
    workflow: Workflow, dialogue: Dialogue, texts: Mapping[str, str] | None = None
) -> list[ClarifyingQuestion]:
    """Return the questions whose answers may cut steps away, the most expected steps first.

    `texts` holds the pages by their ids: a decision that asks badly is asked in their words.
    """
    if not workflow.steps:
        return []
    situation = Situation(workflow, answered_exits(workflow, dialogue.facts))
    questions = []
    for step in _open_decisions(situation, dialogue):
        answers = [edge.condition for edge in situation.exits(step.id) if edge.condition]
        text = question_text(step, list(dict.fromkeys(answers)), texts or {})
        if text:
            questions.append(decision_question(situation, step, text))
    return sorted((each for each in questions if each.gain > 0), key=lambda each: -each.gain)


def _open_decisions(situation: Situation, dialogue: Dialogue) -> list[Step]:
    """List the decisions a person can be asked now: states, not outcomes of remedies.

    What the ticket says is not asked, nor what was answered, however often the page asks it.
    """
    answered = {
        words(text) for text in (*dialogue.unknown, *(fact.decision for fact in dialogue.facts))
    }
    decisions = []
    for step in situation.workflow.of_kind(StepKind.DECISION):
        outcome = _HELPED if step.id in situation.at_the_start else _OUTCOME
        if (
            step.id in situation.chances
            and len({edge.target for edge in situation.exits(step.id) if edge.condition}) > 1
            and step.id not in situation.answers
            and not (step.implied or outcome.search(step.text))
            and words(step.text) not in answered
        ):
            decisions.append(step)
    ticket_text = "\n".join((dialogue.ticket_text, *dialogue.own_words))
    unanswered = set(list_unanswered(ticket_text, [step.text for step in decisions]))
    return [step for step in decisions if step.text in unanswered]


def decision_question(situation: Situation, step: Step, text: str = "") -> ClarifyingQuestion:
    """Build the question of one decision, in these words or its own; it settles nothing else."""
    left, choices, saved = situation.steps_left(), list[AnswerChoice](), list[int]()
    for answer in dict.fromkeys(edge.condition for edge in situation.exits(step.id)):
        if not answer:
            continue
        # A state that does not hold adds no words to the search.
        holds = answer_of(answer)
        says = "" if holds < 0 else step.text if holds else f"{step.text} {answer}"
        fact = DecisionAnswer(decision=step.text, answer=answer, node=step.node)
        choices.append(AnswerChoice(text=answer, facts=(fact,), says=says))
        settled = answered_exits(situation.workflow, (fact,))
        saved.append(len((left - situation.steps_left(settled)) | settled.keys()))
    sure = 1.0 if step.id in situation.at_the_start else _LATER
    return ClarifyingQuestion(
        text=text or step.text,
        choices=tuple(choices),
        about=QuestionTopic.STEPS,
        gain=sure * situation.chances[step.id] * sum(saved) / len(saved) if saved else 0.0,
        decisions=(step.text,),
    )


def may_change_state(step: Step) -> bool:
    """Return True if an engineer who has done the step may have changed something.

    Whatever does not only look counts as a change: a question about its outcome, asked before it is
    done, would have an answer that is not true yet.
    """
    if step.kind is not StepKind.PROCESS:
        return False
    if step.commands and not step.block:
        return not all(effect_of(command).only_looks for command in step.commands)
    return not is_read_only_step(step)


_SHARE = 0.8
"""Share of a question's words from which a ticket is about what it asks."""
_MOST_SENTENCES = 16
_LONGEST = 400
"""Characters of a sentence that are compared."""


def list_unanswered(ticket_text: str, questions: Sequence[str]) -> list[str]:
    """Return the questions that neither the ticket's words nor a deed in it answers, in order."""
    ticket_words = frozenset(tokenise(ticket_text))
    distinct = dict.fromkeys(each for line in ticket_text.splitlines() for each in sentences(line))
    statements = [each[:_LONGEST] for each in distinct][:_MOST_SENTENCES]
    unanswered = []
    for question in questions:
        asks = set(tokenise(question))
        by_words = bool(asks) and len(asks & ticket_words) >= _SHARE * len(asks)
        if not by_words and not any(reports_deed(question, each) for each in statements):
            unanswered.append(question)
    return unanswered
