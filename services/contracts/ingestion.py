"""Ingestion: documents in, a job that can be watched out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, BinaryIO, Protocol
from urllib.parse import quote

from pydantic import Field

from services.contracts.pictures import PagePicture, PictureFile
from services.contracts.readings import DoubtReport, DoubtTaken, DoubtWithdrawal
from services.kit.http.client import ServiceClient
from services.kit.value import Value
from services.knowledge.model import Document, ResolvedCase
from services.workflow.model import ShownPage

MOST_LINKS = 2_000
LONGEST_LINK = 4_096


class JobStatus(StrEnum):
    """Where a job stands."""

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
    """The folder, archive, checkout or upload it reads."""
    status: JobStatus
    total: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    skipped: int = 0
    """Files that are no documents: of a form that no reader knows, or legal and build files."""
    failed: tuple[FailedDocument, ...] = ()
    """Of very many, the first thousand by their ids."""
    chunks_embedded: int = 0
    approved_deleted: int = 0
    """Approved procedures that a removal deleted with the documents."""
    seconds_left: float | None = None
    """By the pace of late; None before there is one, and once it is over."""
    reason: str = ""
    created_at: datetime
    updated_at: datetime

    @property
    def handled(self) -> int:
        """Documents done with, of `total`."""
        return self.added + self.changed + self.unchanged + len(self.failed)

    @property
    def failures(self) -> int:
        """Documents that failed, those without a place in `failed` too once the job is done."""
        told = len(self.failed)
        if not told or self.status is not JobStatus.DONE:
            return told
        return max(told, self.total - self.added - self.changed - self.unchanged)

    @property
    def is_over(self) -> bool:
        """Whether nothing about it will change any more."""
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
    """Names its reading; empty where an older version ingested it."""
    is_outdated: bool = False
    """Whether it was read by older rules: an ingest reads it again."""
    owner: str = ""
    """The team that looks after it; empty where none was named."""


class DocumentQuery(Value):
    """Which documents are asked for; a field at its default asks for any."""

    root: str = Field(default="", max_length=4096)
    under: str = Field(default="", max_length=1024)
    """Beginning of the ids, such as a folder with its slash."""
    text: str = Field(default="", max_length=200)
    """Looked for in id and title, whatever the case."""
    after: str = Field(default="", max_length=1024)
    """The id behind which the list begins."""
    limit: int = Field(default=100, ge=1, le=1000)


ANY_DOCUMENT = DocumentQuery()


class LinkQuery(Value):
    """Links of a document's page, to be found among the documents."""

    document_id: str = Field(max_length=1024)
    links: tuple[Annotated[str, Field(max_length=LONGEST_LINK)], ...] = Field(max_length=MOST_LINKS)
    """As the page writes them, with or without fragments."""


class Folder(Value):
    """A folder of documents."""

    path: str
    """With its slash at the end: what ids in it begin with."""
    documents: int
    """Those in folders below it included."""


class DocumentPlace(Value):
    """A chunk or an incident node, and where in the document it stands."""

    id: str
    name: str
    start_line: int
    end_line: int


class DocumentContents(Value):
    """What became of one document."""

    document: IngestedDocument
    lines: tuple[str, ...]
    chunks: tuple[DocumentPlace, ...]
    nodes: tuple[DocumentPlace, ...]
    """In the order of their lines."""
    withheld: tuple[int, ...] = ()
    """Lines that screening left out of what is used."""
    boxes: dict[str, bool] = Field(default={})
    """Words of people on its blocks: whether one is a step to tick off, by its key."""
    box_habit: dict[str, float] = Field(default={})
    """What such words taught of the form of steps, in log-odds by sign; empty as shipped."""

    @property
    def shown_page(self) -> ShownPage:
        """The page as a checklist shows it, all of it open."""
        return ShownPage(
            document_id=self.document.id,
            title=self.document.title,
            text="\n".join(self.lines),
            withheld=self.withheld,
        )


class Ownership(Value):
    """The team that looks after documents; of several that apply the longest prefix wins."""

    root: str = Field(default="", max_length=4096)
    """A root's path; empty for documents of all roots."""
    prefix: str = Field(default="", max_length=1024)
    """A document's id, or a folder of them; empty for all."""
    team: str = Field(max_length=200)
    """Empty takes the entry out."""


class IngestedRoot(Value):
    """A folder, an archive, or the uploads, and what the stores hold of it."""

    path: str
    documents: int
    outdated: int
    """Of them, those that were read by older rules: an ingest reads them again."""
    is_upload: bool = False
    """Whether its documents were uploaded; each may be forgotten alone."""
    is_there: bool
    """Whether the service finds it on its disk; what it does not was moved, renamed or removed."""


