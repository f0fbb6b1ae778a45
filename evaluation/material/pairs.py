"""Pairs of a fault's text and what is right for it, read from JSON Lines.

One reader serves every benchmark: a line needs an id and a query; the set, the tier, the forms of
the query, the gold documents, the alert's name and the reference workflow are read where they
exist.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from services.contracts.ticket import TicketDraft
from services.kit.files import UnusableFileError, read_json_lines, write_text
from services.workflow.model import Step, StepKind, Transition, Workflow

TITLED = "titled"
"""The form of a query that holds the title of the page; never part of a headline."""
ONLY_FORM = "query"
"""The name of the form where a pair has but one."""


LineT = TypeVar("LineT", bound=BaseModel)


class PairsError(UnusableFileError):
    """A file of pairs that cannot be read; the message names the line."""


class Pair(BaseModel):
    """One case of a benchmark. A planner may see one of `forms` and nothing else of it."""

    model_config = ConfigDict(frozen=True)

    id: str
    group: str = "all/-"
    """Set and tier."""
    forms: dict[str, str]
    """The query by the name of its form; at least one."""
    alert: str = ""
    gold_documents: tuple[str, ...] = ()
    reference: Workflow | None = None
    dropped_edges: int = 0
    """Edges of the reference that led nowhere."""

    @property
    def tier(self) -> str:
        """The part of `group` behind the slash."""
        return self.group.rpartition("/")[2]

    @property
    def headline_forms(self) -> tuple[str, ...]:
        """The forms that do not hold the page's title; the only form where there is no other."""
        return tuple(form for form in self.forms if form != TITLED) or tuple(self.forms)

    @property
    def is_fitted(self) -> bool:
        """Whether weights may be fitted on this pair; they are judged on the others."""
        return is_fitted(self.id)

    def ticket(self, form: str) -> TicketDraft:
        """The ticket that one form of the query makes; see `draft_of`.

        It holds the query and nothing else of the pair, the alert's name neither.
        """
        return draft_of(self.forms[form], f"{self.id}/{form}")


class _Node(BaseModel):
    id: str
    label: str = ""
    kind: str = StepKind.PROCESS


class _Edge(BaseModel):
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    label: str = ""


class _Reference(BaseModel):
    nodes: list[_Node]
    edges: list[_Edge] = []


class _Line(BaseModel):
    """A line as it stands in the file; other fields are not looked at."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str
    set: str = ""
    tier: str = ""
    title: str = ""
    alert: str = ""
    query: str = ""
    query_variants: dict[str, str] | None = None
    doc: str | None = None
    docs: list[str] | None = None
    gold_doc: str | None = None
    gold_docs: list[str] | None = None
    reference: _Reference | None = None


def read_pairs(path: Path) -> list[Pair]:
    """All pairs of a file, in its order.

    Raises:
        PairsError: The file cannot be read, or a line is not a pair or repeats an id.
    """
    pairs: dict[str, Pair] = {}
    for place, line in read_json_lines(path, _Line):
        if line.id in pairs:
            raise PairsError(f"{place}: the id {line.id!r} was there before")
        pairs[line.id] = _pair(line, place)
    return list(pairs.values())


def write_lines(path: Path, rows: Iterable[LineT], key: Callable[[LineT], Any]) -> None:
    """A line for each row, in the order of their keys, so that a new one is a small difference."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = sorted(rows, key=key)
    write_text(path, "".join(f"{row.model_dump_json()}\n" for row in ordered))


def draft_of(query: str, external_id: str) -> TicketDraft:
    """The ticket that a query makes: its first line as title, all of it as text."""
    title = next((line.strip() for line in query.splitlines() if line.strip()), "")
    return TicketDraft(
        source="bench",
        external_id=external_id,
        title=title,
        description="" if query.strip() == title else query,
    )


def is_fitted(id_: str) -> bool:
    """Whether something may be fitted on the case of this id; it is judged on the others."""
    return int(hashlib.sha256(id_.encode()).hexdigest(), 16) % 2 == 0


def by_group(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """Pairs by set and tier, in order of appearance."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.group, []).append(pair)
    return groups


def _pair(line: _Line, place: str) -> Pair:
    forms = {name: query for name, query in (line.query_variants or {}).items() if query.strip()}
    forms = forms or {ONLY_FORM: line.query or line.alert}
    if not any(query.strip() for query in forms.values()):
        raise PairsError(f"{place}: expected a query, got none")
    reference, dropped = _reference(line.reference, line.title) if line.reference else (None, 0)
    return Pair(
        id=line.id,
        group=f"{line.set or 'all'}/{line.tier or '-'}",
        forms=forms,
        alert=line.alert,
        gold_documents=_gold_documents(line),
        reference=reference,
        dropped_edges=dropped,
    )


def _gold_documents(line: _Line) -> tuple[str, ...]:
    single = [name for name in (line.doc, line.gold_doc) if name]
    return tuple(dict.fromkeys([*single, *(line.docs or []), *(line.gold_docs or [])]))


def _reference(reference: _Reference, title: str) -> tuple[Workflow, int]:
    """The reference as a workflow, and how many of its edges led nowhere.

    References are taken as they are: a decision with one exit stays; the second of two nodes with
    one id is left out.
    """
    steps = {node.id: node for node in reversed(reference.nodes)}
    edges = [edge for edge in reference.edges if edge.source in steps and edge.target in steps]
    workflow = Workflow(
        title=title,
        steps=tuple(_step(node) for node in _in_order(reference.nodes, steps)),
        transitions=tuple(
            Transition(source=edge.source, target=edge.target, condition=edge.label)
            for edge in edges
        ),
    )
    return workflow, len(reference.edges) - len(edges)


def _in_order(nodes: Sequence[_Node], chosen: dict[str, _Node]) -> list[_Node]:
    return [node for node in nodes if chosen[node.id] is node]


def _step(node: _Node) -> Step:
    has_kind = node.kind in {kind.value for kind in StepKind}
    kind = StepKind(node.kind) if has_kind else StepKind.PROCESS
    return Step(id=node.id, kind=kind, text=node.label)
