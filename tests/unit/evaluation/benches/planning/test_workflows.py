import pytest

from evaluation.benches.planning.workflows import WorkflowBench, gold
from evaluation.measures.figures import Report
from evaluation.measures.support import SupportCheck
from evaluation.report.workflow_report import report
from services.grounding.grounder import RecentVectors
from services.knowledge.embedding.embedders import HashingEmbedder
from services.scorer.service import ScorerService
from services.workflow.model import Citation, Workflow
from tests.unit.evaluation.walks import CopyingPlanner, Library, pair, workflow

PAIRS = [pair("fan.md"), pair("bgp.md")]


def measured(planner: CopyingPlanner, **changes: object) -> Report:
    library, embedder = Library(), HashingEmbedder()
    parts = {
        "find_context": lambda _pair, ticket: library.retrieve_for(ticket.title),
        "plan": planner.plan,
        "scorer": ScorerService(embedder),
        "documents": library,
        "embedder": embedder,
        "support": SupportCheck(library, RecentVectors(embedder, 100)),
        "seed": 0,
    }
    rows = WorkflowBench(**parts | changes).rows(PAIRS, lambda: None)
    return report(rows, {"seed": 0}, 1.0)


def test_the_right_workflow_scores_full_marks():
    overall = measured(CopyingPlanner()).overall
    assert overall["f1"] == pytest.approx(100)
    assert overall["graph_f1"] == pytest.approx(100)
    for share in ("accepted", "supported", "lint_clean", "branching", "answered"):
        assert overall[share] == 1


def test_a_pair_counts_once_however_many_forms_its_query_has():
    assert measured(CopyingPlanner()).sets["switches/A"]["n"] == 2


def test_the_titled_form_stands_apart_from_the_headline():
    library = Library()

    def only_by_title(_pair, ticket):
        is_titled = ticket.external_id.endswith("/titled")
        return library.retrieve_for(ticket.title, *(() if is_titled else ("bgp.md",)))

    figures = measured(CopyingPlanner(), find_context=only_by_title).model_dump()
    assert figures["titled"]["overall"]["f1"] == pytest.approx(100)
    assert figures["overall"]["f1"] < 80


def test_the_planner_sees_the_query_and_nothing_else_of_the_pair():
    planner = CopyingPlanner()
    measured(planner)
    titles = {request.ticket.title for request in planner.requests}
    assert titles == {query.strip() for p in PAIRS for query in p.forms.values()}
    assert all(request.ticket.source == "bench" for request in planner.requests)


def test_a_query_without_a_workflow_counts_as_nothing_recalled():
    figures = measured(CopyingPlanner(refuses=True))
    assert figures.overall["f1"] == 0
    assert figures.overall["answered"] == 0
    assert "lint_clean" not in figures.overall


def test_baselines_are_measured_beside_the_planner():
    baselines = measured(CopyingPlanner()).model_dump()["baselines"]
    assert baselines["list_items"]["overall"]["f1"] == pytest.approx(100)
    assert baselines["list_items"]["overall"]["graph_f1"] < 100
    assert baselines["random"]["overall"]["f1"] < 60


def test_the_diagnosis_tells_a_page_not_found_from_one_not_chosen():
    library = Library()
    diagnosis = measured(
        CopyingPlanner(),
        find_context=lambda _pair, _ticket: library.retrieve_for("BGP session"),
        scorer=None,
    ).model_dump()["diagnosis"]
    assert diagnosis["all"]["page_found"] == 1
    assert diagnosis["page_chosen"]["answers"] == 1
    assert diagnosis["page_found_not_chosen"]["answers"] == 1
    assert diagnosis["page_not_found"]["answers"] == 0
    assert diagnosis["all"]["best_candidate_f1"] == pytest.approx(100)


def test_the_oracle_gives_the_pairs_own_pages():
    context = gold(Library(), Library().read)(PAIRS[1], PAIRS[1].ticket("titled"))
    assert [hit.node.id for hit in context.nodes] == ["bgp.md"]


def test_support_is_looked_up_and_not_believed():
    library = Library()
    check = SupportCheck(library, RecentVectors(HashingEmbedder(), 100))
    right = workflow("fan.md")
    wrong = tuple(
        step.model_copy(
            update={"citations": (Citation(document_id="bgp.md", start_line=3, end_line=3),)}
        )
        for step in right.steps
    )
    assert check.share(right) == 1
    assert check.share(Workflow(title="", steps=wrong, transitions=right.transitions)) == 0


def test_a_document_that_is_gone_supports_nothing():
    check = SupportCheck(Library(), RecentVectors(HashingEmbedder(), 100))
    steps = tuple(
        step.model_copy(
            update={"citations": (Citation(document_id="gone.md", start_line=1, end_line=1),)}
        )
        for step in workflow("fan.md").steps
    )
    assert check.share(Workflow(title="", steps=steps)) == 0
