"""Output of the command line for people: workflows, tickets and progress."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from services.contracts.dead_letters import DeadLetters
from services.contracts.gateway import StoredWorkflow, TicketDetail, TicketSummary
from services.contracts.ingestion import FailedDocument, IngestedRoot, IngestJob
from services.contracts.scorer import Score
from services.contracts.triage import TriageDecision
from services.contracts.verdict import PAGE_AS_IT_IS, Verdict
from services.kit.text import visible_text
from services.runbook.checklist.sections import open_share
from services.runbook.checklist.shown import AS_IT_IS, closed_sections, page_of
from services.runbook.checklist.text import LineRole, page_lines
from services.workflow.effects.effect import EffectLevel, effect_of
from services.workflow.formats.origin import describe_reading
from services.workflow.model import Step, StepKind, Workflow

if TYPE_CHECKING:
    from services.ingestion.graph_build.build_pass import BuildReport
    from services.ingestion.graph_build.estimate import Estimate
    from services.ingestion.model_pass import PassReport
    from services.integrations.sources.dry_run import TrialResult
    from services.kit.access.keys import KeyInfo
    from services.kit.access.sessions.sessions import SessionInfo

_MARK = {StepKind.PROCESS: "▸", StepKind.DECISION: "◆", StepKind.TERMINAL: "■"}
_STYLE = {StepKind.PROCESS: "cyan", StepKind.DECISION: "yellow", StepKind.TERMINAL: "green"}

SHOWN_FAILURES = 20
"""Most failures listed one by one: what a screen holds beside the rest."""

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

_ID_HEADINGS = frozenset({"id", "text hash", "begins with"})

_EFFECT_STYLE = {EffectLevel.CHANGES: "yellow", EffectLevel.DESTROYS: "bold red"}


_LINE_STYLE = {
    LineRole.HEADING: "bold",
    LineRole.CALLOUT: "yellow",
    LineRole.EFFECT: "yellow",
    LineRole.COMMAND: "magenta",
    LineRole.OUTPUT: "dim",
}


def show_workflow(stored: StoredWorkflow, *, whole: bool = False) -> None:
    """Show the workflow with its steps, branches, commands, sources, scores and findings.

    Of a checklist its page with boxes; `whole` leaves no section of it closed.
    """
    workflow = stored.workflow
    console.print()
    console.rule(Text(workflow.title, style="bold"))
    if stored.verdict is Verdict.CLOSEST:
        lines = [Text(f"- {objection}") for objection in stored.against]
        title = Text(stored.verdict_words)
        console.print(Panel(Group(*lines), title=title, border_style="yellow"))
    elif stored.verdict_words != PAGE_AS_IT_IS:
        style = "green" if stored.verdict is Verdict.CHECKED else ""
        console.print(Text(stored.verdict_words, style=style), justify="center")
    if workflow.page is not None:
        _show_page(workflow, stored.score, whole=whole)
    else:
        console.print(steps_table(workflow))
        console.print(Text(f"How it was judged ({describe_reading(workflow)})", style="dim"))
        console.print(_scores(stored.score))
    for finding in stored.findings:
        console.print(Text(f"  ! {finding}", style="yellow"))


def _show_page(workflow: Workflow, score: Score, *, whole: bool) -> None:
    """Show a page with its boxes, its relevance, and the share of it that stands open."""
    console.print(Text(AS_IT_IS, style="bold"), justify="center")
    console.print()
    for line in page_lines(workflow, whole=whole):
        console.print(Text(visible_text(str(line)), style=_LINE_STYLE.get(line.role, "")))
    near = f"Relevance {score.relevance.value:.1f} of 5: {score.relevance.reason}"
    page = page_of(workflow)
    share = 1.0 if whole else open_share(page, closed_sections(workflow, page))
    console.print(Text(visible_text(near), style="dim"))
    console.print(Text(f"{share:.0%} of the page's lines stand open", style="dim"))


def folding_table(*headings: str) -> Table:
    """Return an empty table whose cells show long words on several lines, but for ids.

    These stay on one line, to be copied.
    """
    columns = (Column(each, overflow="fold", no_wrap=each in _ID_HEADINGS) for each in headings)
    return Table(*columns, box=None)


def short_id(id_: str) -> str:
    """Return a UUID of version 7 without its last group; 26 random bits stay beside the time."""
    return id_.rpartition("-")[0] or id_


def show_refusal(ticket: TicketDetail) -> None:
    """Show why there is no workflow, and the closest documents."""
    near = [Text(f"  {place.document_id}:{place.start_line}") for place in ticket.nearest]
    body = Group(Text(ticket.reason), *near)
    console.print(
        Panel(
            body,
            title=Text(f"{ticket.verdict_words or ticket.status.value}: {ticket.title}"),
            border_style="yellow",
        )
    )


def show_line(line: str) -> None:
    """Print a line written by others, made harmless for the terminal."""
    console.print(Text(visible_text(line)))


def show_triage(decision: TriageDecision) -> None:
    """Show the team a ticket goes to, why, and the note for it."""
    teams = [
        Text(f"{each.chance:6.0%}  {each.team}  {'; '.join(each.why)}")
        for each in decision.candidates
    ]
    note = decision.note
    notes = [Text(f"asked: {note.asked}")]
    notes += [Text(f"found: {each}") for each in note.found]
    notes += [Text(f"tried: {each}") for each in note.tried]
    title = f"for the team {decision.team}" if decision.team else "no team found: choose"
    console.print(Panel(Group(*teams, *notes), title=Text(f"{title} (by the {decision.by})")))


def show_questions(ticket: TicketDetail) -> None:
    """Show the questions about a ticket with their answers, and the open one's choices."""
    for turn in ticket.clarifications:
        answer = turn.answer or ("" if turn is ticket.open_question else turn.state.value)
        console.print(Text.assemble((f"? {turn.question}  ", "yellow"), (answer, "bold")))
    question = ticket.open_question or ticket.page_question
    if question is None:
        return
    for number, choice in enumerate(question.choices, start=1):
        console.print(Text(f"  {number}. {choice}"))
        for card in question.cards[number - 1 : number]:
            lines = f"{card.document_id}:{card.start_line}-{card.end_line}"
            refused = f"refused by {', '.join(card.refused_by)}" if card.refused_by else ""
            parts = filter(None, (lines, " › ".join(card.section), refused))
            console.print(Text(f"     {visible_text('  '.join(parts))}", style="dim"))
    how = f"flowxpert answer {ticket.id} TEXT|N, or --unknown, or --go-on"
    console.print(Text(f"  {how}", style="dim"))


