"""View of readings for people at the command line."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from services.cli.terminal import SHOWN_FAILURES, console, folding_table, steps_table
from services.contracts.coverage import PageUses
from services.contracts.readings import (
    EditPreview,
    ImportReport,
    PageReview,
    ReadingDetail,
    WaitingReading,
)
from services.contracts.suggestions import SuggestedEdit
from services.kit.text import clean_text, visible_text
from services.runbook.editing.consequences import Consequences
from services.runbook.lowering import lower
from services.runbook.model import LineRange, Procedure
from services.runbook.ports import ApprovalKind, Event
from services.runbook.program import extent_lines
from services.workflow.lint import Severity

if TYPE_CHECKING:
    from services.ingestion.readings.reading_pass import ReadEstimate, ReadReport

_SHORT_HASH = 12
_LINES_AROUND = 1


def show_page_uses(uses: PageUses, checked: int) -> None:
    """Show in a sentence how many confirmed pages answer most tickets."""
    if not uses.tickets:
        return
    pages = len(uses.leading)
    share = round(100 * uses.answered / uses.tickets)
    console.print(
        f"{pages} confirmed pages answer {share} of 100 of your tickets ({uses.answered} of "
        f"{uses.tickets} in {uses.days} days); {checked} of them are checked"
    )
    console.print(f"{uses.near} more tickets show or came near pages that nobody has confirmed")


def show_waiting(pages: Sequence[WaitingReading]) -> None:
    """Show the pages to check as a table, in their order."""
    columns = ("tickets", "near", "commands", "state", "reader", "doubts", "text hash", "document")
    table = folding_table(*columns)
    for each in pages:
        state = f"{each.approved}/{each.procedures} approved" if each.approved else "read"
        state += f", {each.checklists} as a checklist" if each.checklists else ""
        state = state if each.reader else "unread"
        state = f"{state}, changed since it was approved" if each.was_approved else state
        review = each.review
        table.add_row(
            str(each.use.answered or ""),
            str(each.use.near or ""),
            each.harm.value if each.harm else "",
            f"{state}, review by {review.due}" if review else state,
            each.reader.value if each.reader else "nobody",
            str(each.doubts or ""),
            each.text_hash[:_SHORT_HASH],
            Text(", ".join(each.documents)),
        )
    console.print(table)


def show_reviews(reviews: Sequence[PageReview], *, as_json: bool) -> None:
    """Show the open reviews as a table, or as JSON."""
    if as_json:
        typer.echo(json.dumps([each.model_dump(mode="json") for each in reviews], indent=2))
        return
    table = folding_table("due", "team", "asked by", "document", "page")
    for each in reviews:
        names = (each.team, each.by, each.document_id, each.path)
        table.add_row(str(each.due), *map(Text, names))
    console.print(table)


def show_reading(detail: ReadingDetail) -> None:
    """Show each procedure as it is drawn, beside the lines that it was read from."""
    name = next(iter(detail.documents), detail.text_hash)
    reader = detail.reader.value if detail.reader else "nobody"
    console.print(Text(f"{name}  {detail.text_hash}  read by {reader}", style="bold"))
    if detail.was_approved:
        console.print(Text("an earlier text of this page was approved: it has changed since"))
    if detail.reader is None:
        begin = f"`flowxpert readings begin {name}` begins one"
        console.print(Text(f"tickets show it as it is; {begin}"))
        for number, line in enumerate(detail.lines, start=1):
            console.print(Text(f"{number:>4} {clean_text(line)}"))
    elif not detail.reading.procedures:
        console.print("describes no procedure")
    for place, procedure in enumerate(detail.reading.procedures):
        _show_procedure(detail, place, procedure, name)
    for question in detail.questions:
        text = f"  ? {question.id}{_lines(question.lines)}: {question.text}"
        console.print(Text(clean_text(text), style="yellow"))
    for offer in detail.offers:
        console.print(
            Text(
                f"a later reading ({offer.reader.value}) says otherwise about {offer.procedure}: "
                f"`flowxpert readings approve {name} {offer.procedure} --offered` takes it",
                style="yellow",
            )
        )
    for remark in detail.remarks:
        console.print(Text(f"! {remark}", style="yellow"))


def show_suggestions(suggestions: Sequence[SuggestedEdit]) -> None:
    """Show suggested edits as a table, with who and on how many tickets."""
    table = folding_table("key", "kind", "tickets", "last by", "at", "text")
    for each in suggestions:
        kind = each.kind.value.replace("_", " ")
        table.add_row(
            each.key,
            f"{kind}, dismissed by {each.dismissed_by}" if each.dismissed_at else kind,
            str(each.tickets),
            Text(visible_text(each.sources[0].by)),
            Text(visible_text(each.words)),
            Text(visible_text(each.text)),
        )
    console.print(table)


def show_preview(preview: EditPreview, *, is_stored: bool) -> None:
    """Show what an edit changes, and its consequences, with warnings in colour."""
    for effect in preview.difference.effects:
        console.print(Text(f"* {effect}", style="bold"))
    for step in preview.difference.steps:
        words = f": {'; '.join(step.words)}" if step.words else ""
        line = f"  {step.kind.value:8} {step.node}  {step.text}{words}{_lines(step.lines)}"
        console.print(Text(line))
    for guard in preview.difference.guards:
        was = f"{guard.was or 'no condition'} -> {guard.now or 'no condition'}"
        console.print(Text(f"  condition {guard.node}  {was}{_lines(guard.lines)}"))
    _show_consequences(preview.consequences)
    for remark in preview.remarks:
        console.print(Text(f"! {remark}", style="yellow"))
    if preview.voids_approval:
        change = "is no longer" if is_stored else "would no longer be"
        console.print(Text(f"! the procedure was approved and {change}", style="yellow"))
    console.print("stored" if is_stored else "nothing is stored")


def _show_consequences(coming: Consequences) -> None:
    for each in coming.dropped:
        console.print(
            Text(f"! no longer only if {each.question} {each.answer}:", style="bold red"), end=" "
        )
        steps = (f"{step.text}{' (now always)' if step.is_always else ''}" for step in each.steps)
        console.print(Text("; ".join(steps), style="red"))
    for each in coming.gained:
        steps = (step.text for step in each.steps)
        console.print(Text(f"  now only if {each.question} {each.answer}: {'; '.join(steps)}"))
    for step in coming.unreachable:
        console.print(Text(f"! no path leads to {step.text}{_lines(step.lines)}", style="red"))
    for finding in coming.findings:
        if finding.is_new:
            style = "red" if finding.severity is Severity.ERROR else "yellow"
            line = f"! {finding.severity}: {finding.text}{_lines(finding.lines)}"
            console.print(Text(line, style=style))
    for finding in coming.mended:
        console.print(Text(f"  mended: {finding.text}", style="green"))
    if coming.paths_before != coming.paths_after:
        console.print(f"  paths: {_count(coming.paths_before)} -> {_count(coming.paths_after)}")


def _lines(lines: Sequence[LineRange]) -> str:
    ranges = ", ".join(f"{first}-{last}" if first < last else str(first) for first, last in lines)
    return f" (lines {ranges})" if ranges else ""


def _count(paths: int | None) -> str:
    return "very many" if paths is None else str(paths)


def show_history(events: Sequence[Event]) -> None:
    """Show what happened, the latest first."""
    table = folding_table("at", "what", "who", "")
    for event in events:
        what = f"{event.what.value} (undone)" if event.is_undone else event.what.value
        table.add_row(f"{event.at:%Y-%m-%d %H:%M:%S}", what, Text(event.who), Text(event.detail))
    console.print(table)


def show_import(report: ImportReport) -> None:
    """Show the counts of an import, with its first notes."""
    console.print(
        f"{report.taken} of {report.rows} taken ({report.without_procedure} without a procedure), "
        f"{report.approved} procedures approved, {len(report.refused)} refused"
    )
    for notes, style in ((report.refused, "red"), (report.marked, "yellow")):
        for note in notes[:SHOWN_FAILURES]:
            console.print(Text(f"  {note.row} {note.document}: {note.reason}", style=style))
        if len(notes) > SHOWN_FAILURES:
            console.print(Text(f"  … and {len(notes) - SHOWN_FAILURES} more", style=style))


def read_estimate_line(expected: "ReadEstimate") -> str:
    """Return a line with the estimated cost of reading with the model."""
    if not expected.pages:
        return f"nothing to read: {expected.read} pages are read already"
    failed = f"{len(expected.failed)} of them failed before, " if expected.failed else ""
    cost = f", {expected.cost:.2f} at most" if expected.cost else ""
    return (
        f"{expected.pages} pages ({failed}{expected.read} more are read already): about "
        f"{expected.tokens} tokens{cost}"
    )


def show_read(report: "ReadReport") -> None:
    """Show what the model read, and what it failed at."""
    cost = f", {report.cost:.2f}" if report.cost else ""
    console.print(
        f"{report.read} read ({report.without_procedure} without a procedure, {report.doubts} "
        f"doubts), {report.unchanged} read before, {report.left} left, {len(report.failed)} of "
        f"them failed; {report.tokens_in} tokens in, {report.tokens_out} out{cost}"
    )
    for failed in report.failed[:SHOWN_FAILURES]:
        console.print(Text(f"  {failed.document_id}: {failed.reason}", style="red"))


def _show_procedure(
    detail: ReadingDetail, place: int, procedure: Procedure, document_id: str
) -> None:
    state = detail.states[place]
    by = f"{state.by}, {state.at:%Y-%m-%d %H:%M}" if state.at else ""
    part = " as a checklist" if state.kind is ApprovalKind.CHECKLIST else ""
    status = f"{place}  {state.state.value}{part}" + (f" by {by}" if by else "")
    console.print()
    console.rule(Text(f"{status}  {procedure.title}"), align="left")
    doubts = [each for each in detail.reading.doubts if each.procedure == place]
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1, overflow="fold")
    drawn = steps_table(lower(procedure, document_id, {d.node: d.question for d in doubts}))
    cited = extent_lines(procedure)
    first = max(1, min(cited, default=1) - _LINES_AROUND)
    last = min(len(detail.lines), max(cited, default=0) + _LINES_AROUND)
    page = (f"{n:4} {clean_text(detail.lines[n - 1])}" for n in range(first, last + 1))
    grid.add_row(drawn, Group(*(Text(line, style="dim") for line in page)))
    console.print(grid)
    for doubt in doubts:
        where = ", ".join(f"{first}-{last}" for first, last in doubt.lines)
        answers = "".join(f"\n    {at}  {answer.text}" for at, answer in enumerate(doubt.answers))
        text = f"  ? {doubt.id} (lines {where}): {doubt.question}{answers}"
        console.print(Text(text, style="yellow"))
