"""Tools of an MCP server, as it lists them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from services.executor.tools.importing.imported import (
    Entries,
    Imported,
    distinct,
    effect_of_named,
)
from services.executor.tools.importing.schema import UnsaidError, fields_of, parameter_of
from services.kit.value import Value


class ListedTool(Value):
    """A tool as its server tells of it: data, none of it checked."""

    name: str
    description: str = ""
    takes: Mapping[str, Any] = Field(default={})
    """The JSON Schema of its arguments."""
    tells: Mapping[str, Any] = Field(default={})
    """The JSON Schema of what it answers beside text; empty where it tells none."""
    looks: bool = False
    """Whether the server says that it changes nothing."""


def tools_of_mcp(listed: Sequence[ListedTool], kind: str) -> Imported:
    """Entries for targets of a kind. That a tool only looks is the server's word for it."""
    entries = Entries(kind)
    for tool in listed:
        try:
            _add(entries, tool)
        except UnsaidError as error:
            entries.leave_out(tool.name, str(error))
    return entries.imported()


def _add(entries: Entries, tool: ListedTool) -> None:
    properties = {str(k): v for k, v in tool.takes.get("properties", {}).items()}
    needed = [str(each) for each in tool.takes.get("required", ())]
    if not distinct(needed) or not all(re.fullmatch(r"\w+", own) for own in needed):
        raise UnsaidError("its arguments have names that the catalogue has not")
    parameters = {own: parameter_of(own, properties.get(own, {})) for own in needed}
    for own in properties:
        if own not in needed:
            entries.leave_out(tool.name, f"{own}, which may be missing")
    fields = fields_of(tool.tells)
    entry = {
        "way": {"by": "mcp", "name": tool.name},
        "parameters": parameters,
        "output": {"parser": "json", "fields": fields} if fields else {},
    }
    entries.add(tool.name, tool.description, entry, effect_of_named(tool.name, looks=tool.looks))
