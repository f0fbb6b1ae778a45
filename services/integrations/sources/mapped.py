"""Ticket systems that a YAML file describes: JMESPath expressions say what is where.

```yaml
sources:
  - name: tower                       # also the address: POST /workflow/tower
    when: contains(keys(@), 'tower')  # recognises its bodies
    items: events                     # a list in the body; left out: the body is the one item
    ticket:                           # of each item; title is needed
      external_id: id
      title: headline
      severity: level
      labels: "{site: site, rack: position.rack}"
    resolved: state == 'clear'        # ends its ticket
    comment: {when: "note", text: note.words, author: note.by, id: note.id}
    ignored: state == 'test'          # tells of no fault
```

https://jmespath.org/specification.html
"""

from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import jmespath
import yaml
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from services.integrations.sources.fields import (
    display_text,
    draft,
    labels_of,
    make_comment,
    names,
)
from services.integrations.sources.source import (
    LEFT_OUT,
    Body,
    Source,
    UnreadableTicketError,
)
from services.kit.errors import FlowXpertError
from services.kit.text import squeeze
from services.tickets.intake.delivery import DeliveryItem, Ignored, Resolution

BUNDLED = Path(__file__).with_name("mappings.yaml")
SHOWN_ERRORS = 5


class MappingError(FlowXpertError):
    """The file of mappings cannot be used; says where and why."""


def _check_expression(expression: str) -> str:
    try:
        jmespath.compile(expression)
    except JMESPathError as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"no JMESPath expression: {reason}") from None
    return expression


Expression = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(_check_expression)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TicketMapping(_Strict):
    """Expressions for the fields of a ticket within an item."""

    title: Expression
    external_id: Expression | None = None
    occurrence: Expression | None = None
    description: Expression | None = None
    alert_name: Expression | None = None
    severity: Expression | None = None
    severities: dict[str, Literal["critical", "high", "warning", "low", "info"]] = {}
    """Severities for the system's own words, if they mean something else than elsewhere."""
    service: Expression | None = None
    teams: Expression | None = None
    labels: Expression | None = None
    url: Expression | None = None


class CommentMapping(_Strict):
    """Expressions for a comment within an item, on the ticket with its `external_id`."""

    when: Expression
    text: Expression
    author: Expression | None = None
    id: Expression | None = None


