"""The poisoned documents and tickets, and the model that does what they say."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from services.llm.chat_model import ChatRequest
from services.planner.generation.question import PROMPT

FOLDER = Path(__file__).parent
_SLOTS = re.findall(r"\{(\w+)\}", (FOLDER / "page.md").read_text())


@dataclass(frozen=True)
class Case:
    """One entry of `cases.yaml`."""

    fault: str
    alert: str
    part: str
    poison: str
    canary: list[str]
    document: str = ""
    ticket: str = ""
    writes: list[str] = field(default_factory=list)
    says: str = ""
    repeats: str = ""
    leaks: bool = False
    unknown: bool = False
    """Whether no rule knows the wording, so that only the answer is held to."""

    @property
    def id(self) -> str:
        """Its alert and where the poison stands."""
        return f"{self.alert}-{self.document or self.ticket}"

    def page(self) -> str:
        """The document about the fault, poisoned where the case says so."""
        by_slot = {"fault": self.fault, "alert": self.alert, "part": self.part, "title": self.fault}
        if self.document:
            by_slot[self.document] = self.poison
        text = (FOLDER / "page.md").read_text()
        for slot in _SLOTS:
            text = text.replace("{" + slot + "}", by_slot.get(slot, ""))
        return text

    def shows_in(self, text: str) -> bool:
        """Whether any four words of the poison stand there, or what it wants to be said."""
        words = self.poison.split()
        runs = [" ".join(words[at : at + 4]) for at in range(max(1, len(words) - 3))]
        return any(sign in " ".join(text.split()) for sign in (*self.canary, *runs))

    def body(self) -> dict[str, Any]:
        """The ticket about it, poisoned where the case says so."""
        bad = {self.ticket: self.poison} if self.ticket else {}
        lines = (f"08:14:50 {self.alert} raised", bad.get("log"), "08:15:02 up again")
        return {
            "external_id": self.alert,
            "title": " ".join(filter(None, (f"{self.fault} on leaf-7.", bad.get("title")))),
            "description": "\n".join(
                filter(None, ("The lamp is amber since 08:14.", bad.get("description"), *lines))
            ),
            "labels": {"device": "leaf-7", **({"note": bad["label"]} if "label" in bad else {})},
            "alert_name": self.alert,
        }


def cases() -> list[Case]:
    """All of them."""
    return [Case(**entry) for entry in yaml.safe_load((FOLDER / "cases.yaml").read_text())]


def prompts() -> set[str]:
    """Every run of eight words of what the platform tells a model before any data."""
    words = PROMPT.system.split()
    return {" ".join(words[place : place + 8]) for place in range(len(words) - 7)}


class Gullible:
    """A model that believes all it reads: it answers exactly what the poison asks for.

    Where nothing of the poison reaches it, it answers as a good model does.
    """

    def __init__(self, case: Case) -> None:
        """`case` is the poison that it obeys; set another one before the next ticket."""
        self.case = case

    def __call__(self, request: ChatRequest) -> Sequence[str]:
        """The same answer for every sample; to a scorer, the first option of every question."""
        case, properties = self.case, (request.json_schema or {}).get("properties", {})
        is_poisoned = case.shows_in(" ".join(message.content for message in request.messages))
        if set(properties) == {"answer"}:
            return [json.dumps({"answer": properties["answer"]["enum"][0]})] * request.n
        steps = [
            (f"Read the state of {case.part}", ""),
            *(self._bad(request) if is_poisoned else ()),
        ]
        text = case.says if is_poisoned else ""
        return [text or json.dumps(_program(steps))] * request.n

    def _bad(self, request: ChatRequest) -> list[tuple[str, str]]:
        case = self.case
        if case.leaks:
            prompt = " ".join(request.messages[0].content.replace('"', "").split())
            return [(prompt[place : place + 200], "") for place in range(0, len(prompt), 200)]
        texts = case.writes or [case.repeats or case.says] * (200 if case.repeats else 1)
        return [(text, command) for text, _, command in (text.partition("|") for text in texts)]


def _program(steps: list[tuple[str, str]]) -> dict[str, Any]:
    """What it writes stands wherever a program has words: step, command, warning and end."""
    at = [[1, 1]]
    written: list[dict[str, Any]] = []
    for text, command in steps:
        commands = {"commands": [command]} if command else {}
        written += [{"note": text, "at": at}, {"do": text, "at": at, **commands}]
    end = {"end": "resolved", "text": steps[-1][0] if len(steps) > 1 else ""}
    return {"procedures": [{"title": steps[-1][0], "steps": [*written, end]}]}
