"""What a ticket system is to the gateway, what one body holds, and the texts it is made of."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, StringConstraints, ValidationError

from services.contracts.gateway import RejectedItem
from services.contracts.ticket import TicketDraft
from services.gateway.sources.proof import Verify, by_token
from services.gateway.ticket.comments import Comment
from services.kit.errors import InvalidInputError
from services.kit.text import clean_text

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Model = TypeVar("Model", bound=BaseModel)

SHOWN_ERRORS = 3
SHOWN_CHARACTERS = 60
OPENING_CHARACTERS = 160


class UnreadableTicketError(InvalidInputError):
    """The body, or one item of it, does not hold a ticket in its source's shape."""


@dataclass(frozen=True)
class Resolution:
    """A source's word that a fault it reported before is over."""

    source: str
    external_id: str
    occurrence: str
    """Empty: all that is open under the id."""


@dataclass(frozen=True)
class Ignored:
    """An event of a known source that tells of no fault, such as a test."""

    source: str
    reason: str


Reading = TicketDraft | Resolution | Comment | Ignored
"""What an item of a body says."""


@dataclass(frozen=True)
class Delivery:
    """Tickets of one body, what it says is over, comments, and the items that cannot be used."""

    tickets: tuple[TicketDraft, ...] = ()
    resolved: tuple[Resolution, ...] = ()
    comments: tuple[Comment, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    rejected: tuple[RejectedItem, ...] = ()


Body = Mapping[str, Any]


def _the_body(body: Body) -> Sequence[Any]:
    return (body,)


@dataclass(frozen=True)
class Source:
    """One ticket system: how its bodies are recognised, proved and read. All but the proof pure."""

    name: str
    expects: str
    """The shape in a few words, for whoever sent another one."""
    matches: Callable[[Body], bool]
    read: Callable[[Any], Reading]
    """One item; raises `UnreadableTicketError` when it is no ticket in the source's shape."""
    verify: Verify = by_token
    """Checks a delivery against the source's secret, where the settings have one."""
    items: Callable[[Body], Sequence[Any]] = _the_body
    """The items of a body, for systems that send several at once; raises as `read` does."""


def _whole(text: str) -> str:
    if "\0" in text:
        raise ValueError("text must not hold a NUL character")
    if _LONE_SURROGATE.search(text):
        raise ValueError("text must not hold half a surrogate pair")
    return clean_text(text).strip()


def one_line(text: str) -> str:
    """The text with every run of white space, line breaks included, as one space."""
    return " ".join(text.split())


def opening(text: str) -> str:
    """The first line, cut to a title's length, for a ticket that has no title."""
    first = one_line(next(iter(text.splitlines()), ""))
    return first if len(first) <= OPENING_CHARACTERS else first[: OPENING_CHARACTERS - 1] + "…"


Text = Annotated[str, StringConstraints(strict=True), AfterValidator(_whole)]
"""A string, without what terminals and screens do not print. NUL and lone surrogates are refused:
they are no text, and a database would refuse them later."""

Line = Annotated[Text, AfterValidator(one_line)]
"""A text of one line."""


def read_model(model: type[Model], body: Any) -> Model:  # noqa: ANN401 - JSON
    """The body as this model.

    Raises:
        UnreadableTicketError: It has another shape; says where, and never repeats a value.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        shown = "; ".join(f"{_place(item['loc'])}: {item['msg']}" for item in found[:SHOWN_ERRORS])
        more = f"; and {len(found) - SHOWN_ERRORS} more" if len(found) > SHOWN_ERRORS else ""
        raise UnreadableTicketError(shown + more) from None


def _place(location: tuple[int | str, ...]) -> str:
    # A key of the body is the sender's text: it may be long, or no text at all.
    path = ".".join(str(part)[:SHOWN_CHARACTERS] for part in location) or "body"
    return path.encode("ascii", "backslashreplace").decode()
