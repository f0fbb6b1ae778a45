"""Adapter of `GraphStore` on a Neo4j server, or on another one that speaks Bolt and Cypher.

(:Incident)-[:FOUND_IN]->(:SourceDocument)       what a document contributes to a node
(:Incident)-[:HANDS_OVER_TO]->(:SourceDocument)  a link of its procedure
(:Incident)-[:CALLED]->(:IncidentName)           a name or alias as it is compared
(:TriageCase)-[:MENTIONS]->(:TriageEntity)       what a past ticket speaks of, and how often
(:TriageCase)-[:BELONGS_TO]->(:TriageTeam)       the team that took it
"""

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from neo4j import Driver, GraphDatabase, ManagedTransaction, unit_of_work
from neo4j.exceptions import ClientError, DriverError, Neo4jError

from services.kit.batches import batches
from services.kit.ids import time_ordered_id
from services.knowledge.model import Case, IncidentNode
from services.knowledge.ports import StoreUnavailableError
from services.knowledge.stores.merge import merge, merge_by_id, normalise_name
from services.knowledge.stores.neo4j_migrations import GRAPH_ID, migrate
from services.knowledge.tables import NAME_LENGTH

Result = TypeVar("Result")

_BATCH = 500
"""Rows in one statement: a few megabytes of passages."""
_CONNECT_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 10.0
_WRITE_TIMEOUT_S = 60.0
_RETRY_TIME_S = 10.0
"""Time for which the driver retries transient failures: a deadlock, a lost leader. Longer outages
are left to the caller, who has a queue for them.
"""
_ATTEMPTS = 8
_FIRST_PAUSE_S = 0.02
_CLASHES = ("Neo.ClientError.Schema.", "Neo.ClientError.Statement.EntityNotFound")
"""Errors of two transactions that made the same thing at once, or deleted what the other used; the
driver does not retry these itself.
"""

_TAKE_TURN = "MATCH (g:FlowXpertGraph {id: $graph}) SET g.turn = g.turn + 1"
_TAKE_PARTS_OUT = """
MATCH (:SourceDocument {id: $document})<-[part:FOUND_IN]-(n:Incident)
WITH part, n.id AS id DELETE part RETURN id
"""
_PUT_DOCUMENT = "MERGE (:SourceDocument {id: $document})"
_PUT_PARTS = """
UNWIND $rows AS row
MATCH (d:SourceDocument {id: $document})
MERGE (n:Incident {id: row.id}) ON CREATE SET n.merged = ''
CREATE (n)-[:FOUND_IN {position: row.position, part: row.part}]->(d)
"""
_PARTS_OF_NODES = """
UNWIND $rows AS id
MATCH (n:Incident {id: id})
OPTIONAL MATCH (n)-[part:FOUND_IN]->(d:SourceDocument)
RETURN n.id AS id, n.merged AS merged, d.id AS document, part.position AS position,
       part.part AS part
"""
_TAKE_NAMES_OFF = """
UNWIND $rows AS id
MATCH (:Incident {id: id})-[called:CALLED]->(name:IncidentName)
WITH called, name.key AS key DELETE called RETURN DISTINCT key
"""
_TAKE_LINKS_OFF = """
UNWIND $rows AS id
MATCH (:Incident {id: id})-[link:HANDS_OVER_TO]->(d:SourceDocument)
WITH link, d.id AS document DELETE link RETURN DISTINCT document
"""
_DELETE_NODES = "UNWIND $rows AS id MATCH (n:Incident {id: id}) DETACH DELETE n"
_PUT_MERGED = """
UNWIND $rows AS row
MATCH (n:Incident {id: row.id})
SET n.merged = row.merged, n.name = row.name, n.summary = row.summary
"""
_PUT_NAMES = """
UNWIND $rows AS row
MATCH (n:Incident {id: row.id})
MERGE (name:IncidentName {key: row.key})
CREATE (n)-[:CALLED]->(name)
"""
_PUT_LINKS = """
UNWIND $rows AS row
MATCH (n:Incident {id: row.id})
MERGE (d:SourceDocument {id: row.document})
CREATE (n)-[:HANDS_OVER_TO {position: row.position}]->(d)
"""
_DELETE_UNUSED_NAMES = """
UNWIND $rows AS key
MATCH (name:IncidentName {key: key}) WHERE NOT (name)--() DELETE name
"""
_DELETE_UNUSED_DOCUMENTS = """
UNWIND $rows AS id
MATCH (d:SourceDocument {id: id}) WHERE NOT (d)--() DELETE d
"""
_GET = """
UNWIND $rows AS id MATCH (n:Incident {id: id}) RETURN n.id AS id, n.merged AS merged
"""
_OF_DOCUMENTS = """
UNWIND $rows AS document
MATCH (:SourceDocument {id: document})<-[part:FOUND_IN]-(n:Incident)
RETURN document, part.position AS position, n.id AS id
"""
_FIND_NAMES = """
UNWIND $rows AS key
MATCH (:IncidentName {key: key})<-[:CALLED]-(n:Incident)
RETURN key, n.id AS id
"""
_ONE_HOP = """
UNWIND $rows AS id
MATCH (:Incident {id: id})-[:HANDS_OVER_TO]->(:SourceDocument)<-[:FOUND_IN]-(n:Incident)
RETURN DISTINCT n.id AS id
"""
_TAKE_CASES_OUT = "UNWIND $rows AS id MATCH (c:TriageCase {id: id}) DETACH DELETE c"
_PUT_CASES = """
UNWIND $rows AS row
MERGE (t:TriageTeam {name: row.team})
CREATE (c:TriageCase {id: row.id, text: row.text, at: row.at, version: row.version})
CREATE (c)-[:BELONGS_TO]->(t)
"""
_PUT_MENTIONS = """
UNWIND $rows AS row
MATCH (c:TriageCase {id: row.id})
MERGE (e:TriageEntity {key: row.entity})
CREATE (c)-[:MENTIONS {times: row.times}]->(e)
"""
_CASES = """
MATCH (c:TriageCase)-[:BELONGS_TO]->(t:TriageTeam)
RETURN c.id AS id, c.text AS text, c.at AS at, t.name AS team
ORDER BY at DESC, id DESC LIMIT $limit
"""
_MENTIONS = """
UNWIND $rows AS id
MATCH (:TriageCase {id: id})-[m:MENTIONS]->(e:TriageEntity)
RETURN id, e.key AS entity, m.times AS times
"""
_CASES_STATE = "MATCH (c:TriageCase) RETURN max(c.version) AS version, count(c) AS held"
_DROP_LONE_ENTITIES = "MATCH (e:TriageEntity) WHERE NOT (e)<-[:MENTIONS]-() DELETE e"
_DROP_LONE_TEAMS = "MATCH (t:TriageTeam) WHERE NOT (t)<-[:BELONGS_TO]-() DELETE t"
_SEARCH = """
MATCH (n:Incident)-[:CALLED]->(name:IncidentName) WHERE name.key CONTAINS $key
WITH n.id AS id, min(name.key) AS first
RETURN id ORDER BY first, id SKIP $start LIMIT $limit
"""
_COUNT = "MATCH (n:Incident) RETURN count(n) AS held"

