"""Where spans are sent to, if anywhere."""

from contextlib import AbstractContextManager, nullcontext

from services.kit.observability.tracing import tracing_by


def start_tracing(service: str, endpoint: str | None = None) -> AbstractContextManager[None]:
    """Until it ends, send spans to the collector; nothing where none is named.

    `endpoint` is the base address of OTLP over HTTP; `OTEL_EXPORTER_OTLP_…` names one too, and says
    how it is spoken to.
    """
    from services.kit.observability.opentelemetry import open_tracer  # noqa: PLC0415 - slow to import, seldom needed

    tracer = open_tracer(service, endpoint)
    return tracing_by(tracer) if tracer else nullcontext()
