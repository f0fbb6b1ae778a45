"""Ingestion: documents in, as a job whose progress can be followed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, BinaryIO, Protocol
from urllib.parse import quote

from pydantic import Field

from services.contracts.client import ContractClient, route
from services.contracts.pictures import PagePicture, PictureFile
from services.contracts.readings import DoubtReport, DoubtTaken, DoubtWithdrawal
from services.contracts.ticket import PurgedTickets
from services.kit.value import Value
from services.knowledge.model import Document, ResolvedCase
from services.workflow.model import ShownPage

MOST_LINKS = 2_000
LONGEST_LINK = 4_096


class JobStatus(StrEnum):
    """Status of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    """Every document was handled; some may have failed, each with its reason."""
    FAILED = "failed"
    """The job as a whole could not run."""


class FailedDocument(Value):
    """A document that could not be ingested, and why."""

    document_id: str
    reason: str


class IngestJob(Value):
    """One ingestion and its progress, in documents."""

    id: str
    source: str
    """The folder, archive, checkout or upload that the job reads."""
    status: JobStatus
    total: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    skipped: int = 0
    """Number of files that are not documents: of a format that no reader knows, or legal and build
    files.
    """
    failed: tuple[FailedDocument, ...] = ()
    """Documents that failed; at most the first thousand by their ids."""
    chunks_embedded: int = 0
    approved_deleted: int = 0
    """Number of approved procedures that a removal deleted with the documents."""
    seconds_left: float | None = None
    """Estimated seconds left, from the recent pace; None before there is one and once the job is
    over.
    """
    reason: str = ""
    created_at: datetime
    updated_at: datetime

    @property
    def handled(self) -> int:
        """Number of documents handled, of `total`."""
        return self.added + self.changed + self.unchanged + len(self.failed)

    @property
    def failures(self) -> int:
        """Number of documents that failed, unlisted ones included once the job is done."""
        listed = len(self.failed)
        if not listed or self.status is not JobStatus.DONE:
            return listed
        return max(listed, self.total - self.added - self.changed - self.unchanged)

    @property
    def is_over(self) -> bool:
        """True if nothing about the job will change any more."""
        return self.status in {JobStatus.DONE, JobStatus.FAILED}


class IngestedDocument(Value):
    """A document in the stores, without its text."""

    id: str
    title: str
    media_type: str
    source: str
    """The folder, archive or upload that its id is relative to."""
    chunks: int
    nodes: int
    updated_at: datetime
    text_hash: str = ""
    """Hash of the text, which names its reading; empty if an older version ingested it."""
    is_outdated: bool = False
    """True if older rules read the document; the next ingest reads it again."""
    owner: str = ""
    """The team that owns the document; empty if none was named."""


class DocumentQuery(Value):
    """Filter for documents; a field at its default does not restrict it."""

    root: str = Field(default="", max_length=4096)
    under: str = Field(default="", max_length=1024)
    """Prefix of the ids, such as a folder with its slash."""
    text: str = Field(default="", max_length=200)
    """Text to find in id and title, ignoring case."""
    after: str = Field(default="", max_length=1024)
    """The id after which the list begins."""
    limit: int = Field(default=100, ge=1, le=1000)


ANY_DOCUMENT = DocumentQuery()


class LinkQuery(Value):
    """Links of a document's page, to be resolved among the documents."""

    document_id: str = Field(max_length=1024)
    links: tuple[Annotated[str, Field(max_length=LONGEST_LINK)], ...] = Field(max_length=MOST_LINKS)
    """Links as the page writes them, with or without fragments."""


class Folder(Value):
    """A folder of documents."""

    path: str
    """Path of the folder with a trailing slash: the prefix of the ids in it."""
    documents: int
    """Number of documents, those in subfolders included."""


class DocumentPlace(Value):
    """A chunk or an incident node, and its lines in the document."""

    id: str
    name: str
    start_line: int
    end_line: int


class DocumentContents(Value):
    """A document with its lines, chunks and incident nodes."""

    document: IngestedDocument
    lines: tuple[str, ...]
    chunks: tuple[DocumentPlace, ...]
    nodes: tuple[DocumentPlace, ...]
    """Incident nodes, in the order of their lines."""
    withheld: tuple[int, ...] = ()
    """Numbers of the lines that screening withholds."""
    boxes: dict[str, bool] = Field(default={})
    """Corrections of people to its blocks, by block key: True if the block is a step to tick
    off.
    """
    box_habit: dict[str, float] = Field(default={})
    """Log-odds of being a step, by sign of form, learned from such corrections; empty as
    shipped.
    """

    @property
    def shown_page(self) -> ShownPage:
        """The page as a checklist shows it, with all sections open."""
        return ShownPage(
            document_id=self.document.id,
            title=self.document.title,
            text="\n".join(self.lines),
            withheld=self.withheld,
        )


