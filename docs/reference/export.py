"""Writes the pages here that tell what the code says; `--check` names those that differ."""

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from typer.core import TyperGroup
from typer.main import get_command

from services.cli import app as cli
from services.contracts.clarification import ClarificationState
from services.contracts.gateway import ProgressEvent
from services.contracts.ticket import Fit, Ticket, TicketStatus
from services.deployment.rooms import ROOMS
from services.ingestion.converters import READERS
from services.integrations.sources.delivery_reader import DeliveryReader
from services.integrations.sources.settings import WebhookSettings
from services.kit.access.scopes import SCOPES_OF_ROLE, Role, Scope
from services.kit.settings import PlatformSettings
from services.scorer.criteria import CRITERIA
from services.tickets.settings import GatewaySettings
from services.web.mcp.server import TOOLS
from services.workflow.lint import CHECKS

FOLDER = Path(__file__).parent
OPENAPI = FOLDER.parents[1] / "proto" / "openapi"
HEAD = "<!-- Printed by `make docs`; do not edit. -->\n"
COMMANDS = (
    "`flowxpert` and its commands; each tells this itself with `--help`. Failures end with status "
    "1 and one line on stderr, or one JSON object with `--json`; wrong usage, and input such as a "
    "file that cannot be used, ends with 2."
)
ADDRESSES = (
    "Of each service, with the scope that a caller needs; `signed` stands for `operate`, or a "
    "delivery that its source has signed, `platform` for the platform's own services. The gateway "
    "answers for ingestion too. Requests, answers and refusals of each are in `proto/openapi/`; "
    "the gateway's own description is at `/openapi.json`. By example: [api.md](api.md)."
)
DECISIONS = "One page each: context, the sentence that holds, consequences, alternatives."


def commands() -> str:
    """Every command with its arguments and options."""
    parts = [
        "# Commands",
        COMMANDS,
    ]
    command = get_command(cli)
    parts += _of_command(command, typer.Context(command, info_name="flowxpert"))
    return "\n\n".join(parts)


def _of_command(command: Any, context: typer.Context) -> Iterator[str]:  # noqa: ANN401 - of typer's own click
    if isinstance(command, TyperGroup):
        for name in sorted(command.commands):
            inner = command.commands[name]
            yield from _of_command(inner, typer.Context(inner, parent=context, info_name=name))
        return
    yield f"## {context.command_path}"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```"
    yield inspect.cleandoc(command.help or "")
    records = [record for p in command.params if (record := p.get_help_record(context))]
    here = f"{FOLDER.parents[1]}/"  # a default may be a folder of the checkout
    shown = [
        (name, _line(description).replace(here, ""))
        for name, description in records
        if name != "--help"
    ]
    if shown:
        yield _table(
            ("option", ""),
            [(f"`{_cell(name)}`", _cell(description)) for name, description in shown],
        )


def addresses() -> str:
    """Every address of every service, the scope that it needs, and what it does."""
    parts = [
        "# Addresses",
        ADDRESSES,
    ]
    settings = PlatformSettings(host="127.0.0.1")
    for room in ROOMS:
        declared = room.describe(settings).state.needs.declared
        described = json.loads((OPENAPI / f"{room.name}.json").read_text("utf-8"))["paths"]
        rows = [
            (f"`{method.upper()} {path}`", _need(declared, method, path), _cell(_first(operation)))
            for path, methods in described.items()
            for method, operation in methods.items()
            if _need(declared, method, path)
        ]
        parts += [f"## {room.name}", _table(("address", "scope", ""), rows)]
    return "\n\n".join(parts)


def _need(declared: Mapping[str, str], method: str, path: str) -> str:
    """Of an address of this service; empty for one that it answers for another."""
    names = {name.replace(":path}", "}"): need for name, need in declared.items()}
    return str(names.get(f"{method.upper()} {path}", ""))


def _first(operation: Mapping[str, Any]) -> str:
    return str(operation["description"]).partition("\n\n")[0]


def names() -> str:
    """The words of the platform that others meet: states, events, checks, criteria, tools."""
    reader = DeliveryReader(GatewaySettings(), WebhookSettings())
    sections = {
        "States of a ticket": _members(TicketStatus),
        "How surely a workflow fits": _members(Fit),
        "States of a question": _members(ClarificationState),
        "Events of a ticket": [_attributes(ProgressEvent)["kind"]],
        "What may be missing": [_attributes(Ticket)["degraded"]],
        "Criteria of a score": _functions(CRITERIA.values()),
        "Checks of a workflow": _functions(CHECKS),
        "Scopes": _members(Scope),
        "Roles": [f"- `{role}`: {_scopes(role)}" for role in Role],
        "Tools for models": [
            f"- `{tool.name}` ({tool.scope}): {tool.description}" for tool in TOOLS
        ],
        "Ticket systems": [f"- `{source.name}`" for source in reader.sources],
        "Forms of documents": [f"- `{r.name}`: {', '.join(r.suffixes)}" for r in READERS],
    }
    chapters = [f"## {title}\n\n" + "\n".join(lines) for title, lines in sections.items()]
    return "\n\n".join(["# Names", "Words of the platform that others meet.", *chapters])


def _scopes(role: Role) -> str:
    return ", ".join(scope for scope in Scope if scope in SCOPES_OF_ROLE[role])


def _members(enum: type[StrEnum]) -> list[str]:
    descriptions = _attributes(enum)
    return [f"- `{member}`" + _suffix(descriptions.get(member.name, "")) for member in enum]


def _functions(functions: Iterable[Callable[..., object]]) -> list[str]:
    return [f"- `{f.__name__}`" + _suffix(_line(inspect.getdoc(f) or "")) for f in functions]


def _suffix(text: str) -> str:
    return f": {text}" if text else ""


def _attributes(cls: type[BaseModel] | type[StrEnum]) -> dict[str, str]:
    """The docstring under each attribute, on one line."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(node, ast.ClassDef)  # noqa: S101 - what a class's source is
    pairs = zip(node.body, node.body[1:], strict=False)
    return {_name(first): _line(text) for first, then in pairs if (text := _docstring(then))}


def _name(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""


def _docstring(statement: ast.stmt) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return ""


def _line(text: str) -> str:
    """The first paragraph on one line."""
    return " ".join(text.partition("\n\n")[0].split())


def _cell(text: str) -> str:
    return _line(text).replace("|", r"\|")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = list(head)
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def decisions() -> str:
    """All decisions by number."""
    pages = sorted((FOLDER.parent / "decisions").glob("0*.md"))
    lines = [f"- [{_title(page)}]({page.name})" for page in pages]
    return "\n\n".join(["# Decisions", DECISIONS, "\n".join(lines)])


def _title(page: Path) -> str:
    return page.read_text("utf-8").partition("\n")[0].removeprefix("# ")


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "addresses.md": addresses,
    "names.md": names,
    "../decisions/README.md": decisions,
}


def main() -> None:
    """Write the pages, or compare them."""
    stale = []
    for name, write in PAGES.items():
        path, text = FOLDER / name, f"{HEAD}\n{write()}\n"
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.exit(f"docs/reference differs from the code in {', '.join(stale)}: run `make docs`")


if __name__ == "__main__":
    main()
