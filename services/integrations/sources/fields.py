"""Access to a vendor's JSON: what is missing, or of an unexpected type, is empty.

A path is a dotted name, such as `issue.fields.summary`. Vendors leave out, rename and retype what
is not essential from one version to the next; a ticket must not be lost over that. What is read is
made into tickets and comments here too.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from services.contracts.ticket import RUNBOOK_LINKS, TicketDraft
from services.integrations.sources.source import UnreadableTicketError, title_from
from services.kit.text import clean_text, squeeze
from services.tickets.intake.delivery import DeliveryItem, Ignored
from services.tickets.ticket.comments import Comment, is_ours
from services.tickets.ticket.severity import normalise_severity

_NAMES = ("display_value", "name", "summary", "displayName", "title", "value", "text", "slug")
"""Keys of the name of an object, the plainest first."""

_LONGEST_LINK = 2000
_SERVICE_LABELS = ("service", "service_name", "service.name", "app", "application")
_TEAM_LABELS = ("team", "owner", "squad", "support_group", "owner_team", "assignment_group")
MOST_FIELDS = 1000
"""Most fields of one object that are read; bodies that are written by hand have dozens."""

_TAGS = "tags"
_NO_NAME = re.compile(r"[^a-z0-9]+")


def at(value: Any, path: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value at the path; None if there is none."""
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def text(body: Any, *paths: str) -> str:  # noqa: ANN401 - JSON
    """Return the first text at these paths; of an object, its name."""
    return next(filter(None, (display_text(at(body, path)) for path in paths)), "")


def line(body: Any, *paths: str) -> str:  # noqa: ANN401 - JSON
    """Return the first text at these paths on one line."""
    return squeeze(text(body, *paths))


def names(body: Any, *paths: str) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Return all names in the lists, or single values, at these paths, each once."""
    values = (at(body, path) for path in paths)
    items = (item for each in values for item in (each if isinstance(each, list) else [each]))
    texts = map(display_text, items)
    return tuple(dict.fromkeys(filter(None, map(squeeze, texts))))


def display_text(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return a scalar as text; of an object, the name that it gives itself."""
    if isinstance(value, Mapping):
        return next(filter(None, (_scalar(value.get(name)) for name in _NAMES)), "")
    return _scalar(value)


def mapping(body: Any, path: str) -> Mapping[str, Any]:  # noqa: ANN401 - JSON
    """Return the object at the path; an empty one if there is none."""
    value = at(body, path)
    return value if isinstance(value, Mapping) else {}


def objects(body: Any, path: str) -> list[Mapping[str, Any]]:  # noqa: ANN401 - JSON
    """Return the objects of the list at the path; none if there is no list."""
    values = at(body, path)
    return (
        [item for item in values if isinstance(item, Mapping)] if isinstance(values, list) else []
    )


def flat(body: Mapping[str, Any], depth: int = 2) -> dict[str, str]:
    """Return scalars by plain name, those of inner objects by both names joined.

    For bodies that are written by hand: `alert_id`, `alertId`, `ALERT ID` and `alert: {id}` are
    all `alertid`. The outer ones win. Of a huge object only the beginning is looked at.
    """
    scalars: dict[str, str] = {}
    for name, value in islice(body.items(), MOST_FIELDS):
        key = plain(name)
        if isinstance(value, Mapping):
            inner = flat(value, depth - 1) if depth > 1 else {}
            scalars |= {f"{key}{below}": words for below, words in inner.items()} | scalars
        elif _scalar(value):
            scalars[key] = _scalar(value)
    return scalars


def plain(name: str) -> str:
    """Return a name in lower-case letters and digits alone."""
    return _NO_NAME.sub("", name.lower())


