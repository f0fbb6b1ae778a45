"""Looking into a vendor's JSON: what is missing, or of another type than expected, is empty.

A path is a dotted name, such as `issue.fields.summary`. Vendors leave out, rename and retype what
is not essential from one version to the next; a ticket must not be lost over that.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from services.contracts.ticket import RUNBOOK_LINKS, TicketDraft
from services.gateway.sources.delivery import UnreadableTicketError, one_line, opening
from services.gateway.ticket.severity import normalised
from services.kit.text import clean_text

_NAMES = ("display_value", "name", "summary", "displayName", "title", "value", "text", "slug")
"""Keys under which an object says what it is called, the plainest first."""

_LONGEST_LINK = 2000
_SERVICE_LABELS = ("service", "service_name", "service.name", "app", "application")
_TEAM_LABELS = ("team", "owner", "squad", "support_group", "owner_team", "assignment_group")
MOST_FIELDS = 1000
"""Of one object; bodies that are written by hand have dozens."""

_TAGS = "tags"
_NO_NAME = re.compile(r"[^a-z0-9]+")


def at(value: Any, path: str) -> Any:  # noqa: ANN401 - JSON
    """What stands there; None where nothing does."""
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def text(body: Any, *paths: str) -> str:  # noqa: ANN401 - JSON
    """The first of these that says something; an object says its name."""
    return next(filter(None, (said(at(body, path)) for path in paths)), "")


def line(body: Any, *paths: str) -> str:  # noqa: ANN401 - JSON
    """The same on one line."""
    return one_line(text(body, *paths))


def names(body: Any, *paths: str) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """All that the lists, or single values, under these paths name, each once."""
    found = (said(item) for path in paths for item in _each(at(body, path)))
    return tuple(dict.fromkeys(filter(None, map(one_line, found))))


def said(value: Any) -> str:  # noqa: ANN401 - JSON
    """A scalar as text; of an object the name that it gives itself."""
    if isinstance(value, Mapping):
        return next(filter(None, (_scalar(value.get(name)) for name in _NAMES)), "")
    return _scalar(value)


def mapping(body: Any, path: str) -> Mapping[str, Any]:  # noqa: ANN401 - JSON
    """The object there; an empty one where there is none."""
    found = at(body, path)
    return found if isinstance(found, Mapping) else {}


def objects(body: Any, path: str) -> list[Mapping[str, Any]]:  # noqa: ANN401 - JSON
    """The objects of the list there; none where there is no list."""
    found = at(body, path)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def flat(body: Mapping[str, Any], depth: int = 2) -> dict[str, str]:
    """Scalars by their names in letters and digits alone, those of inner objects under both names.

    For bodies that are written by hand: `alert_id`, `alertId`, `ALERT ID` and `alert: {id}` are
    all `alertid`. The outer ones win. Of a huge object only the beginning is looked at.
    """
    found: dict[str, str] = {}
    for name, value in islice(body.items(), MOST_FIELDS):
        key = plain(name)
        if isinstance(value, Mapping):
            inner = flat(value, depth - 1) if depth > 1 else {}
            found |= {f"{key}{below}": words for below, words in inner.items()} | found
        elif _scalar(value):
            found[key] = _scalar(value)
    return found


def plain(name: str) -> str:
    """A name in lower case letters and digits alone."""
    return _NO_NAME.sub("", name.lower())


def labels_of(value: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    """Labels from any of the forms that systems give them.

    An object; pairs; objects with `key`, `name` or `tag` and `value`; words such as `env:prod` in a
    list or in one text with commas. Words without a value are one label, `tags`.
    """
    labels: dict[str, str] = {}
    tags: list[str] = []
    for name, words in _pairs(value):
        key, told = one_line(clean_text(name)), one_line(words)
        if key and told:
            labels[key] = told
            if key == _TAGS:
                tags.append(told)
    return labels | ({_TAGS: ", ".join(tags)} if tags else {})


def service_of(labels: Mapping[str, str]) -> str:
    """The service that labels name, if they do."""
    return next((labels[name] for name in _SERVICE_LABELS if labels.get(name)), "")


def teams_of(labels: Mapping[str, str]) -> tuple[str, ...]:
    """The teams that labels name."""
    return tuple(dict.fromkeys(labels[name] for name in _TEAM_LABELS if labels.get(name)))


def runbook_of(*fields: Mapping[str, str]) -> str:
    """Return the link to the page that the alert's author named, from labels or annotations."""
    found = (given[name] for given in fields for name in RUNBOOK_LINKS if given.get(name))
    return next((one_line(link)[:_LONGEST_LINK] for link in found if "://" in link), "")


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
    """A ticket; what the fields leave open of service and teams is looked for in the labels.

    Raises:
        UnreadableTicketError: Nothing says what is wrong.
    """
    labels = {name: words for name, words in (labels or {}).items() if words}
    title = title or opening(description)
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
        severity=normalised(severity),
        **others,
    )


def paragraphs(*texts: str) -> str:
    """These texts one below the other, without the empty and the repeated."""
    return "\n".join(dict.fromkeys(filter(None, texts)))


def _scalar(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return clean_text(value).strip()
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else ""


def _each(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        yield from value
    else:
        yield value


def _pairs(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        yield from ((name, said(inner)) for name, inner in value.items())
    else:
        items = _listed(value) if isinstance(value, str) else value
        yield from map(_label, items if isinstance(items, list) else ())


def _listed(told: str) -> Any:  # noqa: ANN401 - JSON
    """The items of a text: a list in JSON, or words between commas."""
    try:
        return json.loads(told) if told.lstrip().startswith("[") else told.split(",")
    except (ValueError, RecursionError):
        return told.split(",")


def _label(item: Any) -> tuple[str, str]:  # noqa: ANN401 - JSON
    """A label's name and value; a word without a value is a tag."""
    if isinstance(item, Mapping):
        return line(item, "key", "tag", "name"), said(item.get("value"))
    if isinstance(item, list) and len(item) == 2:
        return said(item[0]), said(item[1])
    name, separator, value = said(item).partition(":")
    return (name.strip(), value.strip()) if separator else (_TAGS, name.strip())