@dataclass(frozen=True)
class Upload:
    """A file that a caller sends, read once from where it stands."""

    name: str
    """Path within the upload, with forward slashes: the document's id, or an archive's name."""
    content: BinaryIO


class IngestRequest(Value):
    """What to ingest: a file, a folder, a zip archive or a Git checkout on the service's disk."""

    path: str
    prune: bool = True
    """Whether documents that an earlier ingest of the same path brought and that are gone now
    disappear from the stores."""


class ForgetRequest(Value):
    """Whose documents are to be removed."""

    root: str
    """The path of a known root."""
    document: str = ""
    """The id of one uploaded document, which alone is meant."""


class RemovalCost(Value):
    """What would be lost."""

    documents: int
    approved: int
    """Approved procedures that no other document keeps."""


class Archived(Value):
    """Whether a case was kept: not where its document is unknown by now."""

    kept: bool


class ForgetCases(Value):
    """Resolved tickets that are no cases any more."""

    ids: tuple[str, ...] = Field(max_length=1000)


class DecayKind(StrEnum):
    """What has come apart between a page and others."""

    LINK = "link"
    """It links to a page that is not there."""
    NAME = "name"
    """It names something that other pages named once, and that none names any more."""


class Decay(Value):
    """A line of a page that the pages around it have left behind."""

    kind: DecayKind
    document_id: str
    line: int
    said: str
    """The link as it is written, or the name."""
    was: tuple[str, ...] = ()
    """The page that the link led to, or those that had the name too; 10 at most."""
    others: int = 0
    """How many these are."""
    instead: str = ""
    """The document that has its text or its file's name now, or what the other pages name since;
    empty where that is not clear."""
    since: datetime
    """When it was seen first."""


class Ingestion(Protocol):
    """Turns documents into chunks and incident nodes."""

    def ingest(self, request: IngestRequest) -> IngestJob:
        """Store the job and queue it; returns at once.

        Raises:
            InvalidInputError: The path does not exist or is outside the allowed roots.
        """

    def upload(self, files: Sequence[Upload]) -> IngestJob:
        """Keep the files, store a job for them and queue it; zip archives among them are opened.

        Raises:
            InvalidInputError: No file, a name that leads elsewhere, or a name given twice.
            PayloadTooLargeError: Too many files, or one that is too large.
        """

    def roots(self) -> list[IngestedRoot]:
        """Where the documents in the stores came from, in the order of the paths."""

    def forget(self, request: ForgetRequest) -> IngestJob:
        """Store a job that takes all documents of one root out of the stores, and queue it.

        Roots below it are roots of their own and stay. Files are not touched.

        Raises:
            NotFoundError: No document is of this root.
            InvalidInputError: One document is meant, and it was not uploaded: the next ingest of
                its root would bring it back.
        """

    def removal_cost(self, request: ForgetRequest) -> RemovalCost:
        """What `forget` would take away; raises as it does."""

    def job(self, job_id: str) -> IngestJob:
        """How the job stands.

        Raises:
            NotFoundError: No such job.
        """

    def jobs(self, *, limit: int = 50) -> list[IngestJob]:
        """The latest jobs, newest first."""

    def documents(self, query: DocumentQuery = ANY_DOCUMENT) -> list[IngestedDocument]:
        """Documents that are asked for, in the order of their ids."""

    def folders(self, *, root: str = "", under: str = "") -> list[Folder]:
        """The folders directly below `under`, in the order of their paths."""

    def linked(self, query: LinkQuery) -> dict[str, str]:
        """Return the documents that links of a page lead to, by the links as they are written.

        Those that lead elsewhere are left out.
        """

    def contents(self, document_id: str) -> DocumentContents:
        """What became of a document.

        Raises:
            NotFoundError: No such document.
        """

    def owners(self) -> list[Ownership]:
        """Who looks after what, in the order of roots and prefixes."""

    def set_owner(self, ownership: Ownership) -> list[Ownership]:
        """Name the team of these documents, in the place of an earlier one; returns all.

        Raises:
            InvalidInputError: The team is no line of text, or no document came from the root.
        """

    def document(self, document_id: str) -> Document:
        """The document with its text.

        Raises:
            NotFoundError: No such document.
        """

    def pictures(self, document_id: str) -> list[PagePicture]:
        """The pictures that a document names beside itself, also those that were not taken in.

        In the order of their paths; of an unknown document none.
        """

    def picture(self, document_id: str, content_hash: str) -> PictureFile:
        """The bytes of one of them.

        Raises:
            NotFoundError: None of this hash was taken in with the document.
        """

    def archive(self, case: ResolvedCase) -> Archived:
        """Keep a resolved ticket as a typical case of its page; of a page the newest are kept.

        The same case again replaces it. It stays when the page is read anew.
        """

    def forget_cases(self, request: ForgetCases) -> None:
        """Take cases out; unknown ids are ignored."""

    def doubt(self, report: DoubtReport) -> DoubtTaken:
        """Keep what a ticket finds wrong of a page as a doubt of its reading; again is the same."""

    def withdraw_doubts(self, request: DoubtWithdrawal) -> None:
        """Take such doubts out; unknown ones are ignored."""

    def decay(self) -> list[Decay]:
        """Links that lead nowhere and names that no other page has any more, by document."""


