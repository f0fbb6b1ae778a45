"""Erasure of a person: their name gives way to a pseudonym, and the words that they wrote go.

Words are looked up where their author stands beside them, then deleted there and wherever a copy
of them was taken to: events, runs, learned cases, readings and their history. Documents are the
team's own, and stay; so does a sentence of theirs that somebody wrote as well.
"""

import json
import re
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from sqlalchemy import JSON, Connection, String, Table, and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from services.deployment.operations.sql_dump import tables_of
from services.execution.tables import (
    RunEventRow,
    SearchEventRow,
    SummaryRow,
    SuspensionRow,
)
from services.ingestion.tables import ProposalRow
from services.kit.access.audit import add_audit
from services.kit.access.caller import CallerKind, person_teacher
from services.kit.batches import batches
from services.kit.errors import NotFoundError
from services.kit.sql.database import Base, Database
from services.kit.tables import ApiKeyRow, AuditRow, PersonRow
from services.knowledge.tables import DocumentRow, ResolvedCaseRow
from services.runbook.model import Reader, as_json
from services.runbook.ports import Happening
from services.runbook.store.locked_text import LockedText
from services.runbook.tables import HistoryRow, TicketDoubtRow
from services.tickets.adoption.lessons import judge_digest
from services.tickets.retention import Retention
from services.tickets.tables import (
    AdoptionRow,
    ClarificationRow,
    CommentRow,
    DismissalRow,
    LinkedMarkRow,
    MarkRow,
    TicketRow,
    WorkflowRow,
)

_AUTHORED: tuple[tuple[type[Base], str, tuple[str, ...]], ...] = (
    (MarkRow, "marked_by", ("why", "seen")),
    (MarkRow, "seen_by", ("seen",)),
    (MarkRow, "judged_by", ("word",)),
    (LinkedMarkRow, "marked_by", ("why", "seen")),
    (LinkedMarkRow, "seen_by", ("seen",)),
    (AdoptionRow, "judged_by", ("word",)),
    (ClarificationRow, "answered_by", ("answer", "said")),
    (CommentRow, "author", ("text",)),
    (DismissalRow, "by", ("why",)),
    (TicketDoubtRow, "by", ("word", "instead")),
    (HistoryRow, "who", ("detail",)),
    (RunEventRow, "by", ("facts",)),
    (SearchEventRow, "by", ("facts",)),
    (SuspensionRow, "by", ("why",)),
    (SummaryRow, "by", ("title",)),
    (ProposalRow, "decided_by", ("why",)),
)
"""Tables with the column of an author, and the columns of that author's words."""
_OF_PAGES = ("ingestion_", "knowledge_")
"""Beginnings of the names of tables of documents, whose words stay."""
_WITH_OTHER_WORDS = frozenset({"ingestion_proposal", "ingestion_review", "knowledge_resolved_case"})
"""Tables of documents that hold words of tickets and people beside."""
_WORDS = frozenset(
    {"cause", "commands", "condition", "detail", "do", "expected", "instead", "note", "notes"}
    | {"question", "reason", "seen", "text", "title", "until", "what", "when", "why", "word"}
    | {"all", "not", "some"}
)
"""Names that words have in events, readings and workflows; the rest are ids, kinds and numbers."""
_NAMES = re.compile(
    r"by|who|author|caller|from|holder|owner|person|name|subject|teacher|.*_by|.*_by_id"
    r"|(caller|holder|lasting)_id"
)
"""Columns, and names in JSON, whose values name people."""
_PLACES = re.compile(r"document|documents|document_ids?|path|root|source|location|key|.*_hash")
"""Columns, and names in JSON, that lead to documents and other things, and stay."""
_LEAST_COPIED = 8
"""Characters below which words are deleted where they were written only: "yes" is everybody's."""
_ROWS_AT_ONCE = 500
_PEOPLE = (Reader.PERSON, Reader.IMPORTED)
_READINGS = (*(each.value for each in _PEOPLE), "approved")
"""Parts of a snapshot in which people's words are."""


class PersonNotFoundError(NotFoundError):
    """Error of a name under which nobody signed in or wrote anything."""


class ErasedPerson(BaseModel):
    """Counts of what the erasure of a person changed, or would change."""

    model_config = ConfigDict(frozen=True)

    pseudonym: str
    """Name that stands in the place of theirs."""
    tickets: int = 0
    """Tickets that they brought in themselves, which are purged."""
    words: int = 0
    """Different texts that they wrote."""
    readings: int = 0
    """Pages of which a reading or an approval rests on their words, and goes with them."""


