from evaluation.benches.planning.baselines import best_document, list_items, random_reference
from services.knowledge.model import Document, KnowledgeContext
from tests.unit.evaluation.walks import Library, pair

PAGE = """# Optics

Some prose.

1. Clean the connector.
   - Use a dry wipe.
2. Swap the transceiver.

   ```
   show interface
   ```
"""


def test_every_list_item_is_a_step_after_the_other():
    page = Document(id="optics.md", title="Optics", text=PAGE, content_hash="x")
    workflow = list_items(page)
    assert workflow is not None
    assert [step.text for step in workflow.steps] == [
        "Clean the connector.",
        "Use a dry wipe.",
        "Swap the transceiver.",
    ]
    assert len(workflow.transitions) == len(workflow.steps) - 1


def test_a_page_without_a_list_gives_no_workflow():
    page = Document(id="a", title="a", text="Only prose.", content_hash="x")
    assert list_items(page) is None


def test_the_best_page_is_that_of_the_best_hit():
    assert best_document(Library().retrieve_for("neighbour session")) == "bgp.md"
    assert best_document(KnowledgeContext()) is None


def test_the_random_workflow_is_another_pairs_and_the_same_for_the_same_seed():
    pairs = [pair("fan.md"), pair("bgp.md")]
    first = random_reference(pairs[0], pairs, 3)
    assert first == pairs[1].reference == random_reference(pairs[0], pairs, 3)
    assert random_reference(pairs[0], pairs[:1], 3) is None