def show_tickets(tickets: tuple[TicketSummary, ...]) -> None:
    """Show tickets as a table, newest first."""
    table = folding_table("received", "status", "verdict", "title", "id")
    for ticket in tickets:
        received = f"{ticket.created_at:%Y-%m-%d %H:%M:%S}"
        status = ticket.status.value + (f" ×{ticket.alerts}" if ticket.alerts > 1 else "")
        table.add_row(
            received, status, ticket.verdict_words, Text(ticket.title), short_id(ticket.id)
        )
    console.print(table)


def show_dead_letters(dead_letters: DeadLetters) -> None:
    """Show each dead letter's key on a line of its own above the reason, and their number."""
    for letter in dead_letters.letters:
        since = f"{letter.since:%Y-%m-%d %H:%M:%S}"
        console.print(Text(f"{since}  attempts: {letter.attempts}  {letter.key}"), soft_wrap=True)
        console.print(Text(visible_text(f"  {letter.reason}")))
    console.print(f"{dead_letters.total} in all")


def show_keys(keys: Sequence["KeyInfo"]) -> None:
    """Show keys as a table."""
    titles = ("name", "state", "scopes", "held by", "begins with", "made", "ends", "last used")
    table = folding_table(*titles)
    for key in keys:
        times = [key.created_at, key.expires_at, key.last_used_at]
        shown = [f"{each:%Y-%m-%d %H:%M}" if each else "" for each in times]
        scopes = ", ".join(key.scopes)
        table.add_row(key.name, key.state, scopes, Text(key.owner), f"fx_{key.prefix}", *shown)
    console.print(table)


def show_sessions(sessions: Sequence["SessionInfo"]) -> None:
    """Show sessions as a table."""
    table = folding_table("who", "known by", "signed in", "last used", "ends")
    for each in sessions:
        times = [each.begun_at, each.used_at, each.expires_at]
        table.add_row(Text(each.name), each.kind, *(f"{at:%Y-%m-%d %H:%M}" for at in times))
    console.print(table)