@dataclass(frozen=True)
class _Traces:
    """Names, ids, words and tickets of a person, as they are before anything is deleted."""

    names: frozenset[str]
    ids: frozenset[str]
    """Lasting ids, and digests of the names."""
    words: frozenset[str]
    tickets: tuple[str, ...]
    texts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Words in the readings of a text, by its hash."""
    owners: frozenset[str] = frozenset()
    """Subjects and names by which keys are theirs."""


class PersonErasure:
    """Erasure of people, on the database itself; erasing somebody again finds what came since."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, name: str) -> ErasedPerson:
        """Return what `erase` would change; raises as it does."""
        traces = self._traces(name)
        with self._database.session() as session:
            texts = [hash_ for hash_ in traces.texts if self._withdraw(session, hash_, traces)]
            session.rollback()
        return ErasedPerson(
            pseudonym="",
            tickets=len(traces.tickets),
            words=len(traces.words),
            readings=len(texts),
        )

    def erase(self, name: str) -> ErasedPerson:
        """Erase a person by the name that is shown; a kill half-way is made good by another call.

        Raises:
            PersonNotFoundError: Nobody of this name was here.
        """
        traces, pseudonym = self._traces(name), f"forgotten-{secrets.token_hex(4)}"
        if traces.tickets:
            Retention(self._database, 0.0).forget(traces.tickets)
        readings = 0
        for text_hash in traces.texts:
            with self._database.session() as session:
                readings += self._withdraw(session, text_hash, traces)
        self._delete_rows(traces)
        without_words = _Rewriting.of_words(traces.words)
        without_names = _Rewriting.of_names(
            traces.names | traces.ids, traces.owners - traces.names, pseudonym
        )
        with self._database.engine.connect() as connection:
            tables = [
                table
                for table in tables_of(connection)
                if not table.name.startswith(_OF_PAGES) or table.name in _WITH_OTHER_WORDS
            ]
        authored = {table.__tablename__ for table, _, _ in _AUTHORED}
        for table in sorted(tables, key=lambda table: table.name in authored):
            self._rewrite(table, without_words)
        self._delete_words(traces)
        for table in sorted(tables, key=lambda table: table.name == "audit"):
            self._rewrite(table, without_names)
        with self._database.session() as session:
            keys = update(ApiKeyRow).where(ApiKeyRow.name == pseudonym)
            session.execute(
                keys.where(ApiKeyRow.revoked_at.is_(None)).values(revoked_at=time.time())
            )
            add_audit(session, "person.forgotten", pseudonym)
        return ErasedPerson(
            pseudonym=pseudonym,
            tickets=len(traces.tickets),
            words=len(traces.words),
            readings=readings,
        )

    # What there is

    def _traces(self, name: str) -> _Traces:
        with self._database.session() as session:
            people = select(PersonRow.subject).where(PersonRow.name == name)
            ends = [f"#{subject}" for subject in session.scalars(people)]
            is_theirs = or_(
                AuditRow.who.in_([name, f"key {name}"]),
                *(AuditRow.caller_id.endswith(end, autoescape=True) for end in ends),
            )
            seen = (
                select(AuditRow.who, AuditRow.caller_id, AuditRow.kind).where(is_theirs).distinct()
            )
            callers = session.execute(seen).all()
            named_key = select(ApiKeyRow.id).where(ApiKeyRow.name == name)
            is_key = session.scalar(named_key) is not None
            is_one = {each.kind for each in callers} <= {CallerKind.PERSON, CallerKind.KEY}
            if not is_one or not (ends or callers or is_key or _is_author(session, name)):
                raise PersonNotFoundError(
                    f"nobody called {name[:80]!r} ever signed in or wrote here"
                )
            names = frozenset({name, *(each.who for each in callers)})
            ids = {each.caller_id for each in callers} | {judge_digest(each) for each in names}
            subjects = {each.caller_id.partition("#")[2] for each in callers}
            subjects |= {end[1:] for end in ends}
            ids |= {person_teacher(each) for each in {*subjects, *names} - {""}}
            texts = _words_in_readings(session, names)
            words = {*_written(session, names), *(word for each in texts.values() for word in each)}
            tickets = _brought_in(session, names)
            ids -= {"", *names}
            documents = session.scalars(select(DocumentRow.text))
            left = _without_those_of_pages(words, documents)
        owners = frozenset(subjects - {""}) | names
        return _Traces(names, frozenset(ids), left, tickets, texts, owners)

    # What goes

    def _withdraw(self, session: Session, text_hash: str, traces: _Traces) -> bool:
        """Delete the readings and approvals of a text that rest on the person's words.

        The text is read again as a machine or somebody else read it; an approval that is lost is
        said on its page.
        """
        own = traces.texts[text_hash]
        text = LockedText(session, text_hash, is_new_allowed=False)
        rests = [
            r for r in _PEOPLE if r in text.readings and own & _leaves(as_json(text.readings[r]))
        ]
        for reader in rests:
            text.remove(reader)
        kept = [each for each in text.approved if not own & _leaves(as_json(each.procedure))]
        lost = len(text.approved) - len(kept)
        if lost:
            text.set_approved(kept)
            text.row.was_approved = True
            text.note("", Happening.FELL_BACK, f"{lost} approved")
        if rests or lost:
            text.finish()
        for row in session.scalars(select(HistoryRow).where(HistoryRow.text_hash == text_hash)):
            if row.before is not None and own & _leaves(_readings(row.before)):
                row.before = None
        return bool(rests or lost)

    def _delete_rows(self, traces: _Traces) -> None:
        """Delete what is theirs as a whole, and cases in which an answer of theirs stands."""
        names = traces.names
        answered = select(ClarificationRow.ticket_id).where(ClarificationRow.answered_by.in_(names))
        with self._database.session() as session:
            session.execute(delete(PersonRow).where(PersonRow.subject.in_(traces.owners)))
            session.execute(delete(CommentRow).where(CommentRow.author.in_(names)))
            session.execute(delete(SummaryRow).where(SummaryRow.by.in_(names)))
            session.execute(delete(ResolvedCaseRow).where(ResolvedCaseRow.id.in_(answered)))
            for row in session.scalars(select(ProposalRow)).all():
                is_theirs = names & set(row.proposed_by.split(" and "))
                if is_theirs and row.state != "accepted" and not row.kept_hash:
                    session.delete(row)

    def _delete_words(self, traces: _Traces) -> None:
        """Delete the words of the rows that name the person as their author, short ones too."""
        for row, author, columns in _AUTHORED:
            theirs = getattr(row, author).in_(traces.names)
            if author == "marked_by":  # what was seen may be another's
                theirs = and_(
                    theirs,
                    func.coalesce(row.__table__.columns["seen_by"], "").in_({"", *traces.names}),
                )
            with self._database.session() as session:
                for each in session.scalars(select(row).where(theirs)):
                    for column in columns:
                        setattr(each, column, _emptied(getattr(each, column)))

    def _rewrite(self, table: Table, rewriting: "_Rewriting") -> None:
        """Rewrite the rows of a table, some at a time."""
        keys = list(table.primary_key.columns)
        columns = [each for each in table.columns if isinstance(each.type, String | JSON)]
        if not columns or not keys:
            return
        with self._database.engine.connect() as connection:
            changed = list(_changed_rows(connection, table, rewriting))
        for some in batches(changed, _ROWS_AT_ONCE):
            with self._database.session() as session:
                for key, values in some:
                    mine = [column == value for column, value in zip(keys, key, strict=True)]
                    session.execute(update(table).where(*mine).values(values))


