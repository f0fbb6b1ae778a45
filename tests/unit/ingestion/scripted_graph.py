"""A model that fills forms from what it is shown, as a good one would, and invents when told to."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.structure.split import split
from services.llm.chat_model import ChatRequest, ModelRefusedError, ModelUnavailableError
from services.llm.guard import GuardedChatModel
from services.llm.scripted import ScriptedChatModel

FIELDS = ("failure_description", "mitigation_steps", "typical_cases", "additional_notes")
Form = Mapping[str, Sequence[str]]


class GraphModel:
    """Names incidents whose name is shown; copies of each form the sentences that are shown."""

    def __init__(self, forms: Mapping[str, Form], *, invented: Sequence[str] = ()) -> None:
        self.forms = forms
        self.invented = invented
        self.refused: tuple[str, ...] = ()
        self.summary = ""
        self.answers_left = 1_000_000
        self.scripted = ScriptedChatModel(self._answer)
        self.guarded = GuardedChatModel(self.scripted, tries=1)

    @property
    def prompts(self) -> list[str]:
        return [request.prompt for request in self.scripted.requests]

    def shown(self, prompt: str) -> list[str]:
        """What was asked last of all in each call of that prompt."""
        requests = self.scripted.requests
        return [r.messages[-1].content for r in requests if r.prompt.startswith(prompt)]

    def _answer(self, request: ChatRequest) -> list[str]:
        self.answers_left -= 1
        if self.answers_left < 0:
            raise ModelUnavailableError("the model is down")
        shown = request.messages[-1].content
        if any(phrase in shown for phrase in self.refused):
            raise ModelRefusedError("the context is too long")
        answer = self._names(shown) if request.prompt.startswith("names") else self._forms(shown)
        return [json.dumps(answer)]

    def _names(self, shown: str) -> object:
        named = [name for name in self.forms if name.lower() in shown.lower()]
        return {"incidents": [{"name": name, "summary": self.summary} for name in named]}

    def _forms(self, shown: str) -> object:
        incidents = re.findall(r"^(i\d): (.+)$", shown, re.MULTILINE)
        return {"forms": [{"incident": id_, **self._form(name, shown)} for id_, name in incidents]}

    def _form(self, name: str, shown: str) -> dict[str, list[str] | None]:
        form = {
            field: [copied for copied in self.forms[name].get(field, ()) if copied in shown]
            for field in FIELDS
        }
        form["mitigation_steps"] += self.invented
        return {field: copied or None for field, copied in form.items()}


def pipeline_of(embedder, *, chunk_tokens: int = 256) -> Pipeline:
    """The real one, with chunks of any length."""
    return replace(
        Pipeline.with_embedder(embedder),
        split=lambda document: split(document.for_model(), embedder.count_tokens, chunk_tokens),
    )
