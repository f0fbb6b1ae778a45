"""The prompt of the reader: the guide, one worked example as an earlier turn, the page."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from importlib.resources import files
from math import log, sqrt
from typing import Any, NamedTuple

from pydantic import ConfigDict

from services.kit.observability.redaction import redact
from services.kit.value import Value
from services.knowledge.page.block import BlockKind, Page
from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.kinds.tasks import tasks_of
from services.knowledge.page.parsing import parse_page
from services.language.words import tokenise
from services.llm.chat_model import JsonSchema, Message
from services.llm.prompts import load_prompt
from services.runbook.model import LeftOut, Procedure

PROMPT = load_prompt("services.runbook.by_model", "read")


class ProgramAnswer(Value):
    """A whole answer."""

    model_config = ConfigDict(title="Program")

    procedures: tuple[Procedure, ...]
    left_out: tuple[LeftOut, ...] = ()


def messages(text: str) -> tuple[Message, ...]:
    """Return the dialogue that ends with this page."""
    rules, task = PROMPT.render({"page": number_lines(text)})
    example = most_similar(text)
    if example is None:
        return (rules, task)
    example_page = PROMPT.render({"page": number_lines(example.text)})[-1]
    answer = Message(role="assistant", content=json.dumps(example.program, ensure_ascii=False))
    return (rules, example_page, answer, task)


def schema() -> JsonSchema:
    """Return the JSON schema that the server enforces; it is recursive, as programs are."""
    return ProgramAnswer.model_json_schema(by_alias=True)


_WIDEST_LINE = 2000
"""Characters; a longer line is a dump, and its end says nothing about what to do."""


def number_lines(text: str) -> str:
    """Return the lines of a page with their numbers, secrets redacted, very long lines cut."""
    return "\n".join(numbered_lines(redact(text).split("\n")))


def numbered_lines(lines: Iterable[str], first: int = 1) -> Iterator[str]:
    """Yield lines with their numbers, counted from `first`, very long lines cut.

    The lines must be redacted already.
    """
    for number, line in enumerate(lines, first):
        yield f"{number} | {line[:_WIDEST_LINE]}"


class WorkedExample(NamedTuple):
    """A page and the answer that a careful reader gave."""

    text: str
    program: dict[str, Any]
    """The answer in the form that the model is to give."""


_MOST_BOXES = 0.5
_FEWEST_SECTIONS = 4


class PageKind(StrEnum):
    """Form in which a page says most of its steps."""

    TASKS = "tasks"
    """Sections that are each done on their own."""
    NUMBERED = "numbered"
    """Numbered items."""
    LISTED = "listed"
    """Items without numbers, as causes and options often are."""
    SECTIONS = "sections"
    """Paragraphs and code in several sections."""
    PROSE = "prose"
    """Paragraphs in few sections."""


def kind_of(page: Page) -> PageKind:
    """Return the kind of the page."""
    boxes = find_boxes(page)
    if tasks_of(page, boxes):
        return PageKind.TASKS
    items = [box for box in boxes if box.block.kind is BlockKind.ITEM]
    numbered = sum(bool(box.block.number) for box in items)
    if numbered >= _MOST_BOXES * len(boxes) > 0:
        return PageKind.NUMBERED
    if len(items) >= _MOST_BOXES * len(boxes) > 0:
        return PageKind.LISTED
    sections = {box.place.headings[-1].key for box in boxes if box.place.headings}
    return PageKind.SECTIONS if len(sections) >= _FEWEST_SECTIONS else PageKind.PROSE


def most_similar(text: str) -> WorkedExample | None:
    """Return the example, other than this page, of its kind and with the most similar words.

    Cosine of term weights; of all kinds if there is none of its own, None if there is no other.
    """
    others = [example for example in worked_examples() if example.text != text]
    kind = kind_of(parse_page(text))
    others = [each for each in others if kind_of(parse_page(each.text)) is kind] or others
    if not others:
        return None
    counts = [Counter(tokenise(example.text)) for example in others]
    rarity = {
        term: log(1 + len(counts) / sum(term in c for c in counts)) for c in counts for term in c
    }
    own = Counter(tokenise(text))
    similarities = [_cosine(own, count, rarity) for count in counts]
    return others[similarities.index(max(similarities))]


def worked_examples() -> tuple[WorkedExample, ...]:
    """Return all examples of the package."""
    path = files(__package__).joinpath("examples.jsonl")
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line)
    return tuple(WorkedExample(row["text"], row["program"]) for row in rows)


def _cosine(a: Counter[str], b: Counter[str], rarity: dict[str, float]) -> float:
    """Return the cosine of two term counts, with rarer terms weighted higher."""
    dot = sum(sqrt(a[t] * b[t]) * rarity[t] ** 2 for t in a.keys() & b.keys())
    lengths = [sqrt(sum(n * rarity.get(t, 0.0) ** 2 for t, n in c.items())) for c in (a, b)]
    return dot / (lengths[0] * lengths[1]) if all(lengths) else 0.0
