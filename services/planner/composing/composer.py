"""Service that composes procedures; see `contracts.composing.Composing`."""

import hashlib
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import structlog

from services.contracts.composing import (
    ComposeAnswer,
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
from services.planner.composing import by_rules, edits
from services.planner.composing.component import Components, of_tool
from services.planner.composing.drafting import build_draft
from services.planner.composing.errors import (
    BadDraftError,
    NeedsModelError,
    NothingToComposeError,
    NotReadyError,
)
from services.planner.composing.filling import current_arguments, question_id
from services.planner.composing.filtering import ComponentFilter
from services.planner.composing.model_session import ModelSession
from services.planner.composing.secrets import without_secrets
from services.planner.composing.team import (
    ORCHESTRATOR,
    SUPERVISOR_QUESTION,
    ComposingTask,
    ComposingTeam,
)
from services.planner.settings import PlannerSettings
from services.runbook.checking.check import UnusableReadingError, refuse_large
from services.runbook.model import Reader, Reading
from services.runbook.program import with_ids

_log = structlog.get_logger()

CORRECTIONS = 2
"""Number of corrections that a member of the team is asked for."""
RULES = "rules"


class ComposerPeers(Protocol):
    """Other rooms, opened when they are needed."""

    @property
    def execution(self) -> Execution:
        """The executor, whose catalogue is composed over."""

    @property
    def readings(self) -> Callable[[Caller], Readings]:
        """The readings of pages, which edits apply to."""


class Composer:
    """Composer that works with a team of prompts, or by rules if there is no model."""

    def __init__(
        self,
        settings: PlannerSettings,
        peers: ComposerPeers,
        embedder: Callable[[], Embedder],
        model: GuardedChatModel | None = None,
    ) -> None:
        """Keep `embedder` for the first composition: planning alone needs none."""
        self._settings = settings
        self._peers = peers
        self._model = model
        self._embedder = embedder

    @cached_property
    def _filter(self) -> ComponentFilter:
        return ComponentFilter(self._embedder())

    def compose(self, wanted: ComposeRequest) -> Composition:
        """See `Composing.compose`."""
        components = Components(map(of_tool, self._peers.execution.tools()))
        instruction = without_secrets(" ".join(wanted.instruction.split(" "))).strip()
        answers = list(map(_redact_answer, wanted.answers))
        with stage_timer("planner", "compose"):
            if wanted.draft is None:
                return self._compose_new(instruction, answers, components)
            previous = _check_draft(wanted.draft, components)
            supervisor_answers = [
                each.answer for each in answers if each.question == SUPERVISOR_QUESTION
            ]
            change = " ".join(filter(None, (instruction, *supervisor_answers)))
            if change:
                return self._compose_change(previous, change, answers, components)
            return _rebuild(previous, answers, components)

    def page(self, wanted: CompositionProposal) -> ProposedPage:
        """See `Composing.page`."""
        components = Components(map(of_tool, self._peers.execution.tools()))
        ready = _rebuild(_check_draft(wanted.draft, components), (), components)
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
        readings = self._peers.readings(current_caller())
        with stage_timer("planner", "edit"):
            session = self._open_session() if self._model else None
            return edits.parse_edit_request(wanted, readings, session)

    def _compose_new(
        self, instruction: str, answers: Sequence[ComposeAnswer], components: Components
    ) -> Composition:
        if not instruction:
            raise NothingToComposeError("say what is to be done")
        notes: list[str] = []
        if self._model is not None:
            task = self._task([instruction], answers, components)
            team = ComposingTeam(self._open_session(), task)
            composition = team.compose()
            if composition is not None:
                return composition
            notes = team.notes
        try:
            made = by_rules.compose_by_rules(instruction, components, self._filter)
        except NeedsModelError as error:
            if notes:
                raise UnavailableError(f"{notes[-1]}; {error}") from error
            raise
        return build_draft(
            made.plan.procedure,
            made.plan.calls(components),
            made.arguments,
            title="",
            instructions=[instruction],
            answers=answers,
            components=components,
            composed_by=RULES,
            notes=[*notes, *made.notes],
        )

    def _compose_change(
        self,
        previous: Composition,
        change: str,
        answers: Sequence[ComposeAnswer],
        components: Components,
    ) -> Composition:
        if self._model is None:
            raise NeedsModelError("a draft is changed by a language model, and none is set")
        instructions = [*previous.said, change]
        task = self._task(instructions, [*previous.answers, *answers], components)
        task.before = previous if previous.procedure.body else None
        team = ComposingTeam(self._open_session(), task)
        composition = team.compose()
        if composition is None:
            raise UnavailableError("; ".join(team.notes) or "the model did not change the draft")
        return composition

    def _task(
        self, instructions: Sequence[str], answers: Sequence[ComposeAnswer], components: Components
    ) -> ComposingTask:
        most = self._settings.compose_components
        ranked = self._filter.rank("\n".join(instructions), components, most)
        name = self._model.name if self._model else ""
        return ComposingTask(instructions, answers, components, ranked, f"team {name}")

    def _open_session(self) -> ModelSession:
        assert self._model is not None  # noqa: S101 - asked for only with a model
        budget = Budget(self._settings.ticket_tokens, prices=self._model.prices)
        return ModelSession(
            self._model.with_budget(budget),
            deadline=time.monotonic() + self._settings.compose_deadline_s,
            max_tokens=self._settings.max_tokens,
            temperature=self._settings.compose_temperature,
            corrections=CORRECTIONS,
        )


def _rebuild(
    previous: Composition, answers: Sequence[ComposeAnswer], components: Components
) -> Composition:
    """Rebuild the draft with further answers; nothing that can be derived is taken over from it."""
    by_question = {each.question: each for each in (*previous.answers, *answers)}
    arguments = {step: dict(values) for step, values in current_arguments(previous.calls).items()}
    instruction = "\n".join(previous.said)
    for call in previous.calls:
        chosen = by_question.get(question_id(call.step, ""))
        component = components.find(chosen.answer.strip()) if chosen else None
        if component is not None and component.name in call.options:
            arguments[call.step] = dict(by_rules.literal_values(component, instruction))
    return build_draft(
        previous.procedure,
        previous.calls,
        arguments,
        title=previous.title,
        instructions=previous.said,
        answers=tuple(by_question.values()),
        components=components,
        composed_by=previous.composed_by,
        questions=[each for each in previous.questions if each.id == SUPERVISOR_QUESTION],
    )


def _check_draft(composition: Composition, components: Components) -> Composition:
    """Return a draft that was sent back, with numbered steps and verified calls.

    Raises:
        BadDraftError: It is too large, or tells of steps that it does not have.
    """
    try:
        refuse_large(Reading(reader=Reader.PERSON, procedures=(composition.procedure,)))
    except UnusableReadingError as error:
        raise BadDraftError(f"draft: {error}") from error
    procedure = with_ids(composition.procedure)
    ids = {node.id for node in procedure.walk()}
    if unknown := [call.step for call in composition.calls if call.step not in ids]:
        raise BadDraftError(f"draft: it has no step {unknown[0]!r}")
    for call in composition.calls:
        if call.component and not components.find(call.component):
            raise BadDraftError(f"draft: the catalogue has no component {call.component!r}")
    update = {
        "procedure": procedure,
        "said": tuple(map(without_secrets, composition.said)),
        "answers": tuple(map(_redact_answer, composition.answers)),
    }
    return composition.model_copy(update=update)


def _redact_answer(answer: ComposeAnswer) -> ComposeAnswer:
    return answer.model_copy(update={"answer": without_secrets(answer.answer)})


def _check_ready(ready: Composition, words: str) -> None:
    if not ready.procedure.body:
        raise NotReadyError("there is no step to propose")
    if ready.questions:
        questions = "; ".join(each.text for each in ready.questions[:3])
        raise NotReadyError(f"{len(ready.questions)} questions are open: {questions}"[:1000])
    if ready.errors:
        raise NotReadyError(f"checks find errors: {ready.findings[0]}"[:1000])
    if ready.words and " ".join(words.casefold().split()) != ready.words.casefold():
        raise NotReadyError(f"it destroys something: say {ready.words!r} in so many words")