class IngestionClient:
    """`Ingestion` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def ingest(self, request: IngestRequest) -> IngestJob:
        """See `Ingestion.ingest`."""
        return IngestJob.model_validate(self._client.post("/v1/ingestions", request))

    def upload(self, files: Sequence[Upload]) -> IngestJob:
        """See `Ingestion.upload`."""
        named = [(file.name, file.content) for file in files]
        return IngestJob.model_validate(self._client.post_files("/v1/documents", "files", named))

    def roots(self) -> list[IngestedRoot]:
        """See `Ingestion.roots`."""
        return [IngestedRoot.model_validate(root) for root in self._client.get("/v1/roots")]

    def forget(self, request: ForgetRequest) -> IngestJob:
        """See `Ingestion.forget`."""
        return IngestJob.model_validate(self._client.post("/v1/removals", request))

    def job(self, job_id: str) -> IngestJob:
        """See `Ingestion.job`."""
        return IngestJob.model_validate(self._client.get(f"/v1/ingestions/{quote(job_id, '')}"))

    def jobs(self, *, limit: int = 50) -> list[IngestJob]:
        """See `Ingestion.jobs`."""
        found = self._client.get("/v1/ingestions", limit=limit)
        return [IngestJob.model_validate(job) for job in found]

    def removal_cost(self, request: ForgetRequest) -> RemovalCost:
        """See `Ingestion.removal_cost`."""
        asked = request.model_dump(exclude_defaults=True)
        return RemovalCost.model_validate(self._client.get("/v1/removals/cost", **asked))

    def documents(self, query: DocumentQuery = ANY_DOCUMENT) -> list[IngestedDocument]:
        """See `Ingestion.documents`."""
        found = self._client.get("/v1/documents", **query.model_dump(exclude_defaults=True))
        return [IngestedDocument.model_validate(document) for document in found]

    def folders(self, *, root: str = "", under: str = "") -> list[Folder]:
        """See `Ingestion.folders`."""
        found = self._client.get("/v1/folders", root=root, under=under)
        return [Folder.model_validate(folder) for folder in found]

    def linked(self, query: LinkQuery) -> dict[str, str]:
        """See `Ingestion.linked`."""
        found: dict[str, str] = self._client.post("/v1/links", query)
        return found

    def contents(self, document_id: str) -> DocumentContents:
        """See `Ingestion.contents`."""
        return DocumentContents.model_validate(
            self._client.get(f"/v1/contents/{quote(document_id)}")
        )

    def owners(self) -> list[Ownership]:
        """See `Ingestion.owners`."""
        return [Ownership.model_validate(each) for each in self._client.get("/v1/owners")]

    def set_owner(self, ownership: Ownership) -> list[Ownership]:
        """See `Ingestion.set_owner`."""
        found = self._client.put("/v1/owners", ownership)
        return [Ownership.model_validate(each) for each in found]

    def document(self, document_id: str) -> Document:
        """See `Ingestion.document`."""
        return Document.model_validate(self._client.get(f"/v1/documents/{quote(document_id)}"))

    def pictures(self, document_id: str) -> list[PagePicture]:
        """See `Ingestion.pictures`."""
        found = self._client.get("/v1/pictures", document=document_id)
        return [PagePicture.model_validate(each) for each in found]

    def picture(self, document_id: str, content_hash: str) -> PictureFile:
        """See `Ingestion.picture`."""
        path = f"/v1/pictures/{quote(content_hash, '')}"
        return PictureFile(*self._client.get_file(path, document=document_id))

    def archive(self, case: ResolvedCase) -> Archived:
        """See `Ingestion.archive`."""
        return Archived.model_validate(self._client.post("/v1/cases", case))

    def forget_cases(self, request: ForgetCases) -> None:
        """See `Ingestion.forget_cases`."""
        self._client.post("/v1/cases/removals", request)

    def doubt(self, report: DoubtReport) -> DoubtTaken:
        """See `Ingestion.doubt`."""
        return DoubtTaken.model_validate(self._client.post("/v1/doubts", report))

    def withdraw_doubts(self, request: DoubtWithdrawal) -> None:
        """See `Ingestion.withdraw_doubts`."""
        self._client.post("/v1/doubts/removals", request)

    def decay(self) -> list[Decay]:
        """See `Ingestion.decay`."""
        return [Decay.model_validate(each) for each in self._client.get("/v1/decay")]
