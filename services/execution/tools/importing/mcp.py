"""Import of the tools that an MCP server lists."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from services.execution.tools.importing.entries import (
    EntryCollector,
    ImportResult,
    are_distinct,
    infer_effect,
)
from services.execution.tools.importing.schema import InexpressibleError, to_fields, to_parameter
from services.kit.value import Value


class ListedTool(Value):
    """A tool as its server describes it: data, none of it checked."""

    name: str
    description: str = ""
    takes: Mapping[str, Any] = Field(default={})
    """JSON Schema of its arguments."""
    tells: Mapping[str, Any] = Field(default={})
    """JSON Schema of its structured answer; empty if there is none."""
    looks: bool = False
    """True if the server says that it changes nothing."""


def import_mcp_tools(listed: Sequence[ListedTool], kind: str) -> ImportResult:
    """Convert the tools to entries for targets of a kind.

    That a tool only looks is the server's word for it.
    """
    entries = EntryCollector(kind)
    for tool in listed:
        try:
            _add(entries, tool)
        except InexpressibleError as error:
            entries.leave_out(tool.name, str(error))
    return entries.collect()


def _add(entries: EntryCollector, tool: ListedTool) -> None:
    properties = {str(k): v for k, v in tool.takes.get("properties", {}).items()}
    needed = [str(each) for each in tool.takes.get("required", ())]
    if not are_distinct(needed) or not all(re.fullmatch(r"\w+", own) for own in needed):
        raise InexpressibleError("its arguments have names that the catalogue has not")
    parameters = {own: to_parameter(own, properties.get(own, {})) for own in needed}
    for own in properties:
        if own not in needed:
            entries.leave_out(tool.name, f"{own}, which may be missing")
    fields = to_fields(tool.tells)
    entry = {
        "way": {"by": "mcp", "name": tool.name},
        "parameters": parameters,
        "output": {"parser": "json", "fields": fields} if fields else {},
    }
    entries.add(tool.name, tool.description, entry, infer_effect(tool.name, looks=tool.looks))