class Ownership(Value):
    """The team that owns documents; if several entries apply, the longest prefix wins."""

    root: str = Field(default="", max_length=4096)
    """Path of a root; empty for documents of all roots."""
    prefix: str = Field(default="", max_length=1024)
    """Id of a document, or a folder of them; empty for all."""
    team: str = Field(max_length=200)
    """Name of the team; an empty one removes the entry."""


class IngestedRoot(Value):
    """A folder, an archive or the uploads, and the documents that came from it."""

    path: str
    documents: int
    outdated: int
    """Number of documents that older rules read; the next ingest reads them again."""
    is_upload: bool = False
    """True if the documents were uploaded, so that each may be removed alone."""
    is_there: bool
    """True if the service finds it on its disk; a root that was moved, renamed or removed is
    missing.
    """


@dataclass(frozen=True)
class Upload:
    """A file that a caller sends, read once as a stream."""

    name: str
    """Path within the upload, with forward slashes: the document's id, or an archive's name."""
    content: BinaryIO


class IngestRequest(Value):
    """Path to ingest on the service's disk: a file, folder, zip archive or Git checkout."""

    path: str
    prune: bool = True
    """True if documents of an earlier ingest of the same path that no longer exist are removed from
    the stores.
    """


class ForgetRequest(Value):
    """Root, or uploaded document, to remove from the stores."""

    root: str
    """Path of a known root."""
    document: str = ""
    """Id of one uploaded document, to remove it alone."""


class RemovalCost(Value):
    """Loss that a removal would cause."""

    documents: int
    approved: int
    """Number of approved procedures that no other document keeps."""


class Archived(Value):
    """Result of archiving a case."""

    kept: bool


class ForgetCases(Value):
    """Resolved tickets whose cases are to be removed."""

    ids: tuple[str, ...] = Field(max_length=1000)


class DecayKind(StrEnum):
    """Kind of decay between a page and other pages."""

    LINK = "link"
    """The page links to one that does not exist."""
    NAME = "name"
    """The page names something that other pages once named and none names any more."""


class Decay(Value):
    """A line of a page that other pages have moved on from."""

    kind: DecayKind
    document_id: str
    line: int
    said: str
    """The link as it is written, or the name."""
    was: tuple[str, ...] = ()
    """The page that the link led to, or the pages that had the name too; 10 at most."""
    others: int = 0
    """Number of such pages."""
    instead: str = ""
    """The document that has the missing page's text or file name now, or the name that the other
    pages use instead; empty if that is not clear.
    """
    since: datetime
    """Time at which it was first seen."""