@dataclass(frozen=True)
class _Rewriting:
    """Deletion of words, or replacement of names, in texts and in JSON; names in JSON stay."""

    anywhere: re.Pattern[str] | None
    where_named: re.Pattern[str] | None
    """Pattern for values that name people; see `_NAMES`."""
    instead: str = ""

    @classmethod
    def of_words(cls, words: Collection[str]) -> Self:
        """Delete these words, whatever white space is between them, but for the shortest."""
        long = sorted((each for each in words if len(each) >= _LEAST_COPIED), key=len)[::-1]
        words_pattern = "|".join(r"\s+".join(map(re.escape, each.split())) for each in long)
        compiled = re.compile(words_pattern) if words_pattern else None
        return cls(compiled, compiled)

    @classmethod
    def of_names(cls, names: Collection[str], subjects: Collection[str], instead: str) -> Self:
        """Replace these names; one that is a plain word only where people are named.

        `subjects` of an issuer, which may be numbers, are replaced where nothing else stands.
        """
        ordered = sorted((each for each in names if each), key=len)[::-1]
        odd = [each for each in ordered if not re.fullmatch("[a-z]+", each)]
        patterns = [
            [rf"(?<!\w){re.escape(each)}(?!\w)" for each in some] for some in (odd, ordered)
        ]
        patterns[1] += [rf"\A{re.escape(each)}\Z" for each in subjects]
        anywhere, where_named = (re.compile("|".join(each)) if each else None for each in patterns)
        return cls(anywhere, where_named, instead)

    def changed(self, value: object, name: str = "") -> object:
        """Return the value of a column or a part of JSON without them."""
        if _PLACES.fullmatch(name):
            return value
        if isinstance(value, str):
            parsed = _parsed(value)
            if parsed is not None:
                after = self.changed(parsed, name)
                return value if after == parsed else json.dumps(after)
            pattern = self.where_named if _NAMES.fullmatch(name) else self.anywhere
            return pattern.sub(self.instead, value) if pattern else value
        if isinstance(value, list):
            return [self.changed(each, name) for each in value]
        if isinstance(value, dict):
            return {key: self.changed(each, key) for key, each in value.items()}
        return value