def labels_of(value: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    """Return labels from any of the forms that systems give them.

    An object; pairs; objects with `key`, `name` or `tag` and `value`; words such as `env:prod` in a
    list or in one text with commas. Words without a value are one label, `tags`.
    """
    labels: dict[str, str] = {}
    tags: list[str] = []
    if isinstance(value, Mapping):
        pairs = [(name, display_text(inner)) for name, inner in value.items()]
    else:
        items = _split_items(value) if isinstance(value, str) else value
        pairs = list(map(_label, items)) if isinstance(items, list) else []
    for name, words in pairs:
        key, label = squeeze(clean_text(name)), squeeze(words)
        if key and label:
            labels[key] = label
            if key == _TAGS:
                tags.append(label)
    return labels | ({_TAGS: ", ".join(tags)} if tags else {})


def service_of(labels: Mapping[str, str]) -> str:
    """Return the service that labels name; empty if they name none."""
    return next((labels[name] for name in _SERVICE_LABELS if labels.get(name)), "")


def teams_of(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return the teams that labels name."""
    return tuple(dict.fromkeys(labels[name] for name in _TEAM_LABELS if labels.get(name)))


def runbook_of(*fields: Mapping[str, str]) -> str:
    """Return the link to the page that the alert's author named, from labels or annotations."""
    links = (labels[name] for labels in fields for name in RUNBOOK_LINKS if labels.get(name))
    return next((squeeze(link)[:_LONGEST_LINK] for link in links if "://" in link), "")


def draft(
    source: str,
    *,
    external_id: str,
    title: str,
    description: str = "",
    labels: Mapping[str, str] | None = None,
    service: str = "",
    teams: tuple[str, ...] = (),
    severity: str = "",
    **others: str,
) -> TicketDraft:
    """Build a ticket; labels fill in the service and the teams that the fields leave open.

    Raises:
        UnreadableTicketError: Nothing says what is wrong.
    """
    labels = {name: words for name, words in (labels or {}).items() if words}
    title = title or title_from(description)
    if not title:
        raise UnreadableTicketError(f"a ticket of {source} needs a title or a description")
    return TicketDraft(
        source=source,
        external_id=external_id,
        title=title,
        description=description,
        labels=labels,
        service=service or service_of(labels),
        teams=teams or teams_of(labels),
        runbook_url=others.pop("runbook_url", "") or runbook_of(labels),
        severity=normalise_severity(severity),
        **others,
    )


def make_comment(
    source: str, *, external_id: str, text: str, author: str = "", id_: str = "", at: str = ""
) -> DeliveryItem:
    """Build a comment; ignore one that is a note of the platform itself, or has no text.

    One without an id is told apart by its author, its text and the time `at` as it was sent.

    Raises:
        UnreadableTicketError: Nothing says which ticket it is about.
    """
    if not text:
        return Ignored(source, "a comment without a text")
    if is_ours(text):
        return Ignored(source, "a note that was written back from here")
    if not external_id:
        raise UnreadableTicketError(f"a comment of {source} needs the id of its ticket")
    digest = hashlib.sha256("\n".join((author, at, text)).encode()).hexdigest()[:32]
    return Comment(source, external_id, text, author, id_ or digest)


def paragraphs(*texts: str) -> str:
    """Join these texts one below the other, without empty and repeated ones."""
    return "\n".join(dict.fromkeys(filter(None, texts)))


def _scalar(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return clean_text(value).strip()
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else ""


def _split_items(raw: str) -> Any:  # noqa: ANN401 - JSON
    """Split a text into its items: a list in JSON, or words between commas."""
    try:
        return json.loads(raw) if raw.lstrip().startswith("[") else raw.split(",")
    except (ValueError, RecursionError):
        return raw.split(",")


def _label(item: Any) -> tuple[str, str]:  # noqa: ANN401 - JSON
    """Return a label's name and value; a word without a value is a tag."""
    if isinstance(item, Mapping):
        return line(item, "key", "tag", "name"), display_text(item.get("value"))
    if isinstance(item, list) and len(item) == 2:
        return display_text(item[0]), display_text(item[1])
    name, separator, value = display_text(item).partition(":")
    return (name.strip(), value.strip()) if separator else (_TAGS, name.strip())
