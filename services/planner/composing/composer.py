"""Composing: see `contracts.composing.Composing`."""

import hashlib
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import structlog

from services.contracts.composing import (
    ComposeAnswer,
    ComposedCall,
    ComposeRequest,
    Composition,
    CompositionProposal,
    EditInWords,
    WordedEdit,
)
from services.contracts.execution import Execution
from services.contracts.proposals import ProposalOrigin, ProposedPage
from services.contracts.readings import Readings
from services.kit.access.caller import Caller, current_caller
from services.kit.errors import UnavailableError
from services.kit.observability.metrics import stage_timer
from services.knowledge.ports import Embedder
from services.llm.guard import Budget, GuardedChatModel
from services.planner.composing import edits, without_model
from services.planner.composing.asking import Asking
from services.planner.composing.catalogue.component import Components, of_tool
from services.planner.composing.catalogue.filtering import ComponentFilter
from services.planner.composing.drafting import draft
from services.planner.composing.errors import (
    BadDraftError,
    NeedsModelError,
    NothingToComposeError,
    NotReadyError,
)
from services.planner.composing.filling import given_again, question_id
from services.planner.composing.team import ORCHESTRATOR, SUPERVISORS, Task, Team
from services.planner.composing.words.secrets import without_secrets
from services.planner.settings import PlannerSettings
from services.procedure.checking.check import UnusableReadingError, refuse_large
from services.procedure.editing.apply import with_ids
from services.procedure.model import Reader, Reading

_log = structlog.get_logger()

CORRECTIONS = 2
"""Times that a member of the team is told what is wrong with its answer."""
RULES = "rules"


class Around(Protocol):
    """Other rooms, asked for when they are needed."""

    @property
    def execution(self) -> Execution:
        """Whose catalogue is composed over."""

    @property
    def readings(self) -> Callable[[Caller], Readings]:
        """Of which edits are looked at."""


class Composer:
    """With a model a team composes, without one rules do what they can."""

    def __init__(
        self,
        settings: PlannerSettings,
        around: Around,
        embedder: Callable[[], Embedder],
        model: GuardedChatModel | None = None,
    ) -> None:
        """`embedder` is asked for when something is composed: whoever only plans needs none."""
        self._settings = settings
        self._around = around
        self._model = model
        self._embedder = embedder

    @cached_property
    def _filter(self) -> ComponentFilter:
        return ComponentFilter(self._embedder())

    def compose(self, wanted: ComposeRequest) -> Composition:
        """See `Composing.compose`."""
        components = Components(map(of_tool, self._around.execution.tools()))
        instruction = without_secrets(" ".join(wanted.instruction.split(" "))).strip()
        answers = [_safe(each) for each in wanted.answers]
        with stage_timer("planner", "compose"):
            if wanted.draft is None:
                return self._new(instruction, answers, components)
            known = _checked(wanted.draft, components)
            told = [each.answer for each in answers if each.question == SUPERVISORS]
            change = " ".join(filter(None, (instruction, *told)))
            if change:
                return self._changed(known, change, answers, components)
            return _again(known, answers, components)

    def page(self, wanted: CompositionProposal) -> ProposedPage:
        """See `Composing.page`."""
        components = Components(map(of_tool, self._around.execution.tools()))
        ready = _again(_checked(wanted.draft, components), (), components)
        _check_ready(ready, wanted.words)
        is_by_model = ready.composed_by != RULES
        reading = Reading(
            reader=Reader.MODEL if is_by_model else Reader.COMPOSED,
            version=ORCHESTRATOR.label if is_by_model else "",
            model=ready.composed_by.removeprefix("team ") if is_by_model else "",
            procedures=(ready.procedure,),
        )
        return ProposedPage(
            key=f"composed:{hashlib.sha256(ready.text.encode()).hexdigest()[:32]}",
            title=ready.title,
            text=ready.text,
            reading=reading,
            origin=ProposalOrigin.COMPOSED,
        )

    def edit_in_words(self, wanted: EditInWords) -> WordedEdit:
        """See `Composing.edit_in_words`."""
        readings = self._around.readings(current_caller())
        with stage_timer("planner", "edit"):
            asking = self._asking() if self._model else None
            return edits.worded(wanted, readings, asking)

    def _new(
        self, instruction: str, answers: Sequence[ComposeAnswer], components: Components
    ) -> Composition:
        if not instruction:
            raise NothingToComposeError("say what is to be done")
        notes: list[str] = []
        if self._model is not None:
            task = self._task([instruction], answers, components)
            team = Team(self._asking(), task)
            found = team.compose()
            if found is not None:
                return found
            notes = team.notes
        try:
            made = without_model.composed(instruction, components, self._filter)
        except NeedsModelError as error:
            if notes:
                raise UnavailableError(f"{notes[-1]}; {error}") from error
            raise
        return draft(
            made.plan.procedure,
            made.plan.calls(components),
            made.given,
            title="",
            said=[instruction],
            answers=answers,
            components=components,
            composed_by=RULES,
            notes=[*notes, *made.notes],
        )

    def _changed(
        self,
        known: Composition,
        change: str,
        answers: Sequence[ComposeAnswer],
        components: Components,
    ) -> Composition:
        if self._model is None:
            raise NeedsModelError("a draft is changed by a language model, and none is set")
        said = [*known.said, change]
        task = self._task(said, [*known.answers, *answers], components)
        task.before = known if known.procedure.body else None
        team = Team(self._asking(), task)
        found = team.compose()
        if found is None:
            raise UnavailableError("; ".join(team.notes) or "the model did not change the draft")
        return found

    def _task(
        self, said: Sequence[str], answers: Sequence[ComposeAnswer], components: Components
    ) -> Task:
        most = self._settings.compose_components
        ranked = self._filter.ranked("\n".join(said), components, most)
        name = self._model.name if self._model else ""
        return Task(said, answers, components, ranked, f"team {name}")

    def _asking(self) -> Asking:
        assert self._model is not None  # noqa: S101 - asked for only with a model
        budget = Budget(self._settings.ticket_tokens, prices=self._model.prices)
        return Asking(
            self._model.with_budget(budget),
            ends=time.monotonic() + self._settings.compose_deadline_s,
            max_tokens=self._settings.max_tokens,
            temperature=self._settings.compose_temperature,
            corrections=CORRECTIONS,
        )


