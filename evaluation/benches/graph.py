"""The graph that a model built, against the structural one and against the pages.

Figures of a set are sums over its documents first and shares of them then, so that a long page
weighs as much as it has lines. A set is the outermost folder of a document's id.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from evaluation.measures.figures import Figures, Report, mean_over_sets
from services.ingestion.graph_build.comparison import (
    FieldLines,
    GraphComparison,
    compare,
    compare_fields,
    lines_of,
)
from services.ingestion.graph_build.document import BuiltPart
from services.ingestion.graph_build.estimate import BuildCounts
from services.kit.errors import NotFoundError
from services.knowledge.document.markdown import MarkdownPage, parse
from services.knowledge.model import Attribute, Document, IncidentNode
from services.knowledge.screening.document import ScreenedDocument

if TYPE_CHECKING:
    from services.deployment.embedded import Embedded

_WHOLE = "documents"
"""The set of documents that are in no folder."""


class NothingBuiltError(NotFoundError):
    """No document of the store was read by a model as it is now."""


@dataclass(frozen=True)
class BuiltDocument:
    """One document with its nodes by structure and by a model."""

    document: Document
    structural: Sequence[IncidentNode]
    part: BuiltPart

    @property
    def set_name(self) -> str:
        """The outermost folder."""
        folder, slash, _ = self.document.id.partition("/")
        return folder if slash else _WHOLE


def built_documents(platform: "Embedded") -> list[BuiltDocument]:
    """All that a model built, by id.

    Raises:
        NothingBuiltError: It built nothing, or only of texts that are gone.
    """
    documents = []
    for id_ in sorted(platform.documents.hashes()):
        document = platform.ingestion.document(id_)
        structural, part = platform.ingestion.both_parts(ScreenedDocument(document))
        if part is not None:
            documents.append(BuiltDocument(document, structural, part))
    if not documents:
        raise NothingBuiltError("no document was built by a model: run flowxpert build-graph first")
    return documents


def report(documents: Sequence[BuiltDocument], seconds: float) -> Report:
    """Names and lines both ways, what was dropped, and what it cost."""
    by_set = {
        name: [each for each in documents if each.set_name == name]
        for name in sorted({each.set_name for each in documents})
    }
    sets = {name: _figures(some) for name, some in by_set.items()}
    models = sorted({each.part.model for each in documents})
    return Report.model_validate(
        {
            "benchmark": "graph",
            "overall": mean_over_sets(sets),
            "sets": sets,
            "config": {"documents": len(documents), "model": ", ".join(models)},
            "seconds": seconds,
            "all_documents": {"overall": _figures(documents)},
            "fields": _fields(documents),
            "share_of_the_pages": {name: _on_pages(some) for name, some in by_set.items()},
            "cost": {name: _cost(some) for name, some in by_set.items()},
        }
    )


def _figures(documents: Sequence[BuiltDocument]) -> Figures:
    """Incidents in both graphs, lines of the structural one, shares of what the model gave."""
    tally = _tally(documents)
    compared = reduce(
        add, (compare(each.structural, each.part.nodes) for each in documents), GraphComparison()
    )
    return {
        "n": len(documents),
        "shared": compared.names_shared,
        "added": compared.names_added,
        "lost": compared.names_lost,
        "lines": _share(compared.lines_of_model, compared.lines),
        "same_field": _share(compared.lines_same_field, compared.lines_of_model),
        "names_dropped": _share(tally.names_unsupported, tally.names),
        "sentences_dropped": _share(tally.sentences_unsupported, tally.sentences),
    }


def _on_pages(documents: Sequence[BuiltDocument]) -> Figures:
    """Of the lines that stand on the pages, headings apart."""
    pages = [_page_lines(parse(each.document.text)) for each in documents]
    lines = sum(map(len, pages))
    return {
        "lines": lines,
        "structure": _share(_covered_lines(documents, pages, lambda each: each.structural), lines),
        "model": _share(_covered_lines(documents, pages, lambda each: each.part.nodes), lines),
    }


def _cost(documents: Sequence[BuiltDocument]) -> Figures:
    """Per document, but for the answers that could not be read."""
    tally = _tally(documents)
    return {
        "chunks": round(tally.chunks / len(documents), 1),
        "tokens_in": round(tally.tokens_in / len(documents), 1),
        "tokens_out": round(tally.tokens_out / len(documents), 1),
        "seconds": round(tally.seconds / len(documents), 1),
        "unreadable": tally.unreadable,
    }


def _tally(documents: Iterable[BuiltDocument]) -> BuildCounts:
    return reduce(add, (each.part.tally for each in documents), BuildCounts())


def _fields(documents: Iterable[BuiltDocument]) -> Mapping[str, Figures]:
    sums = dict.fromkeys(Attribute, FieldLines())
    for each in documents:
        for attribute, lines in compare_fields(each.structural, each.part.nodes).items():
            sums[attribute] += lines
    return {
        attribute.value: {
            "structure_lines": lines.structure,
            "model_lines": lines.model,
            "structure_lines_in_model": _share(lines.both, lines.structure),
            "model_lines_in_structure": _share(lines.both, lines.model),
        }
        for attribute, lines in sums.items()
    }


def _covered_lines(
    documents: Sequence[BuiltDocument],
    pages: Sequence[set[int]],
    nodes: Callable[[BuiltDocument], Sequence[IncidentNode]],
) -> int:
    """Count the lines of the pages that these nodes cover."""
    return sum(
        len(page & lines_of(nodes(each))) for each, page in zip(documents, pages, strict=True)
    )


def _page_lines(page: MarkdownPage) -> set[int]:
    """Lines with text that are no headings."""
    return {
        line
        for start, end in _ranges(page)
        for line in range(start, end + 1)
        if _has_text(page, line)
    }


def _ranges(page: MarkdownPage) -> Iterator[tuple[int, int]]:
    for section in page.sections:
        for block in section.blocks:
            yield block.start_line, block.end_line


def _has_text(page: MarkdownPage, line: int) -> bool:
    return bool(page.text(line, line).strip())


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
