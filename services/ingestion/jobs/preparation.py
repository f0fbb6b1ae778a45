"""Preparation of a root's files: read, converted, cut into chunks and nodes."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

import structlog

from services.ingestion.catalogue.ledger import MovedFile, can_replace
from services.ingestion.converters import ConvertedDocument, UnreadableDocumentError, reader_of
from services.ingestion.converters.isolation import IsolatedReaders
from services.ingestion.jobs.state import JobState, taken_reason
from services.ingestion.jobs.stores import PreparedDocument, Window
from services.ingestion.metrics import DOCUMENTS, SUSPICIOUS
from services.ingestion.pictures.page_pictures import PictureSources
from services.ingestion.roots.scan import RootEntry
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.kit.observability.metrics import stage_timer
from services.knowledge.model import Document
from services.knowledge.screening.document import ScreenedDocument

_MOST_CUT_OFF = 2
"""Resumed runs of a job that may end while they read a document; the next one leaves it out."""
_MOST_PICTURE_BYTES = 50_000_000
"""Bytes of embedded pictures that fill a window."""
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*)$|^(\S.*)\n(?:={3,}|-{3,})[ \t]*$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*\n", re.DOTALL)
_FENCE = re.compile(r" {0,3}(```|~~~)")
_CLOSING_FENCE = re.compile(r" {0,3}(```|~~~)[`~]*[ \t]*")
_LINK = re.compile(r"(?<!\\)!?\[((?:[^\]\\]|\\.)*)\]\([^)]*\)")
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|[*_`]+")
_TITLE_LENGTH = 200
_LONGEST_HEADING = 2_000
"""Characters of a heading that a title is taken from; links are searched for by the square."""

_log = structlog.get_logger()


def prepared_windows(
    entries: Iterable[RootEntry],
    state: JobState,
    pipeline: Pipeline,
    settings: IngestionSettings,
    save_cut_off: Callable[[Mapping[str, int]], None],
) -> Iterator[Window]:
    """Yield prepared documents, as many as are embedded and written together.

    Documents that fail, or did not change, are noted in `state` and left out. A job that was cut
    off saves which document it reads, and leaves one out that cut it off again and again.
    """
    window: Window = []
    with IsolatedReaders(
        timeout_s=settings.reader_timeout_s, memory_bytes=settings.reader_memory_bytes
    ) as isolated:
        for entry in entries:
            id_ = entry.document_id
            times = state.cut_off.get(id_, 0)
            if times >= _MOST_CUT_OFF:
                state.fail(id_, f"the process ended {times} times while it read this file")
                state.time_left.drop(entry.size)
                continue
            if state.is_resumed:
                save_cut_off({**state.cut_off, id_: times + 1})
            prepared = _prepare(entry, state, pipeline, isolated, settings.max_text_chars)
            if state.is_resumed:
                state.cut_off.pop(id_, None)
                save_cut_off(state.cut_off)
            if prepared is None:
                state.time_left.drop(entry.size)
                continue
            window.append(prepared)
            chunks = sum(len(each.chunks) for each in window)
            pictures = (data for each in window for data in each.pictures.embedded.values())
            if chunks >= settings.window_chunks or sum(map(len, pictures)) >= _MOST_PICTURE_BYTES:
                yield window
                window = []
    if window:
        yield window


def _prepare(
    entry: RootEntry, state: JobState, pipeline: Pipeline, isolated: IsolatedReaders, max_chars: int
) -> PreparedDocument | None:
    """Prepare a document; return None if it failed, which is noted, or did not change."""
    try:
        return _read(entry, state, pipeline, isolated, max_chars)
    except UnreadableDocumentError as error:
        state.fail(entry.document_id, str(error))
    except OSError as error:
        state.fail(entry.document_id, f"it cannot be read: {error.strerror or error}")
    except (
        RecursionError,
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        # Strange content that breaks a parser is one document's failure, not the job's.
        _log.exception("ingestion.document_failed", document_id=entry.document_id)
        state.fail(entry.document_id, f"it cannot be parsed: {type(error).__name__}")
    return None


def _read(
    entry: RootEntry, state: JobState, pipeline: Pipeline, isolated: IsolatedReaders, max_chars: int
) -> PreparedDocument | None:
    with stage_timer("ingestion", "read"):
        data = entry.read()
        if _is_unchanged(entry, hashlib.sha256(data).hexdigest(), state, pipeline.version):
            return None
        whole, pictures = read_document(entry.document_id, data, isolated, max_chars=max_chars)
        front_matter = {**whole.front_matter, **entry.marks}
        whole = whole.model_copy(update={"front_matter": front_matter})
        document = ScreenedDocument(whole)
    with stage_timer("ingestion", "split"):
        chunks = tuple(pipeline.split(document))
    is_suspicious = _warn_of_instructions(document)
    # One of which nothing is left takes the place of what it was before.
    if not chunks and not is_suspicious:
        raise UnreadableDocumentError("it holds no text")
    with stage_timer("ingestion", "extract"):
        nodes = tuple(pipeline.extract(document))
    sources = PictureSources(entry.find, pictures)
    return PreparedDocument(document, entry.fingerprint, chunks, nodes, sources)


def read_document(
    document_id: str, data: bytes, isolated: IsolatedReaders, *, max_chars: int
) -> tuple[Document, Mapping[str, bytes]]:
    """Read a document, titled by its front matter, first heading, metadata or file name.

    The pictures embedded in its file come with it, by the addresses that its text uses for them.

    Raises:
        UnreadableDocumentError: It cannot be read, is empty, or is too long.
    """
    reader = reader_of(document_id)
    if reader is None:
        raise UnreadableDocumentError("no reader knows files of this name")
    if not data.strip():
        raise UnreadableDocumentError("it is empty")
    reading = isolated.read(reader, data) if reader.isolated else reader.read(data)
    text = reading.text
    if not text.strip():
        raise UnreadableDocumentError("it holds no text")
    if len(text) > max_chars:
        raise UnreadableDocumentError(
            f"it has {len(text):,} characters of text, more than the {max_chars:,} allowed"
        )
    document = Document(
        id=document_id,
        title=_title(document_id, reading)[:_TITLE_LENGTH],
        text=text,
        media_type=reader.media_type,
        content_hash=hashlib.sha256(data).hexdigest(),
        front_matter=reading.front_matter,
    )
    return document, reading.pictures


def _title(document_id: str, reading: ConvertedDocument) -> str:
    stated = reading.front_matter.get("title", "")
    if isinstance(stated, str) and stated.strip():
        return " ".join(stated.split())
    match = _HEADING.search(_without_code(_FRONT_MATTER.sub("", reading.text, count=1)))
    heading = (match[2] or match[1].rstrip("#"))[:_LONGEST_HEADING] if match else ""
    return (
        " ".join(_MARKUP.sub(r"\1", _LINK.sub(r"\1", heading)).split())
        or " ".join(reading.title.split())
        or re.sub(r"[-_\s]+", " ", PurePosixPath(document_id).stem).strip()
    )


def _without_code(text: str) -> str:
    """Return the text with the lines of its fenced code emptied; a fence without end is none."""
    lines = text.split("\n")
    ends = [_CLOSING_FENCE.fullmatch(line) for line in lines]
    last_end = {end[1]: number for number, end in enumerate(ends) if end}
    fence = ""
    for number, (line, end) in enumerate(zip(lines, ends, strict=True)):
        opening = None if fence else _FENCE.match(line)
        if opening and last_end.get(opening[1], 0) > number:
            fence = opening[1]
        elif not fence:
            continue
        elif end and end[1] == fence:
            fence = ""
        lines[number] = ""
    return "\n".join(lines)


def _is_unchanged(entry: RootEntry, content_hash: str, state: JobState, pipeline: str) -> bool:
    """Return True if the stores have this content already, made by this pipeline.

    Raises:
        UnreadableDocumentError: They have another source's document of this id.
    """
    recorded = state.ledger_entries.get(entry.document_id)
    if recorded is None:
        return False
    is_same = (recorded.content_hash, recorded.pipeline) == (content_hash, pipeline)
    is_replaceable = can_replace(recorded, state.job.source)
    if not is_same and not is_replaceable:
        raise UnreadableDocumentError(taken_reason(recorded.source))
    if is_same and is_replaceable:
        state.moved[entry.document_id] = MovedFile(recorded.source, entry.fingerprint)
    state.job.unchanged += is_same
    DOCUMENTS.labels("unchanged").inc(is_same)
    return is_same


def _warn_of_instructions(document: ScreenedDocument) -> bool:
    """Log sentences that address a model and were left out; return True if there are any."""
    sentences = document.suspicious
    if sentences:
        SUSPICIOUS.inc(len(sentences))
        _log.warning(
            "ingestion.instructions_left_out",
            document_id=document.id,
            texts=len(sentences),
            first=sentences[0],
        )
    return bool(sentences)