def _again(
    known: Composition, answers: Sequence[ComposeAnswer], components: Components
) -> Composition:
    """The draft with further answers, made anew of what it says: nothing else of it is believed."""
    told = {each.question: each for each in (*known.answers, *answers)}
    given = {step: dict(values) for step, values in given_again(known.calls).items()}
    said = "\n".join(known.said)
    for call in known.calls:
        chosen = told.get(question_id(call.step, ""))
        component = components.named(chosen.answer.strip()) if chosen else None
        if component is not None and component.name in call.options:
            given[call.step] = dict(without_model.literal_values(component, said))
    return draft(
        known.procedure,
        known.calls,
        given,
        title=known.title,
        said=known.said,
        answers=tuple(told.values()),
        components=components,
        composed_by=known.composed_by,
        questions=[each for each in known.questions if each.id == SUPERVISORS],
    )


def _checked(given: Composition, components: Components) -> Composition:
    """A draft that was sent back, its steps numbered and its calls known.

    Raises:
        BadDraftError: It is too large, or tells of steps that it does not have.
    """
    try:
        refuse_large(Reading(reader=Reader.PERSON, procedures=(given.procedure,)))
    except UnusableReadingError as error:
        raise BadDraftError(f"draft: {error}") from error
    procedure = with_ids(given.procedure)
    ids = {node.id for node in procedure.walk()}
    if unknown := [call.step for call in given.calls if call.step not in ids]:
        raise BadDraftError(f"draft: it has no step {unknown[0]!r}")
    update = {
        "procedure": procedure,
        "calls": tuple(_known(call, components) for call in given.calls),
        "said": tuple(map(without_secrets, given.said)),
        "answers": tuple(map(_safe, given.answers)),
    }
    return given.model_copy(update=update)


def _known(call: ComposedCall, components: Components) -> ComposedCall:
    if not call.component or components.named(call.component):
        return call
    raise BadDraftError(f"draft: the catalogue has no component {call.component!r}")


def _safe(answer: ComposeAnswer) -> ComposeAnswer:
    return answer.model_copy(update={"answer": without_secrets(answer.answer)})


def _check_ready(ready: Composition, words: str) -> None:
    if not ready.procedure.body:
        raise NotReadyError("there is no step to propose")
    if ready.questions:
        asked = "; ".join(each.text for each in ready.questions[:3])
        raise NotReadyError(f"{len(ready.questions)} questions are open: {asked}"[:1000])
    if ready.errors:
        raise NotReadyError(f"checks find errors: {ready.findings[0]}"[:1000])
    if ready.words and " ".join(words.casefold().split()) != ready.words.casefold():
        raise NotReadyError(f"it destroys something: say {ready.words!r} in so many words")
