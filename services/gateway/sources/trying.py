"""What the bodies in files become: read as the gateway would, and stored nowhere."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from services.contracts.ticket import TicketDraft
from services.gateway.sources.delivery import Delivery, Reading
from services.gateway.sources.reading import Reader
from services.kit.errors import FlowXpertError, PayloadTooLargeError


class Ended(BaseModel):
    """A fault that a body says is over."""

    source: str
    external_id: str
    occurrence: str


class Said(BaseModel):
    """A comment that a body holds."""

    source: str
    external_id: str
    text: str
    author: str
    id: str


class Tried(BaseModel):
    """What a file becomes: tickets of a source, or a refusal."""

    model_config = ConfigDict(frozen=True)

    file: str
    source: str | None = None
    tickets: tuple[TicketDraft, ...] = ()
    resolved: tuple[Ended, ...] = ()
    comments: tuple[Said, ...] = ()
    ignored: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    status: int = 202
    """What the webhook would be answered."""
    error: str | None = None
    detail: str | None = None

    @property
    def is_read(self) -> bool:
        """Whether it is a body that the gateway takes."""
        return self.error is None


def files_of(path: Path) -> Iterator[Path]:
    """The file, or all files named `*.json` in the folder and those below."""
    if path.is_file():
        yield path
    else:
        yield from sorted(file for file in path.rglob("*.json") if file.is_file())


def try_file(reader: Reader, file: Path, *, source: str | None, max_bytes: int) -> Tried:
    """The file's body as the gateway would read it; whoever signed it is not asked."""
    try:
        delivery = reader.read(_bytes_of(file, max_bytes), source)
    except FlowXpertError as error:
        return Tried(file=str(file), status=error.status_code, **error.body())
    read: tuple[Reading, ...] = (
        *delivery.tickets,
        *delivery.resolved,
        *delivery.comments,
        *delivery.ignored,
    )
    return _told(file, read[0].source, delivery)


def _told(file: Path, source: str, delivery: Delivery) -> Tried:
    return Tried(
        file=str(file),
        source=source,
        tickets=delivery.tickets,
        resolved=tuple(Ended(**asdict(over)) for over in delivery.resolved),
        comments=tuple(Said(**asdict(said)) for said in delivery.comments),
        ignored=tuple(event.reason for event in delivery.ignored),
        rejected=tuple(item.reason for item in delivery.rejected),
    )


def _bytes_of(file: Path, max_bytes: int) -> bytes:
    size = file.stat().st_size
    if size > max_bytes:
        raise PayloadTooLargeError(f"a body may have {max_bytes} bytes, this one has {size}")
    return file.read_bytes()
