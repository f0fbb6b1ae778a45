"""Bodies inside bodies: relays and event buses pass a vendor's body on in an envelope of theirs.

CloudEvents has it under `data`, others under `payload`, `body`, `alert`, …, as an object or as JSON
in a text. https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from services.gateway.sources.delivery import Body

CARRIERS = ("data", "payload", "body", "event", "alert", "alert_payload", "raw")
"""Where an envelope may keep the body of a known vendor."""
FAULTS = ("alert", "incident", "issue", "ticket", "problem")
"""Where it may keep a ticket that no source knows: the name alone says that it is one."""
DEPTH = 2


def inner(body: Body, names: tuple[str, ...], depth: int = DEPTH) -> Iterator[Body]:
    """The body, then those that it may envelop, the outer before the inner."""
    yield body
    if depth:
        for name in names:
            found = _object(body.get(name))
            if found is not None:
                yield from inner(found, names, depth - 1)


def _object(value: Any) -> Body | None:  # noqa: ANN401 - JSON
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, Mapping) else None