class Ingestion(Protocol):
    """Converter of documents into chunks and incident nodes."""

    def ingest(self, request: IngestRequest) -> IngestJob:
        """Store the job and queue it; return at once.

        Raises:
            InvalidInputError: The path does not exist or is outside the allowed roots.
        """

    def upload(self, files: Sequence[Upload]) -> IngestJob:
        """Keep the files, store a job for them and queue it; zip archives among them are unpacked.

        Raises:
            InvalidInputError: No file, a name that leads elsewhere, or a name given twice.
            PayloadTooLargeError: Too many files, or one that is too large.
        """

    def roots(self) -> list[IngestedRoot]:
        """List the origins of the documents in the stores, in the order of their paths."""

    def forget(self, request: ForgetRequest) -> IngestJob:
        """Store a job that removes all documents of one root from the stores, and queue it.

        Roots below it are roots of their own and stay. Files are not touched.

        Raises:
            NotFoundError: No document is of this root.
            InvalidInputError: One document is meant, and it was not uploaded: the next ingest of
                its root would bring it back.
        """

    def removal_cost(self, request: ForgetRequest) -> RemovalCost:
        """Return the loss that `forget` would cause; raises as it does."""

    def job(self, job_id: str) -> IngestJob:
        """Return the state of a job.

        Raises:
            NotFoundError: No such job.
        """

    def jobs(self, *, limit: int = 50) -> list[IngestJob]:
        """List the latest jobs, newest first."""

    def documents(self, query: DocumentQuery = ANY_DOCUMENT) -> list[IngestedDocument]:
        """List the documents that match the query, in the order of their ids."""

    def folders(self, *, root: str = "", under: str = "") -> list[Folder]:
        """List the folders directly below `under`, in the order of their paths."""

    def linked(self, query: LinkQuery) -> dict[str, str]:
        """Return the documents that links of a page lead to, by the links as written.

        Links that lead elsewhere are left out.
        """

    def contents(self, document_id: str) -> DocumentContents:
        """Return everything that was derived from a document.

        Raises:
            NotFoundError: No such document.
        """

    def owners(self) -> list[Ownership]:
        """List the owners of documents, in the order of roots and prefixes."""

    def set_owner(self, ownership: Ownership) -> list[Ownership]:
        """Set the team that owns these documents and return all owners.

        Raises:
            InvalidInputError: The team is no line of text, or no document came from the root.
        """

    def document(self, document_id: str) -> Document:
        """Return the document with its text, by its id or an end of it that no other id has.

        All other methods take whole ids: an id that was stored must not lead to another document
        once its own is gone.

        Raises:
            NotFoundError: No such document.
            ConflictError: Several ids end so.
        """

    def pictures(self, document_id: str) -> list[PagePicture]:
        """List the pictures that a document refers to, those that were not ingested too.

        They come in the order of their paths; an unknown document has none.
        """

    def picture(self, document_id: str, content_hash: str) -> PictureFile:
        """Return the bytes of a picture.

        Raises:
            NotFoundError: No picture with this hash was ingested with the document.
        """

    def archive(self, case: ResolvedCase) -> Archived:
        """Keep a resolved ticket as a typical case of its page; a page keeps the newest ones.

        Archiving the same case again replaces it. It stays when the page is ingested again.
        """

    def forget_cases(self, request: ForgetCases) -> None:
        """Remove cases; unknown ids are ignored."""

    def forget_tickets(self, purged: PurgedTickets) -> None:
        """Delete the cases and doubts of these tickets, and pages proposed of their runs.

        A page that was accepted stays, and no longer names them.
        """

    def doubt(self, report: DoubtReport) -> DoubtTaken:
        """Keep an engineer's report as a doubt of the page's reading; repeating it is harmless."""

    def withdraw_doubts(self, request: DoubtWithdrawal) -> None:
        """Remove such doubts; unknown ones are ignored."""

    def decay(self) -> list[Decay]:
        """List dead links, and names that no other page has any more, by document."""


class IngestionClient(ContractClient):
    """`Ingestion` in another process, over HTTP."""

    ingest = route(Ingestion.ingest, "POST", "/v1/ingestions")

    def upload(self, files: Sequence[Upload]) -> IngestJob:
        """See `Ingestion.upload`."""
        named = [(file.name, file.content) for file in files]
        return IngestJob.model_validate(self._client.post_files("/v1/documents", "files", named))

    roots = route(Ingestion.roots, "GET", "/v1/roots")
    forget = route(Ingestion.forget, "POST", "/v1/removals")
    job = route(Ingestion.job, "GET", "/v1/ingestions/{job_id}")
    jobs = route(Ingestion.jobs, "GET", "/v1/ingestions")
    removal_cost = route(Ingestion.removal_cost, "GET", "/v1/removals/cost")
    documents = route(Ingestion.documents, "GET", "/v1/documents")
    folders = route(Ingestion.folders, "GET", "/v1/folders")
    linked = route(Ingestion.linked, "POST", "/v1/links")
    contents = route(Ingestion.contents, "GET", "/v1/contents/{document_id:path}")
    owners = route(Ingestion.owners, "GET", "/v1/owners")
    set_owner = route(Ingestion.set_owner, "PUT", "/v1/owners")
    document = route(Ingestion.document, "GET", "/v1/documents/{document_id:path}")

    def pictures(self, document_id: str) -> list[PagePicture]:
        """See `Ingestion.pictures`."""
        rows = self._client.get("/v1/pictures", document=document_id)
        return [PagePicture.model_validate(each) for each in rows]

    def picture(self, document_id: str, content_hash: str) -> PictureFile:
        """See `Ingestion.picture`."""
        path = f"/v1/pictures/{quote(content_hash, '')}"
        return PictureFile(*self._client.get_file(path, document=document_id))

    archive = route(Ingestion.archive, "POST", "/v1/cases")
    forget_cases = route(Ingestion.forget_cases, "POST", "/v1/cases/removals")
    forget_tickets = route(Ingestion.forget_tickets, "POST", "/v1/tickets/removals")
    doubt = route(Ingestion.doubt, "POST", "/v1/doubts")
    withdraw_doubts = route(Ingestion.withdraw_doubts, "POST", "/v1/doubts/removals")
    decay = route(Ingestion.decay, "GET", "/v1/decay")
