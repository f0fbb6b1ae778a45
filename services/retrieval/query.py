"""Query of a ticket to the stores: bounded, and without what is particular to one case."""

import re
from collections.abc import Iterable, Iterator

from services.contracts.retrieval import RetrieveRequest
from services.kit.value import Value
from services.language.names import split_name

_MOST_READ = 20_000
"""Characters of a ticket that are read; pasted logs beyond them repeat themselves."""
_MOST_SEARCHED = 4_000
"""Characters that BM25 sees."""
_MOST_EMBEDDED = 700
"""Characters that the embedder sees: two thirds of its 256 word pieces, at half the time."""
_FOCUS = 300
_MOST_NAMES = 40
_MOST_ERRORS = 8

_ERROR_WORDS = re.compile(
    r"\b(errors?|err|fail(?:s|ed|ing|ure)?|fatal|critical|panic|exception|denied|forbidden|refused"
    r"|unauthorized|invalid|timed? ?out|timeout|unable|cannot|can't|could not|couldn't|not found"
    r"|no such|unreachable|exceed(?:s|ed)?|insufficient|rejected|aborted|crash\w*|evicted|killed"
    r"|degraded|down|lost|missing|mismatch|warning|warn|violat\w+|unhealthy|expired|full)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`\n]{4,200})`|\"([^\"\n]{4,200})\"|“([^”\n]{4,200})”")
_FENCE = re.compile(r"^\s*(```|~~~)")
_COMMAND = re.compile(r"^\s*[$#>]\s+\S")
_IDENTIFIER = re.compile(
    r"\b(?:[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]*)+|[A-Z]+[a-z0-9]+[A-Z]\w*|\w+_\w+"
    r"|0x[0-9A-Fa-f]{4,}|[A-Z]{2,}[-_]?\d{2,}\w*|[A-Z][A-Z0-9_]+(?:-[A-Z0-9_]+)+)\b"
)
_VOLATILE = re.compile(
    r"\b(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/\d+)?"  # addresses
    r"|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?|\d\d:\d\d:\d\d(?:\.\d+)?"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{20,}|[0-9a-f]{16,}"
    r"|(?=[a-z0-9-]*\d)(?=[a-z0-9-]*[a-z])[a-z0-9]+(?:-[a-z0-9]+){2,})\b"
)
_BLOB = re.compile(r"[^\s]{200,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


class RetrievalQuery(Value):
    """A query in the forms that different searches need."""

    meaning: str
    """Text of the ticket for the embedder, without addresses, times and generated names."""
    focus: str
    """Subject in one line: alert name in words, title, or the most telling line."""
    words: str
    """Text that BM25 sees."""
    names: tuple[str, ...]
    """Alert names, identifiers and error codes, to be found exactly."""
    errors: tuple[str, ...]
    """Quoted messages and lines that report a failure."""
    is_alert: bool = False
    """True if it has the name of an alert, and not only text that people write."""

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to search for."""
        return not self.words.strip()


def read_query(request: RetrieveRequest) -> RetrievalQuery:
    """Build the query of a request; of a huge ticket only the beginning counts."""
    alert = _clean(request.alert_name, _FOCUS)
    title = _clean(request.title, _MOST_READ)
    body = _clean(request.description, _MOST_READ)
    if title and body.startswith(title):
        body = body[len(title) :].lstrip(" .:\n-")
    text = "\n".join(part for part in (title, body) if part)
    errors = tuple(_first(_errors(text), _MOST_ERRORS))
    if not alert and _IDENTIFIER.fullmatch(title):
        alert, title = title, ""
    alert_words = split_name(alert)
    head = text[: 2 * _MOST_EMBEDDED]
    labels = " ".join(_informative_labels(request.labels))
    searched = (alert, text[:_MOST_SEARCHED], labels)
    return RetrievalQuery(
        meaning=_without_volatile("\n".join(p for p in (alert_words, head) if p))[:_MOST_EMBEDDED],
        focus=_without_volatile(_focus(alert_words, title, body, errors))[:_FOCUS],
        words="\n".join(part for part in searched if part),
        names=tuple(_first(_names(alert, title, text), _MOST_NAMES)),
        errors=errors,
        is_alert=bool(alert),
    )


def _clean(text: str, most: int) -> str:
    # Lone surrogates cannot be encoded; control characters say nothing; a run without a space
    # longer than any name is an encoded blob.
    readable = text[:most].encode("utf-8", "replace").decode()
    return _BLOB.sub(" ", _CONTROL.sub(" ", readable)).strip()


def _without_volatile(text: str) -> str:
    """Remove what another case of the same fault would have otherwise."""
    return _VOLATILE.sub(" ", text).strip()


def _focus(alert: str, title: str, body: str, errors: tuple[str, ...]) -> str:
    if alert:
        return f"{alert}. {title}" if title else alert
    lead = title or body
    if errors and (_COMMAND.match(lead) or _looks_like_output(lead)):
        return "\n".join(errors[:3])
    sentences = (s for s in _SENTENCE_END.split(lead[:_MOST_EMBEDDED]) if s.strip())
    return "\n".join(dict.fromkeys((next(sentences, lead), *errors[:1])))


def _looks_like_output(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    columns = sum(bool(re.search(r"\S\s{2,}\S|[{}=<>|]", line)) for line in lines)
    return len(lines) > 1 and columns * 2 >= len(lines)


def _errors(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if _ERROR_WORDS.search(line) and not _FENCE.match(line) and len(line) <= 400:
            yield line.strip()
    for match in _QUOTED.finditer(text):
        yield next(group for group in match.groups() if group).strip()


def _names(alert: str, title: str, text: str) -> Iterator[str]:
    if alert:
        yield alert
    if title and len(title) <= 200:
        yield title
        yield re.split(r"[:.]\s|\s[-–—]\s", title, maxsplit=1)[0]
    for match in _QUOTED.finditer(text):
        yield next(group for group in match.groups() if group).strip()
    for match in _IDENTIFIER.finditer(text):
        yield match.group()


def _informative_labels(labels: dict[str, str]) -> Iterator[str]:
    for key, value in sorted(labels.items())[:50]:
        label = _without_volatile(_clean(value, _FOCUS))
        if key not in {"alertname", "severity"} and label and len(value) <= 100:
            yield label


def _first(values: Iterable[str], most: int) -> list[str]:
    distinct: dict[str, None] = {}
    for value in values:
        if value:
            distinct.setdefault(value)
        if len(distinct) == most:
            break
    return list(distinct)
