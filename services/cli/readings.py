"""`flowxpert readings`: procedures read from the pages, and people's decisions on them.

The commands talk to the platform that `--url` or FLOWXPERT_URL names, or that runs on the data
folder; where none does, they open the folder themselves.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from services.cli.platform_access import (
    AsJson,
    DataDir,
    Platform,
    open_database,
    open_local_or_remote,
    open_platform,
    print_json,
)
from services.kit.files import (
    parse_json,
    read_json,
    read_text,
    require_file,
    require_new_file,
    stream_lines,
    write_whole,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

    from services.contracts.coverage import PageUses
    from services.contracts.readings import ReadingDetail, ReadingQuery, Readings
    from services.contracts.suggestions import SuggestedEdits
    from services.kit.http.client import ServiceClient
    from services.kit.settings import PlatformSettings
    from services.runbook.editing.operations import Operation
    from services.runbook.model import Reading

app = typer.Typer(no_args_is_help=True)

PageName = Annotated[
    str,
    typer.Argument(help="A document's id or its end, or the hash of its text or its beginning."),
]
StateFilter = Annotated[str | None, typer.Option(help="`read` or `approved`.")]
PageStateFilter = Annotated[
    str | None, typer.Option(help="`changed`, `unread`, `read`, `checklist` or `approved`.")
]
Owner = Annotated[str, typer.Option(help="Only the pages of this team.")]
ReaderFilter = Annotated[
    str | None, typer.Option(help="`composed`, `imported`, `model` or `person`.")
]
Doubts = Annotated[bool | None, typer.Option(help="Only those with doubts, or without.")]
Document = Annotated[str, typer.Option(help="Only that of this document.")]

_AT_ONCE = 1000
DAYS = 90
"""Days for which tickets count."""

MessageT = TypeVar("MessageT", bound="BaseModel")


@app.command("list")
def list_readings(
    *,
    state: PageStateFilter = None,
    reader: ReaderFilter = None,
    doubts: Doubts = None,
    document: Document = "",
    owner: Owner = "",
    limit: Annotated[int, typer.Option(min=1, help="Most to list.")] = 100,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """List pages to check: those first whose check brings most, by the tickets of 90 days.

    With `--owner`, the reviews that the team was asked for come before.
    """
    from services.cli.reading_view import show_page_uses, show_waiting  # noqa: PLC0415
    from services.contracts.readings import APPROVED_STATES, WaitingQuery  # noqa: PLC0415

    chosen = {"state": state, "reader": reader, "doubts": doubts, "owner": owner}
    query = _checked(WaitingQuery, **chosen, documents=(document,) if document else ())
    with _readings_and_uses(data_dir, url) as (readings, uses):
        whole = readings.summary(document).documents if document else ()
        query = query.model_copy(update={"uses": uses.pages, "documents": whole})
        pages: list[Any] = []
        while len(pages) < limit:
            at_once = min(limit - len(pages), _AT_ONCE)
            part = {"start": len(pages), "limit": at_once}
            some = readings.waiting(query.model_copy(update=part)).readings
            pages += some
            if len(some) < at_once:
                break
        checked = sum(
            readings.waiting(WaitingQuery(documents=uses.leading, state=each, limit=1)).total
            for each in (APPROVED_STATES if uses.leading else ())
        )
    if as_json:
        typer.echo(json.dumps([each.model_dump(mode="json") for each in pages], indent=2))
    else:
        show_page_uses(uses, checked)
        show_waiting(pages)


@app.command("ask")
def ask_for_review(
    document: Annotated[str, typer.Argument(help="A document's id or its end.")],
    *,
    due: Annotated[
        datetime | None,
        typer.Option("--by", formats=["%Y-%m-%d"], help="Last day for it, in UTC."),
    ] = None,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take the request back.")] = False,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Ask the owner of a page to check it by a day; approving the page ends it."""
    from services.cli.reading_view import show_reviews  # noqa: PLC0415
    from services.contracts.readings import ReviewRequest  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    if (due is None) is not withdraw:
        raise InvalidInputError("expected either --by with a day, or --withdraw")
    request = _checked(ReviewRequest, document_id=document, due=due.date() if due else None)
    with _readings(data_dir, url) as readings:
        open_reviews = readings.request_review(request)
    show_reviews(open_reviews, as_json=as_json)


@app.command()
def reviews(
    *, owner: Owner = "", data_dir: DataDir = None, url: Platform = None, as_json: AsJson = False
) -> None:
    """List the reviews that owners were asked for and have not done, the first due first."""
    from services.cli.reading_view import show_reviews  # noqa: PLC0415

    with _readings(data_dir, url) as readings:
        open_reviews = readings.reviews(owner=owner)
    show_reviews(open_reviews, as_json=as_json)


