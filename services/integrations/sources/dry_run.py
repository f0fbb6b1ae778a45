"""Dry run of webhooks: bodies in files are read as the gateway would, and stored nowhere."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from services.contracts.ticket import TicketDraft
from services.integrations.sources.delivery_reader import DeliveryReader
from services.kit.errors import FlowXpertError, PayloadTooLargeError
from services.kit.files import require_file
from services.tickets.intake.delivery import DeliveryItem


class TrialResolution(BaseModel):
    """Fault that a body says is over."""

    source: str
    external_id: str
    occurrence: str


class TrialComment(BaseModel):
    """Comment in a body."""

    source: str
    external_id: str
    text: str
    author: str
    id: str


class TrialResult(BaseModel):
    """Result of reading a file: tickets of a source, or a refusal."""

    model_config = ConfigDict(frozen=True)

    file: str
    source: str | None = None
    tickets: tuple[TicketDraft, ...] = ()
    resolved: tuple[TrialResolution, ...] = ()
    comments: tuple[TrialComment, ...] = ()
    ignored: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    status: int = 202
    """HTTP status that the webhook would answer."""
    error: str | None = None
    detail: str | None = None

    @property
    def is_read(self) -> bool:
        """True if the gateway would take the body."""
        return self.error is None


def files_of(path: Path) -> Iterator[Path]:
    """Yield the file, or all files named `*.json` in the folder and those below."""
    if path.is_file():
        yield path
    else:
        yield from sorted(file for file in path.rglob("*.json") if file.is_file())


def try_file(
    reader: DeliveryReader, file: Path, *, source: str | None, max_bytes: int
) -> TrialResult:
    """Read the file's body as the gateway would, without any check of who signed it."""
    try:
        size = require_file(file).stat().st_size
        if size > max_bytes:
            raise PayloadTooLargeError(f"a body may have {max_bytes} bytes, this one has {size}")
        delivery = reader.read(file.read_bytes(), source)
    except FlowXpertError as error:
        return TrialResult(file=str(file), status=error.status_code, **error.body())
    read: tuple[DeliveryItem, ...] = (
        *delivery.tickets,
        *delivery.resolved,
        *delivery.comments,
        *delivery.ignored,
    )
    return TrialResult(
        file=str(file),
        source=read[0].source,
        tickets=delivery.tickets,
        resolved=tuple(TrialResolution(**asdict(over)) for over in delivery.resolved),
        comments=tuple(TrialComment(**asdict(comment)) for comment in delivery.comments),
        ignored=tuple(event.reason for event in delivery.ignored),
        rejected=tuple(item.reason for item in delivery.rejected),
    )
