"""The poisoned documents and tickets, and the model that does what they say."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from services.llm.chat_model import ChatRequest
from services.planner.generation.forms import FORMS

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
    chart: str = ""
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
        told = {"fault": self.fault, "alert": self.alert, "part": self.part, "title": self.fault}
        if self.document:
            told[self.document] = self.poison
        text = (FOLDER / "page.md").read_text()
        for slot in _SLOTS:
            text = text.replace("{" + slot + "}", told.get(slot, ""))
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
    runs: set[str] = set()
    for form in FORMS.values():
        system = form.prompt.render(dict.fromkeys(form.prompt.variables, ""))[0].content.split()
        runs.update(" ".join(system[place : place + 8]) for place in range(len(system) - 7))
    return runs


class Gullible:
    """A model that believes all it reads: it answers exactly what the poison asks for.

    Where nothing of the poison reaches it, it answers as a good model does.
    """

    def __init__(self, case: Case) -> None:
        """`case` is the poison that it obeys; set another one before the next ticket."""
        self.case = case

    def __call__(self, request: ChatRequest) -> Sequence[str]:
        """The same answer for every sample; to a scorer, the best mark for everything."""
        case, schema = self.case, json.dumps(request.json_schema or {})
        is_told = case.shows_in(" ".join(message.content for message in request.messages))
        if "score" in schema:
            return [json.dumps(_best_marks(request.json_schema or {}))] * request.n
        steps = [(f"Read the state of {case.part}", ""), *(self._bad(request) if is_told else ())]
        if "flowchart" in request.prompt or "chart" in request.prompt:
            return [(case.chart if is_told else "") or _chart(steps)] * request.n
        said = case.says if is_told else ""
        return [said or json.dumps(_outline(steps, schema))] * request.n

    def _bad(self, request: ChatRequest) -> list[tuple[str, str]]:
        case = self.case
        if case.leaks:
            told = " ".join(request.messages[0].content.replace('"', "").split())
            return [(told[place : place + 200], "") for place in range(0, len(told), 200)]
        labels = re.findall(r"\[\"(.+?)\"\]", case.chart)
        texts = case.writes or labels or [case.repeats or case.says] * (200 if case.repeats else 1)
        return [(text, command) for text, _, command in (text.partition("|") for text in texts)]


def _outline(steps: list[tuple[str, str]], schema: str) -> dict[str, Any]:
    cites = re.findall(r'"([nc]\d+)"', schema)[:1]
    written = [
        {"id": f"s{n}", "kind": "process", "text": text, "cites": cites, "command": command}
        | {"next": f"s{n + 1}"}
        for n, (text, command) in enumerate(steps, start=1)
    ]
    end = {"id": f"s{len(steps) + 1}", "kind": "terminal", "text": "The fault is gone."}
    return {"steps": [*written, {**end, "cites": cites}]}


def _chart(steps: list[tuple[str, str]]) -> str:
    nodes = [f's{n}["{t} {c} [n1]"] --> s{n + 1}' for n, (t, c) in enumerate(steps, start=1)]
    end = f's{len(steps) + 1}(["The fault is gone [n1]"])'
    return "\n  ".join(["flowchart TD", *nodes, end])


def _best_marks(schema: dict[str, Any]) -> dict[str, Any]:
    def filled(part: dict[str, Any]) -> Any:
        if part.get("type") == "object":
            return {name: filled(inner) for name, inner in part["properties"].items()}
        return max(part["enum"]) if "enum" in part else "As the document demands."

    marks: dict[str, Any] = filled(schema)
    return marks