Row = Mapping[str, Any]


class Neo4jGraphStore:
    """Nodes, documents and names in one database of the server.

    A document is replaced in one transaction: readers see its nodes as they were or as they are.
    The whole node is kept as JSON on `Incident.merged`; `name` and `summary` are there for people
    who look at the graph.
    """

    def __init__(self, driver: Driver, *, database: str | None = None) -> None:
        """Bring constraints and indexes up to date; `database` None is the user's default.

        Raises:
            StoreUnavailableError: The server did not answer, refused the password, or holds a
                graph that a newer version wrote.
        """
        self._driver = driver
        self._database = database
        self._turn = threading.Lock()
        with _vendor_errors():
            driver.verify_connectivity()  # It does not try again for long, as a query would.
            _repeat(lambda: migrate(driver, database))

    @classmethod
    def connect(
        cls, url: str, user: str, password: str, *, database: str | None = None
    ) -> "Neo4jGraphStore":
        """Connect to the server at `url`: neo4j://, bolt://, or one of these with +s."""
        with _vendor_errors():
            driver = GraphDatabase.driver(
                url,
                auth=(user, password),
                connection_timeout=_CONNECT_TIMEOUT_S,
                connection_acquisition_timeout=_CONNECT_TIMEOUT_S,
                max_transaction_retry_time=_RETRY_TIME_S,
                # The server warns of names it has not seen yet, which an empty graph is full of.
                notifications_min_severity="OFF",
            )
        try:
            return cls(driver, database=database)
        except StoreUnavailableError:
            driver.close()
            raise

    def replace_document(self, document_id: str, nodes: Sequence[IncidentNode]) -> set[str]:
        """See `GraphStore.replace_document`."""
        parts = merge_by_id(nodes)

        def work(tx: ManagedTransaction) -> set[str]:
            tx.run(_TAKE_TURN, graph=GRAPH_ID).consume()
            touched = {row["id"] for row in tx.run(_TAKE_PARTS_OUT, document=document_id)}
            if parts:
                tx.run(_PUT_DOCUMENT, document=document_id).consume()
            rows = [
                {"id": node.id, "position": position, "part": node.model_dump_json()}
                for position, node in enumerate(parts.values())
            ]
            _write(tx, _PUT_PARTS, rows, document=document_id)
            changed = _update_merged(tx, sorted(touched | set(parts)))
            _write(tx, _DELETE_UNUSED_DOCUMENTS, [document_id])
            return changed

        # Threads of this process wait here, which is cheaper than to meet on the server.
        with self._turn:
            return self._run(work, writes=True)

    def delete_document(self, document_id: str) -> set[str]:
        """See `GraphStore.delete_document`."""
        return self.replace_document(document_id, ())

    def get(self, ids: Sequence[str]) -> list[IncidentNode]:
        """See `GraphStore.get`."""
        rows = self._rows(_GET, list(dict.fromkeys(ids)))
        merged = {row["id"]: row["merged"] for row in rows}
        return [IncidentNode.model_validate_json(merged[id_]) for id_ in ids if id_ in merged]

    def of_documents(self, document_ids: Sequence[str]) -> list[IncidentNode]:
        """See `GraphStore.of_documents`."""
        wanted = {id_: place for place, id_ in enumerate(dict.fromkeys(document_ids))}
        rows = self._rows(_OF_DOCUMENTS, list(wanted))
        ordered = sorted(rows, key=lambda row: (wanted[row["document"]], row["position"]))
        return self.get(list(dict.fromkeys(row["id"] for row in ordered)))

    def find_names(self, names: Iterable[str]) -> dict[str, list[str]]:
        """See `GraphStore.find_names`."""
        keys = {name: _key(name) for name in names}
        ids_by_key: dict[str, list[str]] = {}
        for row in self._rows(_FIND_NAMES, [key for key in dict.fromkeys(keys.values()) if key]):
            ids_by_key.setdefault(row["key"], []).append(row["id"])
        return {name: sorted(ids_by_key[key]) for name, key in keys.items() if key in ids_by_key}

    def neighbours(self, node_id: str, *, hops: int = 1) -> list[str]:
        """See `GraphStore.neighbours`; nodes equally near come in the order of their ids."""

        def work(tx: ManagedTransaction) -> list[str]:
            reached, edge = {node_id: 0}, [node_id]
            for hop in range(1, hops + 1):
                ids = {row["id"] for row in _read(tx, _ONE_HOP, edge)}
                edge = sorted(ids - reached.keys())
                reached.update(dict.fromkeys(edge, hop))
                if not edge:
                    break
            return [id_ for id_ in reached if id_ != node_id]

        return self._run(work)

    def search(self, text: str = "", *, start: int = 0, limit: int = 50) -> list[IncidentNode]:
        """See `GraphStore.search`."""
        parameters = {"key": _key(text), "start": start, "limit": limit}
        rows = self._run(lambda tx: tx.run(_SEARCH, parameters).data())
        return self.get([row["id"] for row in rows])

    def count(self) -> int:
        """See `GraphStore.count`."""
        (row,) = self._run(lambda tx: tx.run(_COUNT).data())
        return int(row["held"])

    def put_cases(self, cases: Sequence[Case]) -> None:
        """See `GraphStore.put_cases`."""
        latest = {case.id: case for case in cases}
        rows = [
            {"id": id_, "text": case.text, "at": case.at, "team": case.team}
            | {"version": time_ordered_id()}
            for id_, case in latest.items()
        ]
        mentions = [
            {"id": id_, "entity": entity, "times": times}
            for id_, case in latest.items()
            for entity, times in case.entities.items()
        ]

        def work(tx: ManagedTransaction) -> None:
            tx.run(_TAKE_TURN, graph=GRAPH_ID).consume()
            _write(tx, _TAKE_CASES_OUT, list(latest))
            _write(tx, _PUT_CASES, rows)
            _write(tx, _PUT_MENTIONS, mentions)

        with self._turn:
            self._run(work, writes=True)

    def remove_cases(self, ids: Sequence[str]) -> None:
        """See `GraphStore.remove_cases`."""

        def work(tx: ManagedTransaction) -> None:
            tx.run(_TAKE_TURN, graph=GRAPH_ID).consume()
            _write(tx, _TAKE_CASES_OUT, list(ids))
            tx.run(_DROP_LONE_ENTITIES).consume()
            tx.run(_DROP_LONE_TEAMS).consume()

        with self._turn:
            self._run(work, writes=True)

    def cases(self, limit: int) -> list[Case]:
        """See `GraphStore.cases`."""
        rows = self._run(lambda tx: tx.run(_CASES, limit=limit).data())
        mentioned: dict[str, dict[str, int]] = {row["id"]: {} for row in rows}
        for row in self._rows(_MENTIONS, list(mentioned)):
            mentioned[row["id"]][row["entity"]] = row["times"]
        return [
            Case(**row, entities=dict(sorted(mentioned[row["id"]].items())))
            for row in reversed(rows)
        ]

    def cases_state(self) -> str:
        """See `GraphStore.cases_state`."""
        (row,) = self._run(lambda tx: tx.run(_CASES_STATE).data())
        return f"{row['version']}:{row['held']}" if row["version"] else ""

    def close(self) -> None:
        """Release the connections."""
        self._driver.close()

    def _rows(self, statement: str, values: Sequence[str]) -> list[Row]:
        return self._run(lambda tx: _read(tx, statement, values)) if values else []

    def _run(self, work: Callable[[ManagedTransaction], Result], *, writes: bool = False) -> Result:
        """Run `work` in one transaction, and retry it after conflicts."""
        timed = unit_of_work(timeout=_WRITE_TIMEOUT_S if writes else _READ_TIMEOUT_S)(work)
        with _vendor_errors(), self._driver.session(database=self._database) as session:
            execute = session.execute_write if writes else session.execute_read
            return _repeat(lambda: execute(timed))


