"""From an embedded platform to a comparison of planners on it."""

from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.benches.planning.comparison import Comparison, ModelSide
from evaluation.benches.planning.shared_plans import SharedPlans
from evaluation.benches.planning.workflows import FindContext, WorkflowBench, gold, retrieved
from evaluation.material.metered import MeteredChatModel
from evaluation.material.page_reader import pages_of
from evaluation.material.recorder import RecordingChatModel
from evaluation.material.whole_answers import WholeAnswers
from evaluation.measures.support import SupportCheck
from services.knowledge.ports import Embedder
from services.llm.chat_model import ChatModel
from services.llm.guard import GuardedChatModel
from services.planner.service import PlannerService
from services.planner.settings import AskModel, PlannerSettings
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings

if TYPE_CHECKING:
    from services.deployment.embedded import Embedded

DEADLINE_S = 1800.0
"""For all that the model writes for a ticket. A benchmark measures what is written, and on a slow
machine too: what a deadline cuts off would have to be asked for again in every run."""

_UNREPORTED = {"deadline_s", "ticket_tokens", "candidates", "documents", "ask_model"}


def planner_settings(seed: int) -> PlannerSettings:
    """As the environment has them, but with the seed, time enough, and the model always asked."""
    changes = {"seed": seed, "deadline_s": DEADLINE_S, "ask_model": AskModel.ALWAYS}
    return PlannerSettings().model_copy(update=changes)


def open_comparison(
    platform: "Embedded", *, seed: int, record: Path | None = None, oracle: bool = False
) -> Comparison:
    """The platform's parts, put together anew: with its model and without.

    With `record` the model is asked only for what that file does not hold; what it answers is
    written there at once.
    """
    scorer = ScorerService(platform.embedder)
    floor = WorkflowBench(
        find_context=_gold(platform) if oracle else retrieved(platform.retrieval),
        plan=PlannerService().plan,
        scorer=scorer,
        documents=platform.documents,
        embedder=platform.embedder,
        support=SupportCheck(platform.documents, scorer.vectors),
        seed=seed,
    )
    if platform.model is None:
        return Comparison(floor, None)
    answers = recorded(platform.model, record)
    return Comparison(floor, model_side(answers, platform.embedder, planner_settings(seed)))


def _gold(platform: "Embedded") -> FindContext:
    return gold(platform.graph, pages_of(platform))


def recording_planner(
    model: ChatModel, record: Path, at_once: int, embedder: Embedder, settings: PlannerSettings
) -> PlannerService:
    """The comparison's planner, for that many tickets at a time."""
    guarded = GuardedChatModel(recorded(model, record), tries=1, in_flight=at_once)
    return PlannerService(settings, model=guarded, embedder=embedder)


def recorded(model: ChatModel, record: Path | None) -> ChatModel:
    """The model, asked only for what the file does not hold."""
    return WholeAnswers(RecordingChatModel(record, model) if record else model)


def model_side(answers: ChatModel, embedder: Embedder, settings: PlannerSettings) -> ModelSide:
    """Planner and scorer that ask the model, each with a meter of its own."""
    writing, judging = MeteredChatModel(answers), MeteredChatModel(answers)
    planner = PlannerService(
        settings,
        model=GuardedChatModel(writing, tries=1),  # the platform's model tries again by itself
        embedder=embedder,
    )
    patient = ScorerSettings().model_copy(update={"deadline_s": DEADLINE_S})
    scorer = ScorerService(embedder, patient, model=judging)
    return ModelSide(SharedPlans(planner, writing), scorer, judging)


def model_config(platform: "Embedded", seed: int) -> dict[str, object]:
    """What a report has to say about the model; nothing where there is none."""
    if platform.model is None:
        return {}
    settings = planner_settings(seed).model_dump(mode="json", exclude=_UNREPORTED)
    return {"model": platform.model.name, **settings}
