import pytest

from evaluation.benches.graph import BuiltDocument, report
from services.ingestion.graph_build.document import BuiltPart
from services.ingestion.graph_build.estimate import BuildCounts
from services.knowledge.model import Document, IncidentNode, Passage, SectionRole, Span

TEXT = """# Pump

It leaks.

It is loud.

## Fix

1. Replace the seal.
2. Oil it.
"""


def passage(start, end, role):
    text = "\n".join(TEXT.split("\n")[start - 1 : end])
    span = Span(document_id="a/pump.md", start_line=start, end_line=end)
    return Passage(span=span, role=role, heading_path=(), text=text)


def built(name, tally, nodes, document_id="a/pump.md"):
    structural = IncidentNode(
        id="1",
        name="Pump",
        failure_description=(passage(3, 5, SectionRole.MEANING),),
        mitigation_steps=(passage(9, 10, SectionRole.REMEDY),),
    )
    part = BuiltPart(
        document_id=document_id, text_hash="h", model=name, recipe="r", nodes=nodes, tally=tally
    )
    document = Document(id=document_id, title="Pump", text=TEXT, content_hash="h")
    return BuiltDocument(document, [structural], part)


OTHER = IncidentNode(
    id="2",
    name="Seal worn",
    failure_description=(passage(9, 9, SectionRole.MEANING),),
    mitigation_steps=(passage(10, 10, SectionRole.REMEDY),),
)
SAME = IncidentNode(id="1", name="PUMP", failure_description=(passage(3, 3, SectionRole.MEANING),))
TALLY = BuildCounts(
    chunks=1,
    names=4,
    names_unsupported=1,
    sentences=10,
    sentences_unsupported=2,
    tokens_in=90,
    tokens_out=10,
)


def test_names_and_lines_are_compared_both_ways():
    summary = report([built("m", TALLY, (OTHER, SAME))], 1.0)
    figures = summary.sets["a"]
    assert (figures["shared"], figures["added"], figures["lost"]) == (1, 1, 0)
    assert figures["lines"] == pytest.approx(3 / 4)
    assert figures["same_field"] == pytest.approx(2 / 3, abs=1e-3)
    pages = summary.model_extra["share_of_the_pages"]["a"]
    assert pages == {"lines": 4, "structure": 1.0, "model": 0.75}
    assert (figures["names_dropped"], figures["sentences_dropped"]) == (0.25, 0.2)
    assert summary.model_extra["cost"]["a"]["tokens_in"] == 90


def test_lines_of_each_field_are_told_apart():
    fields = report([built("m", TALLY, (OTHER, SAME))], 1.0).model_extra["fields"]
    assert fields["failure_description"] == {
        "structure_lines": 2,
        "model_lines": 2,
        "structure_lines_in_model": 0.5,
        "model_lines_in_structure": 0.5,
    }
    assert fields["mitigation_steps"]["model_lines_in_structure"] == 1.0
    assert fields["typical_cases"]["structure_lines_in_model"] == 0.0


def test_a_set_is_a_folder_and_its_shares_are_of_its_sums():
    documents = [
        built("m", TALLY, (OTHER, SAME)),
        built("m", BuildCounts(), (), "a/other.md"),
        built("n", BuildCounts(), (), "alone.md"),
    ]
    figures = report(documents, 1.0)
    assert sorted(figures.sets) == ["a", "documents"]
    assert figures.sets["a"]["lines"] == pytest.approx(3 / 8)
    assert figures.sets["documents"]["lost"] == 1
    assert figures.config == {"documents": 3, "model": "m, n"}
    assert [table.title for table in figures.tables()] == [
        "graph",
        "all documents",
        "fields",
        "share of the pages",
        "cost",
    ]
