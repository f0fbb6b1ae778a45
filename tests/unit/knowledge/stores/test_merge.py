import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.knowledge.model import Attribute, IncidentNode, Passage, SectionRole, Span
from services.knowledge.stores.merge import merge, normalise_name


def passage(text, document="a.md", role=SectionRole.REMEDY):
    span = Span(document_id=document, start_line=1, end_line=1)
    return Passage(span=span, role=role, heading_path=(), text=text)


def node(document, *steps, **fields):
    passages = tuple(passage(step, document) for step in steps)
    return IncidentNode(id="n", mitigation_steps=passages, **({"name": "Fan failed"} | fields))


@pytest.mark.parametrize("name", ["BGP_PEER-Down", "bgp peer down", "BgpPeerDown!"])
def test_spellings_of_one_name_are_compared_alike(name):
    assert normalise_name(name) == "bgppeerdown"


def test_the_only_part_is_the_node():
    part = node("a.md", "One.", aliases=("X",), summary="S", linked_documents=("b.md",))
    assert merge([part]) == part


def test_words_repeated_in_another_layout_are_removed_and_order_kept():
    merged = merge([node("a.md", "One.", "Two\nlines."), node("b.md", "Two lines.", "Three.")])
    assert [p.text for p in merged.mitigation_steps] == ["One.", "Two\nlines.", "Three."]


def test_the_same_words_in_another_role_stay():
    check = node("b.md").model_copy(
        update={"mitigation_steps": (passage("One.", role=SectionRole.CHECK),)}
    )
    assert len(merge([node("a.md", "One."), check]).mitigation_steps) == 2


def test_other_spellings_of_the_name_become_aliases():
    merged = merge([node("a.md", aliases=("X",)), node("b.md", name="FAN_FAILED", aliases=("X",))])
    assert merged.name == "Fan failed"
    assert merged.aliases == ("X", "FAN_FAILED")


def test_the_first_summary_is_kept():
    assert merge([node("a.md"), node("b.md", summary="S")]).summary == "S"


steps = st.lists(st.text(max_size=8), max_size=5)


@given(st.lists(steps, min_size=1, max_size=4))
def test_no_distinct_text_is_ever_lost_or_doubled(documents):
    parts = [node(f"{i}.md", *texts) for i, texts in enumerate(documents)]
    merged = [" ".join(p.text.split()) for p in merge(parts).passages(Attribute.MITIGATION_STEPS)]
    input_texts = [" ".join(text.split()) for texts in documents for text in texts]
    assert merged == list(dict.fromkeys(input_texts))
