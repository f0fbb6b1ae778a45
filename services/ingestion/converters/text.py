"""Plain text is kept as it is: what looks like a list or a heading in it is read as Markdown."""

from services.ingestion.converters.decode import decode
from services.ingestion.converters.reader import Reader, Reading


def read(data: bytes) -> Reading:
    """The source itself."""
    return Reading(decode(data))


READER = Reader("text", (".txt", ".text"), "text/plain", read)
