from collections.abc import Sequence

import numpy as np

from services.grounding.evidence import Evidence
from services.grounding.grounder import Grounder, RecentVectors, cite, support_of
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.ports import Vectors
from services.workflow.model import Citation, Step, StepKind, Workflow
from tests.unit.scorer.cases import CONTEXT, DOCUMENT, GOOD, OTHER, cited


class CountingEmbedder(HashingEmbedder):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        return super().embed(texts)


def ground(*steps: Step):
    grounder = Grounder(Evidence.of(CONTEXT), RecentVectors(HashingEmbedder(), 100))
    return grounder.ground([Workflow(title="", steps=steps)])[0]


def step(text: str, **fields: object) -> Step:
    return Step(id="s", kind=StepKind.PROCESS, text=text, **fields)


def test_a_cited_step_rests_on_the_line_it_cites():
    (grounded,) = ground(step("Push the tray in until its latch clicks", citations=cited(17)))
    assert grounded.claimed
    assert grounded.unit.start_line == 17


def test_a_step_that_cites_the_wrong_line_is_not_believed():
    (grounded,) = ground(step("Push the tray in until its latch clicks", citations=cited(5, OTHER)))
    assert not grounded.claimed
    assert grounded.unit.document_id == DOCUMENT


def test_a_step_that_no_source_says_is_not_grounded():
    (grounded,) = ground(step("Order pizza for the night shift", citations=cited(17)))
    assert not grounded.is_grounded


def test_citing_names_the_lines_a_step_rests_on_and_leaves_the_others_unsourced():
    sourced, unsourced = cite(
        ground(step("Blow the dust out of the blocked rotor"))
        + ground(step("Order pizza for the night shift"))
    )
    assert [c.start_line for c in sourced.citations] == [18]
    assert not unsourced.is_sourced


def test_words_that_decide_alone_cost_no_embedding():
    embedder = CountingEmbedder()
    Grounder(Evidence.of(CONTEXT), RecentVectors(embedder, 100)).ground([GOOD])
    assert embedder.batches == []


def test_all_texts_in_doubt_are_embedded_in_one_call():
    embedder = CountingEmbedder()
    vectors = RecentVectors(embedder, 100)
    doubtful = (step("Seat the tray"), step("Clear the rotor").model_copy(update={"id": "t"}))
    grounder = Grounder(Evidence.of(CONTEXT), vectors)
    grounder.ground([Workflow(title="", steps=doubtful)])
    grounder.ground([Workflow(title="", steps=doubtful)])
    assert len(embedder.batches) == 1


def test_support_grows_with_shared_words_and_with_meaning():
    assert support_of(0.8, 0.6) > support_of(0.4, 0.6) > support_of(0.4, 0.2)
    assert 0 < support_of(0, 0) < 0.01


def test_the_words_of_a_whole_passage_do_not_say_a_step_of_their_own():
    whole = (Citation(document_id=DOCUMENT, start_line=1, end_line=30),)
    gathered = step(
        "Read the bay, push the dust, verify the speeds, seat the exhaust", citations=whole
    )
    evidence, vectors = Evidence.of(CONTEXT), RecentVectors(HashingEmbedder(), 100)
    workflow = Workflow(title="", steps=(gathered,))
    ((jointly,),) = Grounder(evidence, vectors).ground([workflow])
    ((alone,),) = Grounder(evidence, vectors, jointly=False).ground([workflow])
    assert jointly.is_grounded
    assert not alone.is_grounded


def test_texts_used_last_stay_and_older_ones_are_forgotten():
    vectors = RecentVectors(HashingEmbedder(), 2)
    vectors.of(["one", "two"])
    vectors.of(["one", "three"])
    assert set(vectors._recent._entries) == {"one", "three"}


def test_a_vector_is_the_embedders():
    embedder = HashingEmbedder()
    assert np.allclose(RecentVectors(embedder, 5).of(["fan"])["fan"], embedder.embed(["fan"])[0])