class SourceMapping(_Strict):
    """Mapping of one ticket system."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
    when: Expression
    items: Expression | None = None
    ticket: TicketMapping
    resolved: Expression | None = None
    resolved_occurrence: Expression | None = None
    """Occurrence that is over, if the end still tells it; without it all that are open end."""
    comment: CommentMapping | None = None
    ignored: Expression | None = None


class MappingFile(_Strict):
    """Content of the whole file."""

    sources: list[SourceMapping]


def read_mappings(path: Path, *, taken: Set[str]) -> tuple[Source, ...]:
    """Read the sources that the file describes, in its order; `taken` names are refused.

    Raises:
        MappingError: It cannot be read, or says something that is no mapping; names the lines.
    """
    try:
        raw = path.read_text(encoding="utf-8")
        tree, content = yaml.compose(raw), yaml.safe_load(raw)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise MappingError(f"{path}: {error}") from None
    try:
        file = MappingFile.model_validate(content)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        shown = [f"{_place(path, tree, item['loc'])}: {item['msg']}" for item in errors]
        more = [f"and {len(errors) - SHOWN_ERRORS} more"] if len(errors) > SHOWN_ERRORS else []
        raise MappingError("; ".join([*shown[:SHOWN_ERRORS], *more])) from None
    seen = set(taken)
    for index, mapping in enumerate(file.sources):
        if mapping.name in seen:
            place = _place(path, tree, ("sources", index, "name"))
            raise MappingError(f"{place}: another source is called {mapping.name!r}")
        seen.add(mapping.name)
    return tuple(_MappedSource(mapping).source() for mapping in file.sources)


def _place(path: Path, tree: yaml.Node | None, location: tuple[int | str, ...]) -> str:
    """Return file, line and key of the deepest node that exists on the way."""
    node = tree
    for step in location:
        inner = _child(node, step)
        if inner is None:
            break
        node = inner
    line_number = node.start_mark.line + 1 if node is not None else 1
    return f"{path}:{line_number}: {'.'.join(map(str, location)) or 'the file'}"


def _child(node: yaml.Node | None, step: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        inner: yaml.Node = node.value[step]
        return inner
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    return None


_LINES = ("external_id", "occurrence", "title", "alert_name", "url", "service")
_NEEDED = {"external_id", "title"}
"""Fields without which an item is no ticket; one of the others that cannot be read is left out."""


@dataclass(frozen=True)
class _MappedSource:
    """Source that reads by its mapping."""

    mapping: SourceMapping

    def source(self) -> Source:
        return Source(
            name=self.mapping.name,
            expects=f"where {self.mapping.when}",
            matches=self.matches,
            items=self.items,
            read=self.read,
        )

    def matches(self, body: Body) -> bool:
        """Return True if `when` holds; not if the expression makes no sense of the body."""
        try:
            return bool(jmespath.compile(self.mapping.when).search(body))
        except (JMESPathError, TypeError, ValueError):
            return False

    def items(self, body: Body) -> list[Any]:
        """Return the items; raises as `read` does."""
        values = self._evaluate("items", self.mapping.items, body) if self.mapping.items else [body]
        if not isinstance(values, list) or not values:
            raise UnreadableTicketError(f"items: expected a list at {self.mapping.items!a}")
        return values

    def read(self, item: Any) -> DeliveryItem:  # noqa: ANN401 - JSON
        """Read the item as its mapping says."""
        mapping = self.mapping
        if self._evaluate("ignored", mapping.ignored, item):
            return Ignored(mapping.name, "its mapping says that it tells of no fault")
        remark = mapping.comment
        if remark is not None and self._evaluate("comment.when", remark.when, item):
            return make_comment(
                self.mapping.name,
                external_id=self._line("external_id", self.mapping.ticket.external_id, item),
                text=display_text(self._evaluate("comment.text", remark.text, item)),
                author=self._line("comment.author", remark.author, item),
                id_=self._line("comment.id", remark.id, item),
            )
        if self._evaluate("resolved", mapping.resolved, item):
            return Resolution(
                mapping.name,
                self._line("external_id", mapping.ticket.external_id, item),
                self._line("resolved_occurrence", mapping.resolved_occurrence, item),
            )
        ticket, left_out = self.mapping.ticket, list[str]()

        def value(name: str) -> Any:  # noqa: ANN401 - JSON
            try:
                return self._evaluate(name, getattr(ticket, name), item)
            except UnreadableTicketError:
                if name in _NEEDED:
                    raise
                left_out.append(name)
                return None

        lines = {name: squeeze(display_text(value(name))) for name in _LINES}
        severity = squeeze(display_text(value("severity")))
        description, labels = display_text(value("description")), labels_of(value("labels"))
        teams = names({"teams": value("teams")}, "teams")
        return draft(
            self.mapping.name,
            description=description,
            labels=labels | ({LEFT_OUT: ", ".join(left_out)} if left_out else {}),
            severity=ticket.severities.get(severity, severity),
            teams=teams,
            **lines,
        )

    def _line(self, name: str, expression: str | None, item: Any) -> str:  # noqa: ANN401 - JSON
        return squeeze(display_text(self._evaluate(name, expression, item)))

    def _evaluate(self, name: str, expression: str | None, item: Any) -> Any:  # noqa: ANN401 - JSON
        if expression is None:
            return None
        try:
            return jmespath.compile(expression).search(item)
        except (JMESPathError, TypeError, ValueError) as error:
            reason = str(error).partition("\n")[0][:100]
            raise UnreadableTicketError(f"{self.mapping.name}.{name}: {reason!a}") from None
