"""Adapter of `GraphStore` on SQL tables: the embedded default."""

from collections.abc import Iterable, Sequence

from sqlalchemy import delete, func, literal, select, text
from sqlalchemy.orm import Session

from services.kit.batches import batches
from services.kit.ids import time_ordered_id
from services.kit.sql.database import Database
from services.knowledge.model import Case, IncidentNode
from services.knowledge.stores.merge import merge, merge_by_id, normalise_name
from services.knowledge.tables import (
    NAME_LENGTH,
    CaseEntityRow,
    CaseRow,
    LinkRow,
    NameRow,
    NodeRow,
    PartRow,
)


class SqlGraphStore:
    """Nodes, parts that documents contribute, names, links and past tickets, in one database.

    A document is replaced in one transaction: readers see its nodes as they were or as they are.
    """

    def __init__(self, database: Database) -> None:
        """Use the database; its tables must exist: `database.migrate("knowledge")`."""
        self._database = database

    def replace_document(self, document_id: str, nodes: Sequence[IncidentNode]) -> set[str]:
        """See `GraphStore.replace_document`."""
        with self._database.session() as session:
            _lock_for_writing(session)
            mine = PartRow.document_id == document_id
            touched = set(session.scalars(select(PartRow.node_id).where(mine)))
            session.execute(delete(PartRow).where(mine))
            parts = merge_by_id(nodes)
            existing = {row.id for row in _rows(session, list(parts))}
            session.add_all(NodeRow(id=id_, merged="") for id_ in parts if id_ not in existing)
            session.flush()
            session.add_all(
                PartRow(
                    node_id=node.id,
                    document_id=document_id,
                    position=position,
                    part=node.model_dump_json(),
                )
                for position, node in enumerate(parts.values())
            )
            session.flush()
            return _update_merged(session, sorted(touched | set(parts)))

    def delete_document(self, document_id: str) -> set[str]:
        """See `GraphStore.delete_document`."""
        return self.replace_document(document_id, ())

    def get(self, ids: Sequence[str]) -> list[IncidentNode]:
        """See `GraphStore.get`."""
        with self._database.session() as session:
            merged = {row.id: row.merged for row in _rows(session, list(dict.fromkeys(ids)))}
        return [IncidentNode.model_validate_json(merged[id_]) for id_ in ids if id_ in merged]

    def of_documents(self, document_ids: Sequence[str]) -> list[IncidentNode]:
        """See `GraphStore.of_documents`."""
        wanted = list(dict.fromkeys(document_ids))
        by_document: dict[str, list[str]] = {}
        with self._database.session() as session:
            for batch in batches(wanted):
                rows = session.execute(
                    select(PartRow.document_id, PartRow.node_id)
                    .where(PartRow.document_id.in_(batch))
                    .order_by(PartRow.position)
                )
                for document_id, node_id in rows:
                    by_document.setdefault(document_id, []).append(node_id)
        ordered = (id_ for document_id in wanted for id_ in by_document.get(document_id, ()))
        return self.get(list(dict.fromkeys(ordered)))

    def find_names(self, names: Iterable[str]) -> dict[str, list[str]]:
        """See `GraphStore.find_names`."""
        keys = {name: normalise_name(name)[:NAME_LENGTH] for name in names}
        ids_by_name: dict[str, list[str]] = {}
        with self._database.session() as session:
            for batch in batches([key for key in dict.fromkeys(keys.values()) if key]):
                rows = session.execute(
                    select(NameRow.name, NameRow.node_id)
                    .where(NameRow.name.in_(batch))
                    .order_by(NameRow.node_id)
                )
                for key, node_id in rows:
                    ids_by_name.setdefault(key, []).append(node_id)
        return {name: ids_by_name[key] for name, key in keys.items() if key in ids_by_name}

    def neighbours(self, node_id: str, *, hops: int = 1) -> list[str]:
        """See `GraphStore.neighbours`; nodes equally near come in the order of their ids."""
        start = select(literal(node_id).label("node_id"), literal(0).label("depth"))
        reach = start.cte("reach", recursive=True)
        reach = reach.union(
            select(PartRow.node_id, reach.c.depth + 1)
            .join_from(reach, LinkRow, LinkRow.node_id == reach.c.node_id)
            .join(PartRow, PartRow.document_id == LinkRow.document_id)
            .where(reach.c.depth < hops)
        )
        nearest = (
            select(reach.c.node_id)
            .where(reach.c.node_id != node_id)
            .group_by(reach.c.node_id)
            .order_by(func.min(reach.c.depth), reach.c.node_id)
        )
        with self._database.session() as session:
            return list(session.scalars(nearest))

    def search(self, text: str = "", *, start: int = 0, limit: int = 50) -> list[IncidentNode]:
        """See `GraphStore.search`."""
        statement = select(NameRow.node_id)
        if key := normalise_name(text)[:NAME_LENGTH]:
            statement = statement.where(NameRow.name.contains(key, autoescape=True))
        ordered = statement.group_by(NameRow.node_id).order_by(
            func.min(NameRow.name), NameRow.node_id
        )
        with self._database.session() as session:
            ids = session.scalars(ordered.offset(start).limit(limit)).all()
        return self.get(ids)

    def count(self) -> int:
        """See `GraphStore.count`."""
        with self._database.session() as session:
            return session.scalar(select(func.count()).select_from(NodeRow)) or 0

    def put_cases(self, cases: Sequence[Case]) -> None:
        """See `GraphStore.put_cases`."""
        latest = {case.id[:NAME_LENGTH]: case for case in cases}
        with self._database.session() as session:
            for batch in batches(latest):
                session.execute(delete(CaseRow).where(CaseRow.id.in_(batch)))
            session.add_all(
                CaseRow(
                    id=id_, text=case.text, team=case.team, at=case.at, version=time_ordered_id()
                )
                for id_, case in latest.items()
            )
            session.flush()
            session.add_all(
                CaseEntityRow(case_id=id_, entity=entity, times=times)
                for id_, case in latest.items()
                for entity, times in {
                    entity[:NAME_LENGTH]: times for entity, times in case.entities.items()
                }.items()
            )

    def remove_cases(self, ids: Sequence[str]) -> None:
        """See `GraphStore.remove_cases`."""
        with self._database.session() as session:
            for batch in batches([id_[:NAME_LENGTH] for id_ in ids]):
                session.execute(delete(CaseRow).where(CaseRow.id.in_(batch)))

    def cases(self, limit: int) -> list[Case]:
        """See `GraphStore.cases`."""
        newest = select(CaseRow).order_by(CaseRow.at.desc(), CaseRow.id.desc()).limit(limit)
        with self._database.session() as session:
            rows = list(session.scalars(newest))
            mentions: dict[str, dict[str, int]] = {row.id: {} for row in rows}
            for batch in batches(mentions):
                ordered = (
                    select(CaseEntityRow.case_id, CaseEntityRow.entity, CaseEntityRow.times)
                    .where(CaseEntityRow.case_id.in_(batch))
                    .order_by(CaseEntityRow.entity)
                )
                for id_, entity, times in session.execute(ordered):
                    mentions[id_][entity] = times
        return [
            Case(id=row.id, text=row.text, team=row.team, at=row.at, entities=mentions[row.id])
            for row in reversed(rows)
        ]

    def cases_state(self) -> str:
        """See `GraphStore.cases_state`."""
        with self._database.session() as session:
            version, count = session.execute(select(func.max(CaseRow.version), func.count())).one()
        return f"{version}:{count}" if version else ""


