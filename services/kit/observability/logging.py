"""Logs: events named `room.what_happened` with fields, for people or as JSON lines."""

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from services.kit.observability.redaction import redact_field


def _redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Redact an event, last of all: texts of errors and libraries pass through it too."""
    return {name: redact_field(name, value) for name, value in event.items()}


def configure_logging(*, log_format: str = "text", level: str = "warning") -> None:
    """Send structlog's and the libraries' events to stderr, in one format, from `level` up."""
    threshold = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    as_json = log_format == "json"
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    # Plain tracebacks in text: the library's framed ones print every local, secrets included.
    exceptions: list[Processor] = [structlog.processors.format_exc_info, _redact]
    structlog.configure(
        processors=[*shared, *exceptions, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, *exceptions],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(threshold, logging.WARNING))
