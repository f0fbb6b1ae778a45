import pytest

from evaluation.benches.retrieval.ranks import ranked_documents, request_of, run
from evaluation.material.pairs import Pair
from services.knowledge.model import (
    Chunk,
    IncidentNode,
    KnowledgeContext,
    Passage,
    RetrievedChunk,
    RetrievedNode,
    SectionRole,
    Span,
)


def chunk(document, score):
    span = Span(document_id=document, start_line=1, end_line=1)
    return RetrievedChunk(
        chunk=Chunk(id=document, span=span, heading_path=(), text="x"), score=score
    )


def node(document, score):
    span = Span(document_id=document, start_line=1, end_line=1)
    passage = Passage(span=span, role=SectionRole.REMEDY, heading_path=(), text="x")
    return RetrievedNode(
        node=IncidentNode(id=document, name="n", mitigation_steps=(passage,)), score=score
    )


def pair(id_, *gold, **fields):
    return Pair(id=id_, forms={"query": f"text of {id_}"}, gold_documents=gold, **fields)


def test_documents_rank_by_their_best_chunk_or_node_and_each_once():
    context = KnowledgeContext(
        chunks=(chunk("a", 0.9), chunk("b", 0.5), chunk("a", 0.4)), nodes=(node("c", 0.7),)
    )
    assert ranked_documents(context) == ["a", "c", "b"]


def test_an_alert_is_asked_by_its_name_and_a_text_by_itself():
    assert request_of(pair("1", "a", alert="FanFailed"), "query").alert_name == "FanFailed"
    request = request_of(pair("1", "a"), "query")
    assert request.title == "text of 1"
    assert request.alert_name == ""


def answers(**by_id):
    return lambda request: by_id[f"p{(request.title or request.description)[-1]}"]


def report(pairs, **searches):
    return run(pairs, searches, {}, lambda: 1.0)


def test_recall_counts_distinct_documents_in_rank_order():
    pairs = [pair("1", "a"), pair("2", "a"), pair("3", "b")]
    figures = report(
        pairs, found=answers(p1=["a"], p2=["x", "a"], p3=["1", "2", "3", "4", "5", "b"])
    )
    assert figures.sets["all/-"]["r_at_1"] == pytest.approx(1 / 3, abs=1e-3)
    assert figures.sets["all/-"]["r_at_5"] == pytest.approx(2 / 3, abs=1e-3)
    assert figures.sets["all/-"]["r_at_10"] == 1
    assert figures.sets["all/-"]["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 6) / 3, abs=1e-3)


def test_any_gold_page_counts():
    assert report([pair("1", "a", "b")], found=answers(p1=["b"])).overall["r_at_1"] == 1


def test_a_page_that_is_not_found_counts_nothing():
    assert report([pair("1", "a")], found=answers(p1=[])).overall["mrr"] == 0


def test_each_page_counts_once_however_often_it_is_named():
    pairs = [pair("1", "a"), pair("2", "a"), pair("3", "b")]
    figures = report(pairs, found=answers(p1=["a"], p2=["a"], p3=["x"]))
    assert figures.pages["r_at_1"] == 0.5
    assert figures.pages["most_named"] == 2
    assert figures.pages["others_r_at_1"] == 0


def test_baselines_stand_beside():
    figures = report([pair("1", "a")], found=answers(p1=["a"]), plain=answers(p1=["b", "a"]))
    assert figures.baselines["plain"]["r_at_1"] == 0
    assert figures.baselines["plain"]["r_at_5"] == 1


def test_pairs_without_a_page_are_left_out():
    assert report([pair("1"), pair("2", "a")], found=answers(p2=["a"])).sets["all/-"]["n"] == 1
