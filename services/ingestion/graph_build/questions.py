"""Two questions to a model for each chunk: its incidents, and what it says of them."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, Field

from services.kit.errors import FlowXpertError
from services.knowledge.model import Attribute, Chunk
from services.llm.chat_model import ChatModel, ChatRequest, JsonSchema, Message
from services.llm.guard import CircuitOpenError
from services.llm.prompts import Prompt, load_prompt
from services.llm.structured import AnswerT, ask_for

NOTHING = "(nothing)"

_PACKAGE = "services.ingestion"
NAMES = load_prompt(_PACKAGE, "names")
FORMS = load_prompt(_PACKAGE, "forms")

MOST_NAMES = 3
"""Most incidents that one chunk may name; a chunk is half a page at most."""
FORMS_AT_ONCE = 2
"""Most forms in one answer, so that prompt and answer stay under 4,000 tokens."""
_LONGEST_NAME = 80
_LONGEST_SENTENCE = 200
_MOST_SENTENCES = 6
"""Most sentences per field and chunk."""


class NamedIncident(BaseModel):
    """Incident that a chunk is about."""

    name: str
    summary: str = ""


class NamedIncidents(BaseModel):
    """Answer to the first question."""

    incidents: list[NamedIncident] = []


class FilledForm(BaseModel):
    """Statements of a chunk about one incident; null for a field it says nothing of."""

    incident: str
    failure_description: list[str] | None = None
    mitigation_steps: list[str] | None = None
    typical_cases: list[str] | None = None
    additional_notes: list[str] | None = None

    def sentences(self) -> Iterator[tuple[Attribute, str]]:
        """Yield each sentence with its field, in the order of the ontology."""
        for attribute in Attribute:
            for sentence in getattr(self, attribute.value) or ():
                if sentence.strip():
                    yield attribute, sentence


class FilledForms(BaseModel):
    """Answer to the second question."""

    forms: list[FilledForm] = Field(min_length=1)


class BuildClosedError(FlowXpertError):
    """The run was ended while a document was in work."""


class Questions:
    """Asker of the two questions, to one model."""

    def __init__(
        self,
        model: ChatModel,
        max_tokens: int,
        closed: threading.Event,
        impatient: threading.Event,
    ) -> None:
        """Bound an answer by `max_tokens`.

        Once `closed` is set nothing is asked any more; once `impatient` is, nothing waits for a
        model whose circuit is open.
        """
        self._model = model
        self._max_tokens = max_tokens
        self._closed = closed
        self._impatient = impatient

    def names(self, passage: str) -> list[NamedIncident]:
        """Return the incidents a passage is about, each with a sentence on it.

        Raises:
            ModelAnswerError: No readable answer, not even after a correction.
            ModelUnavailableError: See `ChatModel.complete`.
            ModelRefusedError: See `ChatModel.complete`.
            BuildClosedError: The run was ended.
        """
        request = self._request(NAMES, {"passage": passage}, _names_schema())
        answer = self._ask(request, NamedIncidents)
        return answer.incidents[:MOST_NAMES]

    def forms(self, incidents: Mapping[str, str], before: str, passage: str) -> list[FilledForm]:
        """Return what two neighbouring passages say of these incidents (names by id).

        Forms of other ids are left out. Raises what `names` does.
        """
        listed = "\n".join(f"{id_}: {name}" for id_, name in incidents.items())
        variables = {"incidents": listed, "previous": before, "passage": passage}
        request = self._request(FORMS, variables, _forms_schema(list(incidents)))
        answer = self._ask(request, FilledForms)
        return [form for form in answer.forms if form.incident in incidents]

    def _ask(self, request: ChatRequest, form: type[AnswerT]) -> AnswerT:
        """Ask the model, waiting while its circuit is open: that is no failure of this document.

        It ends, since after each pause a call is made, which succeeds or fails by itself.
        """
        while not self._closed.is_set():
            try:
                return ask_for(self._model, request, form)[0]
            except CircuitOpenError as error:
                if self._impatient.wait(error.again_in_s) and not self._closed.is_set():
                    raise
        raise BuildClosedError("the run was ended; what was built stays")

    def _request(
        self, prompt: Prompt, variables: Mapping[str, str], schema: JsonSchema
    ) -> ChatRequest:
        return ChatRequest(
            messages=_messages(prompt, variables),
            temperature=0.0,
            max_tokens=self._max_tokens,
            json_schema=schema,
            seed=0,
            prompt=prompt.label,
        )


def passage_of(chunk: Chunk | None) -> str:
    """Return the passage as the model sees it: headings and text; `NOTHING` without a chunk.

    The page's title has a line of its own: of a whole path a small model makes a name.
    """
    if chunk is None:
        return NOTHING
    title, *sections = chunk.heading_path or ("",)
    headings = [f"Page: {title}", *([f"Section: {', '.join(sections)}"] if sections else ())]
    return "\n".join([*headings, "", chunk.text])


def recipe(model_name: str) -> str:
    """Return a hash that differs whenever the model, a prompt, an example or the schema does."""
    parts = (
        model_name,
        NAMES.model_dump_json(),
        FORMS.model_dump_json(),
        json.dumps(_examples(), sort_keys=True),
        json.dumps([_names_schema(), _forms_schema(["i1"])], sort_keys=True),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def prompt_text(prompt: Prompt) -> str:
    """Return all text of a question besides the passages, for estimates."""
    empty = dict.fromkeys(prompt.variables, "")
    return "\n".join(message.content for message in _messages(prompt, empty))


def _messages(prompt: Prompt, variables: Mapping[str, str]) -> tuple[Message, ...]:
    """Return the rules, the worked examples as earlier turns, and the task."""
    rules, task = prompt.render(variables)
    turns: list[Message] = []
    for example in _examples()[prompt.name]:
        values = {name: str(example[name]).strip() for name in prompt.variables}
        answer = Message(role="assistant", content=json.dumps(example["answer"]))
        turns += [prompt.render(values)[-1], answer]
    return (rules, *turns, task)


def _examples() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    path = files(_PACKAGE).joinpath("prompts", "examples.yaml")
    examples: Mapping[str, Sequence[Mapping[str, Any]]]
    examples = yaml.safe_load(path.read_text(encoding="utf-8"))
    return examples


def _names_schema() -> JsonSchema:
    name = {"type": "string", "minLength": 4, "maxLength": _LONGEST_NAME}
    summary = {"type": "string", "maxLength": _LONGEST_SENTENCE}
    incident = _object({"name": name, "summary": summary})
    return _object({"incidents": {"type": "array", "maxItems": MOST_NAMES, "items": incident}})


def _forms_schema(ids: Sequence[str]) -> JsonSchema:
    sentence = {"type": "string", "minLength": 4, "maxLength": _LONGEST_SENTENCE}
    sentences = {"type": "array", "minItems": 1, "maxItems": _MOST_SENTENCES, "items": sentence}
    fields = {each.value: {"anyOf": [sentences, {"type": "null"}]} for each in Attribute}
    form = _object({"incident": {"enum": list(ids)}, **fields})
    forms = {"type": "array", "minItems": len(ids), "maxItems": len(ids), "items": form}
    return _object({"forms": forms})


def _object(properties: dict[str, Any]) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
