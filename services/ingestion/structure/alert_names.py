"""Alert names that a document states it is about, wherever it states them."""

import re
from collections.abc import Iterator, Sequence

from services.knowledge.model import ATTRIBUTE_OF_ROLE, Attribute, Passage

_NAME = r"(?=\w*[a-z])[A-Z][A-Za-z0-9]*[a-z0-9][A-Z]\w*"
_LEAD = re.compile(r"\b(?:alert|alarm)s?\b(?:\s+names?|\s+that\s+fired)?", re.IGNORECASE)
_LISTED = re.compile(
    rf"[\s:;,/*_`\"“”]*(?:(?:and|or)\s+)?[*_`\"“”]*({_NAME})\b(?:[*_`\s]*\([^)]*\))?"
)
_WHOLE_NAME = re.compile(_NAME)
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)


def stated_alerts(name: str, passages: Sequence[Passage]) -> list[str]:
    """Names after words such as `Alert:`, `Alerts:` or `when the alert`, in order, none twice.

    Looked for in the opening, in headings and where the fault is described: further down a page
    names alerts of other pages, and so do the logs and rules it shows as code. A page that is
    named after an alert is about that one only.
    """
    if _WHOLE_NAME.fullmatch(name.strip()):
        return []
    found = (alert for text in _texts(passages) for alert in _stated_in(text))
    return list(dict.fromkeys(found))


def _texts(passages: Sequence[Passage]) -> Iterator[str]:
    for place, passage in enumerate(passages):
        yield passage.heading_path[-1]
        if place == 0 or ATTRIBUTE_OF_ROLE[passage.role] is Attribute.FAILURE_DESCRIPTION:
            yield _CODE.sub("", passage.text)


def _stated_in(text: str) -> Iterator[str]:
    for lead in _LEAD.finditer(text):
        listed = _LISTED.match(text, lead.end())
        while listed:
            yield listed.group(1)
            listed = _LISTED.match(text, listed.end())
