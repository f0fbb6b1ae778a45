"""Prompts as files, for whoever is to answer them, and the answers as a record.

Each row has a name; `NAME.prompt.txt` is what the model is asked. Answers are `NAME.answer.json`,
or `NAME.answer-1.json` and so on, beside it; once they are there, `NAME.review.txt` (or
`NAME.review-1.txt`) is what would be said of each. Of readings `NAME.place.txt` asks where the rest
of the page belongs; the answer to it is `NAME.placed.json`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evaluation.material.gold_pages import PageOf
from evaluation.material.logic_rows import LogicRow
from evaluation.material.recorded_plans import RecordedPlans, asking, best_hash, kept
from evaluation.material.requests import RequestOf
from services.kit.files import read_json, read_json_lines, read_text
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.screening.document import ScreenedDocument, hash_of
from services.llm.chat_model import Message, ModelAnswerError
from services.llm.scripted import ScriptedChatModel
from services.llm.structured import parse_answer
from services.planner.generation.question import LABEL
from services.runbook.by_model.question import PROMPT, ProgramAnswer
from services.runbook.by_model.reader import ModelReader

_ROWS = "rows.jsonl"


@dataclass(frozen=True)
class RowPrompt:
    """The question to a model about a row."""

    prompt: str
    """The label of the prompt."""
    text_hash: str
    """Of the page that it is asked about."""
    ask: Callable[[ScriptedChatModel], object]
    """Asks this model, and once again when it was answered."""

    def turns(self, answer: str = "") -> list[Sequence[Message]]:
        """What it is asked, and asked again when this is the answer."""
        model = ScriptedChatModel([answer])
        self.ask(model)
        return [request.messages for request in model.requests]


PromptOf = Callable[[LogicRow], RowPrompt]


def plans(request_of: RequestOf) -> PromptOf:
    """What the planner asks for a ticket."""

    def prompt_of(row: LogicRow) -> RowPrompt:
        request = request_of(row)
        return RowPrompt(
            LABEL,
            best_hash(request),
            lambda model: asking(model, HashingEmbedder(), samples=1, corrections=1).plan(request),
        )

    return prompt_of


def readings(page_of: PageOf) -> PromptOf:
    """What the reader asks about a page."""

    def prompt_of(row: LogicRow) -> RowPrompt:
        text = ScreenedDocument(page_of(row)).for_model().text
        return RowPrompt(PROMPT.label, hash_of(text), lambda model: _read(model, text))

    return prompt_of


def write_prompts(
    rows: Iterable[LogicRow], prompt_of: PromptOf, folder: Path, advance: Callable[[], None]
) -> None:
    """A prompt for each row, and a review for each answer that is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for row in rows:
        row_prompt, name = prompt_of(row), re.sub(r"[^\w.-]+", "-", row.id)
        first, *_ = row_prompt.turns()
        (folder / f"{name}.prompt.txt").write_text(_as_text(first), encoding="utf-8")
        for path in _answers(folder, name):
            _, second, *others = row_prompt.turns(read_text(path))
            review = path.with_name(path.stem.replace(".answer", ".review") + ".txt")
            review.write_text(second[-1].content, encoding="utf-8")
            for placement in others[:1]:
                place = path.with_name(path.stem.replace(".answer", ".place") + ".txt")
                place.write_text(_as_text(placement), encoding="utf-8")
        records.append(
            {
                "name": name,
                "id": row.id,
                "prompt": row_prompt.prompt,
                "text_hash": row_prompt.text_hash,
            }
        )
        advance()
    (folder / _ROWS).write_text(
        "".join(f"{json.dumps(row)}\n" for row in records), encoding="utf-8"
    )


def placements(folder: Path) -> dict[str, dict[str, object]]:
    """The answers where the rest of a page belongs, by the hash of its text."""
    return {
        row.text_hash: read_json(path, dict[str, object])
        for _, row in read_json_lines(folder / _ROWS, _Row)
        if (path := folder / f"{row.name}.placed.json").exists()
    }


def collected(folder: Path) -> Iterator[RecordedPlans]:
    """The answers of each row that has any.

    Raises:
        PairsError: There are no prompts in the folder.
        ModelAnswerError: An answer is no program.
    """
    for _, row in read_json_lines(folder / _ROWS, _Row):
        texts = [read_text(path) for path in _answers(folder, row.name)]
        answers = tuple(kept(parse_answer(text, ProgramAnswer)) for text in texts)
        if answers:
            yield RecordedPlans(**row.model_dump(exclude={"name", "answers"}), answers=answers)


class _Row(RecordedPlans):
    name: str
    answers: tuple[dict[str, object], ...] = ()


def _answers(folder: Path, name: str) -> list[Path]:
    return sorted(folder.glob(f"{name}.answer*.json"))


def _read(model: ScriptedChatModel, text: str) -> None:
    with suppress(ModelAnswerError):
        ModelReader(model, samples=1, corrections=1).read(text)


def _as_text(messages: Iterable[Message]) -> str:
    return "\n\n".join(f"=== {message.role}\n{message.content}" for message in messages) + "\n"
