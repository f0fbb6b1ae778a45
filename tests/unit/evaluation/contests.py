"""A comparison of planners over the tiny library, with a scripted model."""

import json
from collections.abc import Sequence
from pathlib import Path

from evaluation.benches.planning.comparison import Comparison
from evaluation.benches.planning.comparison_setup import model_side, recorded
from evaluation.benches.planning.workflows import WorkflowBench
from evaluation.measures.support import SupportCheck
from services.contracts.retrieval import RetrievedContext
from services.grounding.grounder import RecentVectors
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Chunk, RetrievedChunk, Span
from services.llm.chat_model import ChatModel, ChatRequest
from services.llm.scripted import ScriptedChatModel
from services.planner.service import PlannerService
from services.planner.settings import PlannerSettings
from services.scorer.service import ScorerService
from tests.unit.evaluation.walks import TEXTS, Library, pair

PAIRS = [pair("fan.md"), pair("bgp.md")]

RIGHT = ["Read the fan speeds.", "Push the tray in.", "Verify the temperature."]
WRONG = ["Ask the weather office.", "Bake a loaf of bread.", "Paint the door green."]
SETTINGS = PlannerSettings(corrections=0, samples=3, seed=1)
UNREADABLE = "I would rather talk about boats."


def outline(texts: Sequence[str]) -> str:
    """An answer that goes through these steps one after the other, citing the first lines."""
    steps = [{"do": text, "at": [[1, 7]]} for text in texts[:-1]]
    end = {"end": "resolved", "text": texts[-1], "at": [[1, 7]]}
    return json.dumps({"procedures": [{"title": "A ticket", "steps": [*steps, end]}]})


def writing(*answers: str) -> ScriptedChatModel:
    """A model whose samples of every call are these, by turns."""
    return ScriptedChatModel(lambda r: [answers[n % len(answers)] for n in range(r.n)])


def find_context(_pair, ticket) -> RetrievedContext:
    """Nodes as the library finds them, and the whole page of each as a chunk."""
    context = Library().retrieve_for(ticket.title)
    chunks = [
        RetrievedChunk(chunk=_whole_page(hit.node.id), score=hit.score) for hit in context.nodes
    ]
    pages = [each.model_copy(update={"text": TEXTS[each.document_id]}) for each in context.pages]
    return context.model_copy(update={"chunks": tuple(chunks), "pages": tuple(pages)})


def _whole_page(name: str) -> Chunk:
    text = TEXTS[name]
    span = Span(document_id=name, start_line=1, end_line=len(text.splitlines()))
    return Chunk(id=name, span=span, heading_path=("A page",), text=text)


def comparison(
    model: ChatModel | None, *, record: Path | None = None, corrections: int = 0
) -> Comparison:
    """As `evaluation.benches.planning.comparison_setup` puts it together, over the library."""
    library, embedder = Library(), HashingEmbedder()
    floor = WorkflowBench(
        find_context=find_context,
        plan=PlannerService().plan,
        scorer=ScorerService(embedder),
        documents=library,
        embedder=embedder,
        support=SupportCheck(library, RecentVectors(embedder, 100)),
        seed=0,
    )
    if model is None:
        return Comparison(floor, None)
    settings = SETTINGS.model_copy(update={"corrections": corrections})
    return Comparison(floor, model_side(recorded(model, record), embedder, settings))


def prompts_with(text: str, requests: Sequence[ChatRequest]) -> int:
    """How many requests show that text in their last message."""
    return sum(text in request.messages[-1].content for request in requests)
