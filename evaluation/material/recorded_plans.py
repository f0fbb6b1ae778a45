"""Answers of a strong model to the planning prompt, kept as lines, labels and own words.

A row names the ticket by the id of its row, the prompt by its label and the best page by the hash
of its text; it holds the last answer of each sample. No text of a page is kept.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import write_lines
from evaluation.material.recorded_answers import without_page_text
from services.contracts.planner import Candidate, Planner, PlanRequest, PlanResponse
from services.kit.files import read_json_lines
from services.knowledge.ports import Embedder
from services.knowledge.screening.document import hash_of
from services.llm.scripted import ScriptedChatModel
from services.planner.service import PlannerService
from services.planner.settings import AskModel, PlannerSettings
from services.runbook.by_model.question import ProgramAnswer
from services.runbook.model import as_json

RECORDED_PLANS = Path(__file__).parents[1] / "recorded" / "strong_plans.jsonl"


class RecordedPlans(BaseModel):
    """What a model answered about one ticket."""

    model_config = ConfigDict(frozen=True)

    id: str
    prompt: str
    text_hash: str
    answers: tuple[dict[str, Any], ...]


def read_plans(path: Path) -> dict[str, RecordedPlans]:
    """Answers by the id of their row, also to an earlier prompt; none where there is no file.

    Raises:
        PairsError: The file cannot be read, or a line holds no answers.
    """
    rows = (row for _, row in read_json_lines(path, RecordedPlans)) if path.exists() else ()
    return {row.id: row for row in rows}


def write_plans(path: Path, rows: Iterable[RecordedPlans]) -> None:
    """Write the rows in the order of their ids, so that a new answer is a small difference."""
    write_lines(path, rows, lambda row: row.id)


def kept(program: ProgramAnswer) -> dict[str, Any]:
    """An answer as it is recorded."""
    procedures = [without_page_text(as_json(procedure)) for procedure in program.procedures]
    left_out = [as_json(each) for each in program.left_out]
    return {"procedures": procedures} | ({"left_out": left_out} if left_out else {})


def asking(answers: ScriptedChatModel, embedder: Embedder, **changes: object) -> PlannerService:
    """The planner as the environment has it, asking this model for every ticket."""
    settings = PlannerSettings().model_copy(update={"ask_model": AskModel.ALWAYS, **changes})
    return PlannerService(settings, model=answers, embedder=embedder)


class RecordedPlanner:
    """The planner with the answers that were recorded. Implements `contracts.planner.Planner`.

    Without the answers where another page comes first than when they were given.
    """

    def __init__(self, row: RecordedPlans, embedder: Embedder) -> None:
        programs = [
            ProgramAnswer.model_validate(answer).model_dump_json() for answer in row.answers
        ]
        model = ScriptedChatModel(programs)
        self._hash = row.text_hash
        self._alone = PlannerService()
        self._with = asking(model, embedder, samples=len(programs), corrections=0)

    def plan(self, request: PlanRequest) -> PlanResponse:
        """See `Planner.plan`."""
        return PlanResponse(candidates=tuple(self.stream(request)))

    def stream(self, request: PlanRequest) -> Iterator[Candidate]:
        """See `Planner.stream`."""
        is_same = best_hash(request) == self._hash
        yield from (self._with if is_same else self._alone).stream(request)


def replaying(plans: dict[str, RecordedPlans], embedder: Embedder) -> Callable[[LogicRow], Planner]:
    """The planner for each row; without a model for one that was not recorded."""

    def planner_for(row: LogicRow) -> Planner:
        recorded = plans.get(row.id)
        return RecordedPlanner(recorded, embedder) if recorded else PlannerService()

    return planner_for


def best_hash(request: PlanRequest) -> str:
    """Of the text of the best page, as readings are known by it."""
    return hash_of(request.pages[0].text) if request.pages else ""
