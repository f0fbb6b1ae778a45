"""What Alembic runs: the caller's connection, the room's tables, the room's version table."""

from alembic import context
from sqlalchemy import Table
from sqlalchemy.schema import SchemaItem

from services.kit.sql.database import Base

attributes = context.config.attributes
own_tables = {table.name for table in attributes["tables"]}


def belongs_to_room(
    item: SchemaItem,
    _name: str | None,
    _kind: str,
    _reflected: bool,
    _compare_to: SchemaItem | None,
) -> bool:
    """Whether the item is, or is part of, one of the room's tables."""
    table = item if isinstance(item, Table) else getattr(item, "table", None)
    return table is None or table.name in own_tables


context.configure(
    connection=attributes["connection"],
    target_metadata=Base.metadata,
    version_table=f"alembic_{attributes['room']}",
    include_object=belongs_to_room,
    render_as_batch=True,
    transactional_ddl=False,
)
context.run_migrations()
