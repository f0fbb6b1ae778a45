"""One service in this process, the others over HTTP: what `flowxpert serve` and `work` run on."""

from services.serving.process import Duty, NoQueueError, Serving
from services.stores import MissingServerError

__all__ = ["Duty", "MissingServerError", "NoQueueError", "Serving"]