@app.command()
def show(
    page: PageName, *, data_dir: DataDir = None, url: Platform = None, as_json: AsJson = False
) -> None:
    """Show a page's procedures as they are drawn, beside its lines."""
    with _readings(data_dir, url) as readings:
        _print_reading(readings.get(readings.summary(page).text_hash), as_json=as_json)


@app.command()
def history(
    page: PageName, *, data_dir: DataDir = None, url: Platform = None, as_json: AsJson = False
) -> None:
    """Show what happened to a page's readings, the latest first."""
    from services.cli.reading_view import show_history  # noqa: PLC0415

    with _readings(data_dir, url) as readings:
        events = readings.history(readings.summary(page).text_hash)
    if as_json:
        typer.echo(json.dumps([event.model_dump(mode="json") for event in events], indent=2))
    else:
        show_history(events)


@app.command()
def export(
    path: Annotated[
        Path | None, typer.Argument(help="The file to write; stdout.", callback=require_new_file)
    ] = None,
    *,
    state: StateFilter = None,
    reader: ReaderFilter = None,
    doubts: Doubts = None,
    document: Document = "",
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Write readings as JSON lines, which another platform can import."""
    from services.contracts.readings import ReadingQuery  # noqa: PLC0415

    chosen = {"state": state, "reader": reader, "doubts": doubts, "document": document}
    query = _checked(ReadingQuery, **chosen)
    count = 0
    with _readings(data_dir, url) as readings:
        query = _with_whole_id(query, readings)
        with write_whole(path) if path else nullcontext(sys.stdout) as file:
            for line in readings.export(query):
                file.write(f"{line}\n")
                count += 1
    if path:
        typer.echo(json.dumps({"readings": count}) if as_json else f"{count} readings")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="JSON lines of an export.", callback=require_file)],
    *,
    approve: Annotated[bool, typer.Option("--approve", help="Vouch for all of them.")] = False,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Import readings that were made elsewhere: as read, unless you approve them.

    The exit status is 1 when a line was refused; the others are imported.
    """
    from services.cli.reading_view import show_import  # noqa: PLC0415

    with _readings(data_dir, url) as readings, closing(stream_lines(path)) as lines:
        report = readings.import_lines(lines, approve=approve)
    if as_json:
        print_json(report)
    else:
        show_import(report)
    if report.refused:
        raise typer.Exit(1)


@app.command()
def approve(
    page: PageName,
    procedure: Annotated[
        int | None, typer.Argument(help="Its number in `show`; all without it.")
    ] = None,
    *,
    offered: Annotated[
        bool, typer.Option("--offered", help="What a later reading says in its place.")
    ] = False,
    kind: Annotated[
        Literal["checklist", "workflow"] | None,
        typer.Option(
            "--as",
            help="`checklist`: its boxes are right; `workflow`: its decisions too. Without it, "
            "`workflow`, or `checklist` for one begun from boxes.",
        ),
    ] = None,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Approve a procedure: no later reading takes its place."""
    from services.contracts.readings import ApprovalRequest  # noqa: PLC0415
    from services.runbook.ports import ApprovalKind  # noqa: PLC0415

    with _readings(data_dir, url) as readings:
        text_hash = readings.summary(page).text_hash
        detail = readings.get(text_hash)
        places = range(detail.procedures) if procedure is None else [procedure]
        for place in places:
            request = ApprovalRequest(
                procedure=place,
                offered=offered,
                kind=ApprovalKind(kind) if kind else None,
                revision=detail.revision,
            )
            detail = readings.approve(text_hash, request)
        _print_reading(detail, as_json=as_json)


@app.command()
def answer(
    page: PageName,
    question: Annotated[str, typer.Argument(help="The id of the question or doubt in `show`.")],
    answer: Annotated[str, typer.Argument(help="`yes` or `no`; for a doubt its number in `show`.")],
    *,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question about a page, which changes it where it is wrong, or settle a doubt."""
    from services.contracts.readings import AnswerRequest, BlockEditRequest  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415
    from services.kit.sql.short_ids import match_short_id  # noqa: PLC0415

    with _readings(data_dir, url) as readings:
        text_hash = readings.summary(page).text_hash
        detail = readings.get(text_hash)
        by_id = {each.id: each for each in detail.questions}
        of_page = by_id.get(match_short_id(by_id, question) or "")
        if answer.isdecimal() and of_page is None:
            request = AnswerRequest(doubt=question, answer=int(answer))
            detail = readings.answer(text_hash, request)
        elif answer not in {"yes", "no"}:
            raise InvalidInputError(f"expected yes, no or the number of an answer, got {answer!r}")
        elif of_page is None or (edit := of_page.yes if answer == "yes" else of_page.no) is None:
            detail = readings.answer_question(text_hash, question)
        else:
            place = of_page.procedure if detail.procedures else None
            change = BlockEditRequest(procedure=place, edit=edit, revision=detail.revision)
            detail = readings.edit_block(text_hash, change)
        _print_reading(detail, as_json=as_json)


@app.command()
def replace(
    page: PageName,
    path: Annotated[
        Path,
        typer.Argument(help="A reading as JSON, as `show --json` has it.", callback=require_file),
    ],
    *,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Replace the served reading of a page by your own."""
    reading = _read_reading(path)
    with _readings(data_dir, url) as readings:
        _print_reading(readings.replace(readings.summary(page).text_hash, reading), as_json=as_json)


@app.command()
def edit(
    page: PageName,
    operations: Annotated[
        Path, typer.Option("--operations", help="Operations as JSON; `-` reads them from stdin.")
    ],
    procedure: Annotated[int, typer.Option(min=0, help="Its number in `show`.")] = 0,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would change.")
    ] = False,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Correct a procedure by operations on its steps, and show what that changes.

    `docs/reference/procedures.md` says what operations there are; `show --json` has the ids.
    """
    from services.cli.reading_view import show_preview  # noqa: PLC0415
    from services.contracts.readings import EditRequest  # noqa: PLC0415

    parsed = _read_operations(operations)
    with _readings(data_dir, url) as readings:
        text_hash = readings.summary(page).text_hash
        request = EditRequest(procedure=procedure, operations=parsed)
        preview = readings.preview(text_hash, request)
        if not dry_run:
            seen = request.model_copy(update={"revision": preview.revision})
            readings.edit(text_hash, seen)
    if as_json:
        print_json(preview)
    else:
        show_preview(preview, is_stored=not dry_run)


@app.command("edit-block")
def edit_block(
    page: PageName,
    change: Annotated[
        str, typer.Argument(help='A change as JSON: `{"edit": "box", "block": "…", …}`.')
    ],
    procedure: Annotated[
        int | None, typer.Option(min=0, help="Its number in `show`; that at the block.")
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would change.")
    ] = False,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Change a page at one of its blocks, and show what that changes.

    `docs/reference/procedures.md` says what changes there are. On a page that nobody has read all
    but boxes begins its reading.
    """
    from pydantic import ValidationError  # noqa: PLC0415

    from services.cli.reading_view import show_preview  # noqa: PLC0415
    from services.contracts.readings import BlockEditRequest  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415
    from services.runbook.editing.block_edits import BLOCK_EDIT  # noqa: PLC0415

    try:
        request = BlockEditRequest(edit=BLOCK_EDIT.validate_json(change), procedure=procedure)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise InvalidInputError(f"expected a change as JSON: {problem['msg']}") from error
    with _readings(data_dir, url) as readings:
        text_hash = readings.summary(page).text_hash
        preview = readings.preview_block(text_hash, request)
        if not dry_run:
            readings.edit_block(
                text_hash, request.model_copy(update={"revision": preview.revision})
            )
    if as_json:
        print_json(preview)
    else:
        show_preview(preview, is_stored=not dry_run)


@app.command()
def begin(
    page: PageName, *, data_dir: DataDir = None, url: Platform = None, as_json: AsJson = False
) -> None:
    """Begin the reading of a page that nobody has read from its boxes, one step each.

    Until it is approved as a workflow no step of it changes anything.
    """
    with _readings(data_dir, url) as readings:
        _print_reading(readings.begin(readings.summary(page).text_hash), as_json=as_json)


@app.command()
def undo(
    page: PageName, *, data_dir: DataDir = None, url: Platform = None, as_json: AsJson = False
) -> None:
    """Undo the last import, answer, replacement or approval of a page."""
    with _readings(data_dir, url) as readings:
        _print_reading(readings.undo(readings.summary(page).text_hash), as_json=as_json)


SuggestionKey = Annotated[str, typer.Argument(help="The key, as `suggestions` prints it.")]


@app.command()
def suggestions(
    document: Annotated[str, typer.Argument(help="A document's id or its end.")],
    *,
    dismissed: Annotated[bool, typer.Option(help="Also those that were dismissed.")] = False,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """List what engineers' work on tickets suggests to change on a page."""
    from services.cli.reading_view import show_suggestions  # noqa: PLC0415

    with _suggested_edits(data_dir, url) as suggested:
        edits = suggested.of_document(document, dismissed=dismissed)
    if as_json:
        typer.echo(json.dumps([each.model_dump(mode="json") for each in edits], indent=2))
    else:
        show_suggestions(edits)


@app.command("take-over")
def take_over(
    document: Annotated[str, typer.Argument(help="A document's id or its end.")],
    key: SuggestionKey,
    *,
    dismiss: Annotated[bool, typer.Option("--dismiss", help="Dismiss it instead.")] = False,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Make a suggested edit of a page; `undo` takes it back."""
    from services.cli.reading_view import show_suggestions  # noqa: PLC0415
    from services.contracts.suggestions import SuggestionChoice  # noqa: PLC0415

    choice = SuggestionChoice(document_id=document, key=key)
    with _suggested_edits(data_dir, url) as suggested:
        chosen = suggested.dismiss(choice) if dismiss else suggested.take_over(choice)
    if as_json:
        print_json(chosen)
    else:
        show_suggestions([chosen])


def _suggested_edits(
    data_dir: Path | None, url: str | None
) -> AbstractContextManager["SuggestedEdits"]:
    from services.contracts.suggestions import SuggestedEditsClient  # noqa: PLC0415

    return open_local_or_remote(data_dir, url, _open_suggested_edits, SuggestedEditsClient)


@contextmanager
def _open_suggested_edits(settings: "PlatformSettings") -> Iterator["SuggestedEdits"]:
    from services.kit.access.caller import LOCAL  # noqa: PLC0415
    from services.tickets.suggestions.service import SuggestedEditService  # noqa: PLC0415

    with open_platform(settings) as platform:
        ingestion = platform.ingestion
        yield SuggestedEditService(
            platform.database, ingestion, lambda: ingestion.readings(LOCAL.name)
        )


def _readings(data_dir: Path | None, url: str | None) -> AbstractContextManager["Readings"]:
    from services.contracts.readings import ReadingsClient  # noqa: PLC0415
    from services.ingestion.offline import open_readings_here  # noqa: PLC0415
    from services.kit.access.caller import LOCAL  # noqa: PLC0415

    here = partial(open_readings_here, who=LOCAL.name)
    return open_local_or_remote(data_dir, url, here, ReadingsClient)


def _print_reading(detail: "ReadingDetail", *, as_json: bool) -> None:
    from services.cli.reading_view import show_reading  # noqa: PLC0415

    if as_json:
        print_json(detail)
    else:
        show_reading(detail)


@contextmanager
def _readings_and_uses(
    data_dir: Path | None, url: str | None
) -> Iterator[tuple["Readings", "PageUses"]]:
    """Yield the readings, and the part that pages had in recent tickets."""
    from services.contracts.coverage import CoverageClient  # noqa: PLC0415
    from services.contracts.readings import ReadingsClient  # noqa: PLC0415
    from services.ingestion.offline import open_readings_here  # noqa: PLC0415
    from services.kit.access.caller import LOCAL  # noqa: PLC0415
    from services.tickets.page_quality.page_uses import count_page_uses  # noqa: PLC0415

    @contextmanager
    def here(settings: "PlatformSettings") -> Iterator[tuple["Readings", "PageUses"]]:
        with (
            open_readings_here(settings, who=LOCAL.name) as readings,
            open_database(settings) as database,
        ):
            yield readings, count_page_uses(database, DAYS)

    def connect(client: "ServiceClient") -> tuple["Readings", "PageUses"]:
        return ReadingsClient(client), CoverageClient(client).page_uses(days=DAYS)

    with open_local_or_remote(data_dir, url, here, connect) as both:
        yield both


def _checked(message: type[MessageT], **options: Any) -> MessageT:  # noqa: ANN401 - options
    """Return the message of these options; an unusable one is named."""
    from pydantic import ValidationError  # noqa: PLC0415

    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    try:
        return message.model_validate(options)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise InvalidInputError(f"--{problem['loc'][0]}: {problem['msg']}") from error


def _with_whole_id(query: "ReadingQuery", readings: "Readings") -> "ReadingQuery":
    """Return the query with the id of the document whose end it names."""
    if not query.document:
        return query
    summary = readings.summary(query.document)
    return query.model_copy(update={"document": next(iter(summary.documents), query.document)})


def _read_operations(path: Path) -> "tuple[Operation, ...]":
    from services.runbook.editing.operations import parse_operations  # noqa: PLC0415

    text = sys.stdin.read() if str(path) == "-" else read_text(path)
    return parse_operations(parse_json(text, object, str(path)))


def _read_reading(path: Path) -> "Reading":
    """Read the reading in a file: alone, or as `show --json` prints it."""
    from pydantic import ValidationError  # noqa: PLC0415

    from services.kit.errors import InvalidInputError  # noqa: PLC0415
    from services.runbook.model import Reading  # noqa: PLC0415

    try:
        payload: Any = read_json(path)
        fields = payload.get("reading", payload) if isinstance(payload, dict) else payload
        return Reading.model_validate({"reader": "person", **fields})
    except (ValueError, TypeError) as error:
        first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
        raise InvalidInputError(f"expected a reading as JSON in {path}: {reason}") from error