def _changed_rows(
    connection: Connection, table: Table, rewriting: _Rewriting
) -> Iterator[tuple[tuple[Any, ...], dict[str, object]]]:
    keys = list(table.primary_key.columns)
    columns = [each for each in table.columns if isinstance(each.type, String | JSON)]
    streamed = connection.execution_options(yield_per=_ROWS_AT_ONCE)
    for row in streamed.execute(select(*keys, *columns)):
        key, values = row[: len(keys)], row[len(keys) :]
        after = {
            column.name: changed
            for column, value in zip(columns, values, strict=True)
            if value is not None and (changed := rewriting.changed(value, column.name)) != value
        }
        if after:
            yield tuple(key), after


def _is_author(session: Session, name: str) -> bool:
    return any(
        session.execute(select(row).where(getattr(row, author) == name).limit(1)).first()
        for row, author, _ in _AUTHORED
    )


def _written(session: Session, names: Collection[str]) -> set[str]:
    """Return the words beside which they stand as the author."""
    words = set[str]()
    for row, author, columns in _AUTHORED:
        rows = select(*(getattr(row, each) for each in columns))
        for values in session.execute(rows.where(getattr(row, author).in_(names))):
            for value in values:
                words |= _leaves(value)
    for version in session.scalars(select(WorkflowRow).where(WorkflowRow.author.in_(names))):
        base = session.get(WorkflowRow, version.base_id) if version.base_id else None
        words |= _leaves(_parsed(version.body)) - _leaves(_parsed(base.body) if base else None)
    unsettled = select(AuditRow.subject).where(
        AuditRow.who.in_(names), AuditRow.action == "ticket.not_settled"
    )
    tickets = [each.removeprefix("ticket ") for each in session.scalars(unsettled)]
    replies = select(ClarificationRow.said).where(ClarificationRow.ticket_id.in_(tickets))
    words |= {reply for each in session.scalars(replies) for reply in each}
    return words


def _brought_in(session: Session, names: Collection[str]) -> tuple[str, ...]:
    """Return the tickets that they brought in as a person, as far as these are left."""
    received = select(AuditRow.subject).where(
        AuditRow.who.in_(names),
        AuditRow.action == "ticket.received",
        AuditRow.kind == CallerKind.PERSON.value,
    )
    ids = [each.removeprefix("ticket ") for each in session.scalars(received)]
    return tuple(session.scalars(select(TicketRow.id).where(TicketRow.id.in_(ids))))


def _words_in_readings(session: Session, names: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the words that they added to readings, by the hash of the page's text."""
    changes = select(HistoryRow.text_hash).where(
        HistoryRow.who.in_(names), HistoryRow.before.is_not(None)
    )
    words: dict[str, frozenset[str]] = {}
    for text_hash in sorted(set(session.scalars(changes))):
        rows = select(HistoryRow).where(
            HistoryRow.text_hash == text_hash, HistoryRow.before.is_not(None)
        )
        events = session.scalars(rows.order_by(HistoryRow.id)).all()
        now = LockedText(session, text_hash, is_new_allowed=False).snapshot()
        states = [each.before for each in events] + [now]
        own = set[str]()
        for event, before, after in zip(events, states, states[1:], strict=False):
            if event.who in names:
                own |= _leaves(_readings(after)) - _leaves(_readings(before))
        pages = session.scalars(select(DocumentRow.text).where(DocumentRow.text_hash == text_hash))
        if left := _without_those_of_pages(own, pages):
            words[text_hash] = left
    return words


def _readings(snapshot: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: (snapshot or {}).get(name) for name in _READINGS}


def _without_those_of_pages(words: Iterable[str], pages: Iterable[str]) -> frozenset[str]:
    """Return the words that no page has: what a page says is not the person's own."""
    left = {word for word in words if word.strip()}
    for page in pages:
        left = {word for word in left if word not in page}
    return frozenset(left)


def _leaves(value: object) -> set[str]:
    """Return the words in a text, a list, or the parts of JSON that hold such."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, list | tuple):
        return {leaf for each in value for leaf in _leaves(each)}
    if isinstance(value, Mapping):
        return {
            leaf
            for name, each in value.items()
            if name in _WORDS or not _is_text(each)
            for leaf in _leaves(each)
        }
    return set()


def _is_text(value: object) -> bool:
    """Return True for a text, or for a list of texts."""
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and any(isinstance(each, str) for each in value)
    )


def _emptied(value: object) -> object:
    """Return what is left of a column once its words are deleted."""
    if isinstance(value, dict):
        return {
            name: type(each)() if name in _WORDS and _is_text(each) else each
            for name, each in value.items()
        }
    return [] if isinstance(value, list) else ""


def _parsed(text: str) -> object:
    """Return the JSON of a column that holds an object or a list as text; None for other texts."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