def show_audit(lines: Sequence[Mapping[str, Any]]) -> None:
    """Show lines of the audit log as a table."""
    table = folding_table("at", "who", "action", "subject", "before", "after", "request")
    for line in lines:
        sides = [
            Text(", ".join(f"{name}: {each}" for name, each in side.items() if each is not None))
            for side in (line["before"] or {}, line["after"] or {})
        ]
        subject, who = Text(line["subject"]), Text(line["who"])
        at = f"{line['at']:%Y-%m-%d %H:%M:%S}"
        table.add_row(at, who, line["action"], subject, *sides, line["request_id"])
    console.print(table)


def show_job(job: IngestJob) -> None:
    """Show the counts of an ingestion, with the reasons of its first failures."""
    counts = [
        f"{number} {what}"
        for what, number in (
            ("added", job.added),
            ("changed", job.changed),
            ("unchanged", job.unchanged),
            ("deleted", job.deleted),
            ("approved procedures deleted with them", job.approved_deleted),
            ("failed", job.failures),
        )
        if number
    ]
    console.print(f"{job.status.value}: {', '.join(counts) or 'nothing to do'}  {job.reason}")
    show_failures(job.failed, job.failures, console)


def show_failures(failed: Sequence[FailedDocument], count: int, to: Console = errors) -> None:
    """Show which documents a pass failed at, and why; of many, the first."""
    for each in failed[:SHOWN_FAILURES]:
        to.print(Text(visible_text(f"  {each.document_id}: {each.reason}"), style="red"))
    if count > SHOWN_FAILURES:
        to.print(Text(f"  … and {count - SHOWN_FAILURES} more", style="red"))


def show_roots(roots: Sequence[IngestedRoot]) -> None:
    """Show roots as a table, with their faults."""
    table = Table(box=None)
    table.add_column("documents", justify="right")
    table.add_column("root", overflow="fold")
    table.add_column("")
    for root in roots:
        outdated = [f"{root.outdated} read by older rules"] if root.outdated else []
        gone = [] if root.is_there else ["not found here"]
        table.add_row(str(root.documents), Text(root.path), ", ".join([*gone, *outdated]))
    console.print(table)


@contextmanager
def ingest_progress(title: str) -> Iterator[Callable[[IngestJob], None]]:
    """Show a progress bar on stderr; calling what it yields with the job moves it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[chunks]} chunks"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=errors) as progress:
        task = progress.add_task(title, total=None, chunks=0, left="")

        def move(job: IngestJob) -> None:
            seconds, left = job.seconds_left, ""
            if seconds is not None:
                left = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
            progress.update(
                task,
                total=job.total or None,
                completed=job.handled,
                chunks=job.chunks_embedded,
                left=left and f"{left} left",
            )

        yield move


@contextmanager
def count_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr; calling what it yields with done and total moves it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=errors) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def estimate_line(expected: "Estimate") -> str:
    """Return a line with the estimated cost of building the graph."""
    if not expected.documents:
        return f"nothing to build: {expected.built} documents are built already"
    time = f", {expected.seconds / 60:.0f} minutes one by one" if expected.seconds else ""
    failed = f"{len(expected.failed)} of them failed before, " if expected.failed else ""
    return (
        f"{expected.documents} documents ({failed}{expected.built} more are built already), "
        f"{expected.chunks} chunks: about {expected.calls} calls, {expected.tokens_in} tokens in "
        f"and {expected.tokens_out} out{time}"
    )


@contextmanager
def pass_progress(title: str, total: int) -> Iterator[Callable[["PassReport"], None]]:
    """Show a progress bar on stderr; calling what it yields with a pass's report moves it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[tokens]} tokens"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors) as progress:
        task = progress.add_task(title, total=total, tokens=0)
        yield lambda report: progress.update(task, completed=report.handled, tokens=report.tokens)


def show_build(report: "BuildReport") -> None:
    """Show what the model added to the graph, and what it missed of the structure."""
    tally, compared = report.tally, report.comparison
    lines = compared.lines or 1
    console.print(
        f"{report.built} built, {report.unchanged} built before, {report.left} left, "
        f"{len(report.failed)} of them failed; "
        f"{tally.tokens_in} tokens in, {tally.tokens_out} out, "
        f"{tally.unreadable} answers unreadable"
    )
    console.print(
        f"sentences: {tally.sentences}, {tally.sentences_unsupported} of them dropped, since no "
        f"line says them; names: {tally.names}, {tally.names_unsupported} dropped"
    )
    console.print(
        f"incidents: {compared.names_shared} that the structure has too, {compared.names_added} "
        f"added, {compared.names_lost} not named by the model; of the structure's lines the model "
        f"has {compared.lines_of_model / lines:.0%}, {compared.lines_same_field / lines:.0%} in "
        "the same field"
    )
    show_failures(report.failed, len(report.failed), console)


