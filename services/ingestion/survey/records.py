"""Records of what documents mention now, and of what they mentioned before."""

import hashlib
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from services.ingestion.survey.mentions import MentionKind, mentions_of
from services.ingestion.tables import IngestedRow, MentionRow, SurveyedRow
from services.kit.batches import batches
from services.kit.sql.database import Database
from services.knowledge.document.links import LinkResolver
from services.knowledge.ports import DocumentStore

_AT_ONCE = 50
"""Number of documents in one transaction."""


class SurveyRecords:
    """Keeper of the rows, in step with the documents; doing it again changes nothing.

    What is gone stays on record, except where the whole root was given up: that others named
    something there is no evidence any more.
    """

    def __init__(self, database: Database, documents: DocumentStore) -> None:
        self._database = database
        self._documents = documents

    def catch_up(self, now: datetime) -> None:
        """Survey the documents that changed since the last time."""
        ingested, surveyed = self._states()
        changed = [id_ for id_, state in ingested.items() if surveyed.get(id_) != state]
        sources = {source for source, _ in ingested.values()}
        gone = {id_: source for id_, (source, _) in surveyed.items() if id_ not in ingested}
        if not changed and not gone and not self._has_left():
            return
        for some in batches(sorted(changed), _AT_ONCE):
            self._survey({id_: ingested[id_] for id_ in some}, now)
        with self._database.session() as session:
            for some in batches(sorted(id_ for id_ in gone if gone[id_] in sources)):
                for table in (SurveyedRow, MentionRow):
                    mine = (table.document_id.in_(some), table.gone_at.is_(None))
                    session.execute(update(table).where(*mine).values(gone_at=now))
            recorded = session.scalars(select(SurveyedRow.source).distinct())
            for source in set(recorded) - sources:
                ids = select(SurveyedRow.document_id).where(SurveyedRow.source == source)
                session.execute(delete(MentionRow).where(MentionRow.document_id.in_(ids)))
                session.execute(delete(SurveyedRow).where(SurveyedRow.source == source))
            session.flush()
            _record_link_targets(session, LinkResolver(ingested), now)

    def _states(self) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
        """Return source and text hash by document: as ingested, and as surveyed if not gone."""
        whole = select(IngestedRow.document_id, IngestedRow.source, IngestedRow.text_hash)
        surveyed_columns = select(
            SurveyedRow.document_id, SurveyedRow.source, SurveyedRow.text_hash
        )
        with self._database.session() as session:
            rows = session.execute(whole.where(IngestedRow.content_hash != "")).tuples()
            ingested = {id_: (source, text_hash) for id_, source, text_hash in rows}
            here = session.execute(surveyed_columns.where(SurveyedRow.gone_at.is_(None))).tuples()
            return ingested, {id_: (source, text_hash) for id_, source, text_hash in here}

    def _has_left(self) -> bool:
        """Return True if documents are on record whose root nobody keeps any more."""
        kept = select(IngestedRow.source).where(IngestedRow.content_hash != "")
        left = select(SurveyedRow.document_id).where(SurveyedRow.source.not_in(kept))
        with self._database.session() as session:
            return session.scalar(left.limit(1)) is not None

    def _survey(self, states: Mapping[str, tuple[str, str]], now: datetime) -> None:
        documents = {id_: self._documents.get(id_) for id_ in states}
        texts = {
            id_: document.for_person().text
            for id_, document in documents.items()
            if document is not None
        }
        with self._database.session() as session:
            for id_, text in texts.items():
                source, text_hash = states[id_]
                state = {
                    "document_id": id_,
                    "source": source,
                    "text_hash": text_hash,
                    "at": now,
                    "gone_at": None,
                }
                row = self._database.insert(SurveyedRow).values(state)
                session.execute(
                    row.on_conflict_do_update(index_elements=["document_id"], set_=state)
                )
                self._keep(session, id_, text, now)

    def _keep(self, session: Session, id_: str, text: str, now: datetime) -> None:
        mine = select(MentionRow).where(MentionRow.document_id == id_)
        before = {(row.kind, row.what): row for row in session.scalars(mine)}
        lines = text.split("\n")
        for each in mentions_of(text, id_):
            line_hash = hashlib.sha256(lines[each.line - 1].encode()).hexdigest()[:16]
            row = before.pop((each.kind.value, each.what), None)
            is_as_before = row is not None and row.gone_at is None and row.line_hash == line_hash
            session.execute(
                self._database.insert(MentionRow)
                .values(
                    document_id=id_,
                    kind=each.kind.value,
                    what=each.what,
                    line=each.line,
                    said=each.text,
                    in_code=each.in_code,
                    line_hash=line_hash,
                    line_at=now,
                )
                .on_conflict_do_update(
                    index_elements=["document_id", "kind", "what"],
                    set_={
                        "line": each.line,
                        "said": each.text,
                        "in_code": each.in_code,
                        "line_hash": line_hash,
                        "gone_at": None,
                    }
                    | ({} if is_as_before else {"line_at": now}),
                )
            )
        for row in before.values():
            row.gone_at = row.gone_at or now


def _record_link_targets(session: Session, resolver: LinkResolver, now: datetime) -> None:
    """Store where links lead, and since when they no longer do."""
    live = (MentionRow.kind == MentionKind.LINK.value, MentionRow.gone_at.is_(None))
    for row in session.scalars(select(MentionRow).where(*live)):
        leads = resolver.resolve(row.what)
        if leads is not None and (row.led_to, row.led_until) != (leads, None):
            row.led_to, row.led_until = leads, None
        elif leads is None and row.led_to and row.led_until is None:
            row.led_until = now
