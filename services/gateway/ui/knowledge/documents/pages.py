"""Documents: where they came from, and one of them with all that became of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from services.contracts.gateway import Citing
from services.contracts.ingestion import DocumentQuery, IngestedRoot, LinkQuery
from services.contracts.proposals import ACCEPTED_PAGES
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.knowledge.readings.pages import asked_address
from services.gateway.ui.page_links import PageLinks
from services.gateway.ui.pictures import pictures_by_line, pictures_from
from services.gateway.ui.templates import LINES_SHOWN, first_shown
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import NotFoundError
from services.knowledge.page.parsing import parse_page

PAGE_SIZE = 100


@dataclass(frozen=True)
class Crumb:
    """A folder on the way to the one that is shown."""

    name: str
    path: str


def create_document_pages(known: Known) -> APIRouter:
    """The pages, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/documents")
    @needs(Need.READ)
    def documents_page(
        root: Annotated[str, Query(max_length=4096)] = "",
        under: Annotated[str, Query(max_length=1024)] = "",
        text: Annotated[str, Query(max_length=200)] = "",
        after: Annotated[str, Query(max_length=1024)] = "",
    ) -> HTMLResponse:
        """Roots, or the folders and documents of one, or what a search finds."""
        query = DocumentQuery(root=root, under=under, text=text, after=after, limit=PAGE_SIZE + 1)
        is_list = bool(root or text or under)
        found = known.services.ingestion.documents(query) if is_list else []
        is_tree = bool(root) and not text and not after
        chosen = {"root": root, "under": under, "text": text}
        return known.page(
            "knowledge/documents/list.html",
            tab="Documents",
            roots=known.services.ingestion.roots(),
            is_list=is_list,
            folders=known.services.ingestion.folders(root=root, under=under) if is_tree else [],
            documents=found[:PAGE_SIZE],
            following=found[PAGE_SIZE - 1].id if len(found) > PAGE_SIZE else None,
            chosen=chosen,
            asked=asked_address("/knowledge/documents", chosen),
            crumbs=list(crumbs(under)),
            may_ingest=current_caller().may(Scope.INGEST),
            name_of_root=name_of_root,
            accepted_pages=ACCEPTED_PAGES,
        )

    @router.get("/knowledge/document/{document_id:path}")
    @needs(Need.READ)
    def document_page(
        document_id: str, start: Annotated[int, Query(alias="from", ge=1, le=10_000_000)] = 1
    ) -> HTMLResponse:
        """One document's text with what became of it, and what rests on it."""
        contents = known.services.ingestion.contents(document_id)
        first = first_shown(min(start, len(contents.lines)))
        citing = known.citations.of_document(document_id)
        pictures = pictures_from(known.services.ingestion)
        return known.page(
            "knowledge/documents/page.html",
            tab="Documents",
            contents=contents,
            document=contents.document,
            first=first,
            lines=contents.lines[first - 1 : first - 1 + LINES_SHOWN],
            lines_shown=LINES_SHOWN,
            citing=citing,
            cited=cited_lines(citing),
            pictures=pictures_by_line(pictures, document_id, contents.lines),
            is_upload=is_upload(contents.document.source, known.services.ingestion.roots()),
            may_ingest=current_caller().may(Scope.INGEST),
            name_of_root=name_of_root,
        )

    @router.get("/knowledge/link")
    @needs(Need.READ)
    def link_of_page(
        from_: Annotated[str, Query(alias="from", max_length=1024)],
        to: Annotated[str, Query(max_length=4096)],
    ) -> Response:
        """Follow a link as a document writes it, to the document that it means, at its heading."""
        ingestion = known.services.ingestion
        fragment = to.partition("#")[2]
        document = ingestion.linked(LinkQuery(document_id=from_, links=(to,))).get(to)
        if document is None:
            raise NotFoundError(f"no document is known at {to!r}, which {from_!r} links to")
        line = _line_of(ingestion.contents(document).lines, fragment) if fragment else 1
        place = f"?from={first_shown(line)}#L{line}" if line > 1 else ""
        return RedirectResponse(f"/knowledge/document/{quote(document)}{place}", 303)

    return router


def _line_of(lines: Sequence[str], fragment: str) -> int:
    """Return the line of the heading that a fragment leads to; 1 where there is none."""
    page = parse_page("\n".join(lines))
    key = PageLinks(page, "").heading(fragment)
    return next((block.start_line for block in page.blocks if block.key == key), 1)


def crumbs(under: str) -> Iterator[Crumb]:
    """The folders down to this one."""
    names = [name for name in under.split("/") if name]
    paths = accumulate(names, lambda path, name: f"{path}/{name}")
    return (Crumb(name, f"{path}/") for name, path in zip(names, paths, strict=True))


def cited_lines(citing: Sequence[Citing]) -> set[int]:
    """Numbers of the lines that workflows rest on."""
    spans = (span for each in citing if each.workflow_id for span in each.lines)
    return {number for start, end in spans for number in range(start, end + 1)}


def is_upload(source: str, roots: Sequence[IngestedRoot]) -> bool:
    """Whether documents of this root were uploaded, so that each may be forgotten alone."""
    return any(root.path == source and root.is_upload for root in roots)


def name_of_root(root: IngestedRoot) -> str:
    """A root in words."""
    return "Uploads" if root.is_upload else root.path