def _lock_for_writing(session: Session) -> None:
    """Lock the graph for this writer, since merged forms are read, recomputed and written.

    SQLite admits only one writer from its first changing statement on, which this one is.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE knowledge_node IN SHARE ROW EXCLUSIVE MODE"))
    else:
        session.execute(delete(NodeRow).where(NodeRow.id == ""))


def _update_merged(session: Session, ids: Sequence[str]) -> set[str]:
    """Bring the merged forms of these nodes up to date. Returns the ids of changed ones."""
    parts: dict[str, list[IncidentNode]] = {id_: [] for id_ in ids}
    for batch in batches(ids):
        rows = session.execute(
            select(PartRow.node_id, PartRow.part)
            .where(PartRow.node_id.in_(batch))
            .order_by(PartRow.document_id, PartRow.position)
        )
        for node_id, part in rows:
            parts[node_id].append(IncidentNode.model_validate_json(part))
    changed = set()
    for row in _rows(session, ids):
        node = merge(parts[row.id]) if parts[row.id] else None
        merged = node.model_dump_json() if node else ""
        if merged == row.merged:
            continue
        changed.add(row.id)
        _replace_names_and_links(session, row.id, node)
        if node is None:
            session.delete(row)
        row.merged = merged
    return changed


def _replace_names_and_links(session: Session, node_id: str, node: IncidentNode | None) -> None:
    session.execute(delete(NameRow).where(NameRow.node_id == node_id))
    session.execute(delete(LinkRow).where(LinkRow.node_id == node_id))
    if node is None:
        return
    names = {normalise_name(name)[:NAME_LENGTH] for name in (node.name, *node.aliases)}
    session.add_all(NameRow(name=name, node_id=node_id) for name in sorted(names) if name)
    session.add_all(
        LinkRow(node_id=node_id, document_id=document_id, position=position)
        for position, document_id in enumerate(dict.fromkeys(node.linked_documents))
    )


def _rows(session: Session, ids: Sequence[str]) -> list[NodeRow]:
    return [
        row
        for batch in batches(ids)
        for row in session.scalars(select(NodeRow).where(NodeRow.id.in_(batch)))
    ]
