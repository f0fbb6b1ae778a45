import json

from services.knowledge.model import Chunk, IncidentNode, Passage, SectionRole, Span
from services.knowledge.stores.points import (
    chunk_of,
    chunk_point,
    chunk_words,
    node_embedded_text,
    node_point,
)
from services.language.words import tokenise

SPAN = Span(document_id="a.md", start_line=3, end_line=9)
CHUNK = Chunk(id="c", span=SPAN, heading_path=("Fan", "Remedy"), text="Reseat the tray.")
NODE = IncidentNode(
    id="n",
    name="FanTrayFailed",
    aliases=("FAN-3-FAIL",),
    summary="A fan tray stops.",
    failure_description=(
        Passage(span=SPAN, role=SectionRole.SYMPTOM, heading_path=(), text="The inlet is hot."),
    ),
    mitigation_steps=(
        Passage(span=SPAN, role=SectionRole.REMEDY, heading_path=(), text="Reseat it."),
    ),
)


def test_a_chunk_comes_back_from_its_own_point():
    point = chunk_point(CHUNK, [0.5, 0.5])
    assert chunk_of(json.loads(json.dumps(point.payload))) == CHUNK
    assert point.document_ids == ("a.md",)


def test_the_words_of_a_chunk_are_kept_and_those_of_another_release_found_anew():
    payload = chunk_point(CHUNK, [1.0]).payload
    older = CHUNK.model_dump(mode="json") | {"words 0": "other words"}
    assert chunk_words(payload) == chunk_words(older) == tokenise(CHUNK.embedded_text)


def test_a_chunk_is_found_by_its_headings_too():
    assert point_words(chunk_point(CHUNK, [1.0])) >= {"Fan", "Remedy", "tray."}


def test_a_node_is_embedded_by_its_names_and_failure_and_not_by_its_remedy():
    text = node_embedded_text(NODE)
    assert text.startswith("Fan Tray Failed. FAN 3 FAIL")
    assert "The inlet is hot." in text
    assert "Reseat" not in text


def test_a_node_point_names_every_document_of_the_node():
    assert node_point(NODE, [1.0]).document_ids == ("a.md",)


def point_words(point):
    return set(point.text.split())
