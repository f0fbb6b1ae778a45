"""Ticket systems as sources, and the texts that their bodies are made of."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, StringConstraints, ValidationError

from services.integrations.sources.proof import Proof, by_token
from services.kit.errors import InvalidInputError
from services.kit.text import clean_text, squeeze
from services.tickets.intake.delivery import DeliveryItem

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Model = TypeVar("Model", bound=BaseModel)

SHOWN_ERRORS = 3
SHOWN_CHARACTERS = 60
OPENING_CHARACTERS = 160


class UnreadableTicketError(InvalidInputError):
    """The body, or one item of it, does not hold a ticket in its source's shape."""


Body = Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """Ticket system: how its bodies are recognised, proved and read. All but the proof pure."""

    name: str
    expects: str
    """Shape of a body in a few words, for whoever sent another one."""
    matches: Callable[[Body], bool]
    read: Callable[[Any], DeliveryItem]
    """Reader of one item; raises `UnreadableTicketError` if it has no ticket in this shape."""
    verify: Proof = by_token
    """Check of a delivery against the source's secret, if the settings have one."""
    is_first_report: Callable[[Any], bool] = lambda item: False  # noqa: ARG005
    """Test whether an item says that its ticket was just opened, for systems that say so."""
    items: Callable[[Body], Sequence[Any]] = lambda body: (body,)
    """Items of a body, for systems that send several at once; raises as `read` does."""


def _clean(text: str) -> str:
    if "\0" in text:
        raise ValueError("text must not hold a NUL character")
    if _LONE_SURROGATE.search(text):
        raise ValueError("text must not hold half a surrogate pair")
    return clean_text(text).strip()


def title_from(text: str) -> str:
    """Return the first line, cut to a title's length, for a ticket that has no title."""
    first = squeeze(next(iter(text.splitlines()), ""))
    return first if len(first) <= OPENING_CHARACTERS else first[: OPENING_CHARACTERS - 1] + "…"


Text = Annotated[str, StringConstraints(strict=True), AfterValidator(_clean)]
"""String without what terminals and screens do not print. NUL and lone surrogates are refused:
they are no text, and a database would refuse them later.
"""

Line = Annotated[Text, AfterValidator(squeeze)]
"""Text of one line."""


def read_model(model: type[Model], body: Any) -> Model:  # noqa: ANN401 - JSON
    """Validate the body as this model.

    Raises:
        UnreadableTicketError: It has another shape; says where, and never repeats a value.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        shown = []
        for item in errors[:SHOWN_ERRORS]:
            # A key of the body is the sender's text: it may be long, or no text at all.
            path = ".".join(str(part)[:SHOWN_CHARACTERS] for part in item["loc"]) or "body"
            place = path.encode("ascii", "backslashreplace").decode()
            shown.append(f"{place}: {item['msg']}")
        if len(errors) > SHOWN_ERRORS:
            shown.append(f"and {len(errors) - SHOWN_ERRORS} more")
        raise UnreadableTicketError("; ".join(shown)) from None


LEFT_OUT = "left_out"
"""Label of a ticket with the names of fields that came with it and could not be read."""


def read_what_fits(
    model: type[Model],
    body: Any,  # noqa: ANN401 - JSON
    *,
    needed: str,
) -> tuple[Model, dict[str, str]]:
    """Validate the body as this model without its fields, or entries of fields, that do not fit.

    Returns the label of what was left out beside it; raises as `read_model` does, also for a field
    that is `needed`.
    """
    if not isinstance(body, Mapping):
        return read_model(model, body), {}
    try:
        return model.model_validate(body), {}
    except ValidationError as error:
        places = [item["loc"] for item in error.errors(include_url=False, include_input=False)]
    if any(place[0] == needed for place in places):
        return read_model(model, body), {}
    kept, left_out = dict(body), []
    for field, *inner in places:
        value = kept.get(str(field))
        if inner and isinstance(value, Mapping):
            kept[str(field)] = {name: each for name, each in value.items() if name != inner[0]}
        else:
            kept.pop(str(field), None)
        left_out.append(".".join(str(part)[:SHOWN_CHARACTERS] for part in (field, *inner[:1])))
    shown = ", ".join(dict.fromkeys(left_out[:SHOWN_ERRORS]))
    return read_model(model, kept), {LEFT_OUT: shown.encode("ascii", "backslashreplace").decode()}
