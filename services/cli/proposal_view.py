"""View of proposed pages for people at the command line."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from services.cli.terminal import console, steps_table
from services.contracts.proposals import (
    ProposalDetail,
    ProposalOrigin,
    ProposalState,
    ProposalSummary,
)
from services.runbook.lowering import lower

_STYLE = {ProposalState.PROPOSED: "yellow", ProposalState.ACCEPTED: "green"}


def show_proposals(summaries: Sequence[ProposalSummary]) -> None:
    """Show the proposals as a table, with their state and decision."""
    table = Table(box=None)
    for heading in ("state", "from", "proposed", "by", "decided by", "expires", "title", "id"):
        table.add_column(heading, overflow="fold")
    for each in summaries:
        table.add_row(
            Text(each.state.value, style=_STYLE.get(each.state, "dim")),
            describe_origin(each),
            f"{each.proposed_at:%Y-%m-%d}",
            Text(each.proposed_by or "the platform"),
            Text(each.decided_by),
            f"{each.expires_at:%Y-%m-%d}" if each.expires_at else "",
            Text(each.title),
            each.id,
        )
    console.print(table)


def show_proposal(detail: ProposalDetail) -> None:
    """Show where a page comes from, its lines, and each procedure as it is drawn."""
    console.print(Text(detail.title, style="bold"))
    by = f" by {detail.decided_by}" if detail.decided_by else ""
    console.print(
        Text(f"{detail.state.value}{by}, {describe_origin(detail)}: {detail.document_id}")
    )
    for remark in filter(None, (detail.why, _end(detail))):
        console.print(Text(remark))
    for run in detail.runs:
        what = " ".join(filter(None, (run.ticket_id, run.ticket_title)))
        console.print(Text(f"  {run.at:%Y-%m-%d} {what}: {run.outcome or 'searched'}"))
    console.print(Text(f"text {detail.text_hash}", style="dim"))
    for number, line in enumerate(detail.text.split("\n"), start=1):
        console.print(Text(f"{number:4} {line}"), soft_wrap=True)
    for procedure in detail.reading.procedures:
        console.rule(Text(procedure.title))
        console.print(steps_table(lower(procedure, detail.document_id)))


def describe_origin(proposal: ProposalSummary) -> str:
    """Describe what the page was written from."""
    if proposal.origin is ProposalOrigin.COMPOSED:
        return "a sentence"
    return (
        "one run: one path seen" if proposal.learned_from == 1 else f"{proposal.learned_from} runs"
    )


def _end(detail: ProposalDetail) -> str:
    return f"expires on {detail.expires_at:%Y-%m-%d}" if detail.expires_at else ""