def _update_merged(tx: ManagedTransaction, ids: Sequence[str]) -> set[str]:
    """Bring the merged forms of these nodes up to date. Returns the ids of changed ones."""
    before: dict[str, str] = {}
    parts: dict[str, list[tuple[str, int, str]]] = {}
    for row in _read(tx, _PARTS_OF_NODES, ids):
        before[row["id"]] = row["merged"]
        mine = parts.setdefault(row["id"], [])
        if row["document"] is not None:
            mine.append((row["document"], row["position"], row["part"]))
    merged = {
        id_: merge([IncidentNode.model_validate_json(part) for _, _, part in sorted(mine)])
        for id_, mine in parts.items()
        if mine
    }
    changed = {id_: node for id_, node in merged.items() if node.model_dump_json() != before[id_]}
    gone = sorted(parts.keys() - merged.keys())
    _replace(tx, changed, gone)
    return {*changed, *gone}


def _replace(
    tx: ManagedTransaction, changed: Mapping[str, IncidentNode], gone: Sequence[str]
) -> None:
    """Write these nodes with their names and links, and delete those that are gone."""
    stale = [*changed, *gone]
    names = [row["key"] for row in _read(tx, _TAKE_NAMES_OFF, stale)]
    documents = [row["document"] for row in _read(tx, _TAKE_LINKS_OFF, stale)]
    _write(tx, _DELETE_NODES, gone)
    rows = [
        {"id": id_, "merged": node.model_dump_json(), "name": node.name, "summary": node.summary}
        for id_, node in changed.items()
    ]
    _write(tx, _PUT_MERGED, rows)
    keys = [
        {"id": id_, "key": key}
        for id_, node in changed.items()
        for key in sorted({_key(name) for name in (node.name, *node.aliases)})
        if key
    ]
    _write(tx, _PUT_NAMES, keys)
    links = [
        {"id": id_, "document": document_id, "position": position}
        for id_, node in changed.items()
        for position, document_id in enumerate(dict.fromkeys(node.linked_documents))
    ]
    _write(tx, _PUT_LINKS, links)
    _write(tx, _DELETE_UNUSED_NAMES, names)
    _write(tx, _DELETE_UNUSED_DOCUMENTS, documents)


