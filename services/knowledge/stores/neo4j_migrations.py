"""Constraints of the graph on a Neo4j server, brought up to date when a store opens.

A unique constraint brings the index that its key is looked up by.
"""

from neo4j import Driver, RoutingControl

from services.knowledge.ports import StoreUnavailableError

GRAPH_ID = "incidents"
"""Id of the one node `FlowXpertGraph`: it holds the version, and writers lock it in turn."""


def _unique(name: str, label: str, key: str) -> str:
    return f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{label}) REQUIRE n.{key} IS UNIQUE"


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        _unique("flowxpert_graph_id", "FlowXpertGraph", "id"),
        _unique("flowxpert_incident_id", "Incident", "id"),
        _unique("flowxpert_source_document_id", "SourceDocument", "id"),
        _unique("flowxpert_incident_name_key", "IncidentName", "key"),
    ),
    (
        _unique("flowxpert_case_id", "TriageCase", "id"),
        _unique("flowxpert_entity_key", "TriageEntity", "key"),
        _unique("flowxpert_team_name", "TriageTeam", "name"),
    ),
)
"""Version n is reached by the n-th entry. Statements may run twice; entries are only appended."""

_VERSION = "MATCH (g:FlowXpertGraph {id: $graph}) RETURN g.version AS version"
_REACHED = """
MERGE (g:FlowXpertGraph {id: $graph}) ON CREATE SET g.turn = 0
SET g.version = $version
"""


def migrate(driver: Driver, database: str | None) -> None:
    """Run the migrations the database lacks; safe while another process does the same.

    Raises:
        StoreUnavailableError: A newer version of the platform wrote this graph.
    """
    records = driver.execute_query(
        _VERSION, graph=GRAPH_ID, database_=database, routing_=RoutingControl.READ
    ).records
    reached = int(records[0]["version"]) if records else 0
    if reached > len(MIGRATIONS):
        raise StoreUnavailableError(
            f"the graph is of version {reached} and this platform knows {len(MIGRATIONS)}: "
            "upgrade the platform or choose another database"
        )
    for version, statements in enumerate(MIGRATIONS[reached:], start=reached + 1):
        for statement in statements:
            driver.execute_query(statement, database_=database)
        driver.execute_query(_REACHED, graph=GRAPH_ID, version=version, database_=database)