def steps_table(workflow: Workflow) -> Table:
    """Return the steps in order, each with its commands, branches and sources."""
    numbers = {step.id: number for number, step in enumerate(workflow.steps, start=1)}
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right")
    grid.add_column()
    grid.add_column(overflow="fold")
    for step in workflow.steps:
        style = _STYLE[step.kind]
        number = Text(str(numbers[step.id]), style=style)
        kind = (f"  {step.kind.value}", f"dim {style}")
        lines = [Text.assemble((step.text, "bold"), kind), *_commands(step)]
        lines += [Text(f"  note: {note}", style="dim") for note in step.notes]
        if step.settled:
            lines.append(Text(f"  {step.settled}: {step.settled_by}", style="green"))
        if step.doubt:
            lines.append(Text(f"  not sure: {step.doubt}", style="yellow"))
        lines += _branches(workflow, step, numbers)
        grid.add_row(number, Text(_MARK[step.kind], style=style), Group(*lines, _sources(step)))
    return grid


def _commands(step: Step) -> list[Text]:
    """Return each command, below its effect if it changes something."""
    lines: list[Text] = []
    for command in step.commands:
        effect = effect_of(command)
        if not effect.only_looks:
            lines.append(Text(f"  ! {effect.words}", style=_EFFECT_STYLE[effect.level]))
        lines += [Text(f"  $ {line}", style="magenta") for line in command.splitlines()]
    return lines


def _branches(workflow: Workflow, step: Step, numbers: Mapping[str, int]) -> list[Text]:
    """Return the exits of a step, without a plain one to the next step."""
    following = numbers[step.id] + 1
    return [
        Text(
            f"  {edge.condition} → {numbers[edge.target]}".replace("   ", "  "),
            style="dim strike" if workflow.holds(edge) is False else "yellow",
        )
        for edge in workflow.exits(step.id)
        if edge.condition or numbers[edge.target] != following
    ]


def _sources(step: Step) -> Text:
    if not step.is_sourced:
        return Text("  no source: the platform's own step", style="dim red")
    if not step.citations:
        return Text("  follows from the steps around it", style="dim")
    places = (f"{c.document_id}:{c.start_line}-{c.end_line}" for c in step.citations)
    return Text("  " + "  ".join(places), style="dim")


def _scores(score: Score) -> Table:
    table = Table(box=None, pad_edge=False, title_justify="left")
    table.add_column("score", justify="right")
    table.add_column("")
    table.add_column("why", style="dim", overflow="fold")
    for name, dimension in score.dimensions.items():
        table.add_row(f"{dimension.value:.1f}", name, Text(dimension.reason))
    table.add_row(Text(f"{score.overall:.1f}", style="bold"), Text("overall", style="bold"), "")
    if score.chance is not None:
        why = Text("; ".join(score.lowered_by))
        table.add_row(Text(f"{score.chance:.0%}", style="bold"), Text("likely right"), why)
    return table


def show_tried(tried: "Sequence[TrialResult]", folder: Path) -> None:
    """Show the outcomes of webhook bodies by file, then the number of files by source."""
    table = Table("file", "source", "tickets", box=None, header_style="dim")
    for each in tried:
        name = Path(each.file).relative_to(folder) if folder.is_dir() else each.file
        table.add_row(Text(str(name)), Text(each.source or "-"), Text(_describe_outcome(each)))
    console.print(table)
    counts = Counter(each.source or "(refused)" for each in tried)
    summary = Table("source", "files", box=None, header_style="dim")
    for source, files in sorted(counts.items()):
        summary.add_row(source, str(files))
    console.print(summary)


def _describe_outcome(tried: "TrialResult") -> str:
    """Return a line for each ticket, resolution, comment or reason that a body yields."""
    outcomes = [f"{t.severity or '-'} {t.external_id or '-'} {t.title}" for t in tried.tickets]
    outcomes += [f"resolved {over.external_id}" for over in tried.resolved]
    outcomes += [
        f"comment on {comment.external_id}: {comment.text[:80]}" for comment in tried.comments
    ]
    outcomes += [f"ignored: {reason}" for reason in tried.ignored]
    outcomes += [f"rejected: {reason}" for reason in tried.rejected]
    return "\n".join(outcomes) or f"{tried.status} {tried.error}"