def _read(tx: ManagedTransaction, statement: str, values: Sequence[object]) -> list[Row]:
    return [
        row for batch in batches(values, _BATCH) for row in tx.run(statement, rows=batch).data()
    ]


def _write(
    tx: ManagedTransaction, statement: str, values: Sequence[object], **parameters: str
) -> None:
    for batch in batches(values, _BATCH):
        tx.run(statement, {"rows": batch, **parameters}).consume()


def _key(name: str) -> str:
    return normalise_name(name)[:NAME_LENGTH]


def _repeat(work: Callable[[], Result]) -> Result:
    """Retry `work` if another writer made the same node or index at the same moment."""
    pause = _FIRST_PAUSE_S
    for _ in range(_ATTEMPTS - 1):
        try:
            return work()
        except ClientError as error:
            if not (error.code or "").startswith(_CLASHES):
                raise
        # Chance keeps writers that met once from meeting again.
        time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
        pause *= 2
    return work()


@contextmanager
def _vendor_errors() -> Iterator[None]:
    try:
        yield
    except (DriverError, Neo4jError, OSError) as error:
        raise StoreUnavailableError(f"the graph store did not answer: {error}") from error
    except ValueError as error:
        # The driver's word for an address it cannot read.
        raise StoreUnavailableError(f"the graph store cannot be reached: {error}") from error
