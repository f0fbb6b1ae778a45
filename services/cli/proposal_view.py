"""View of drafts and proposed pages for people at the command line."""

from collections.abc import Sequence

from rich.text import Text

from services.cli.terminal import console, folding_table, short_id, steps_table
from services.contracts.composing import ChangeSeverity, Composition
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
    table = folding_table("state", "from", "proposed", "by", "decided by", "expires", "title", "id")
    for each in summaries:
        table.add_row(
            Text(each.state.value, style=_STYLE.get(each.state, "dim")),
            describe_origin(each),
            f"{each.proposed_at:%Y-%m-%d}",
            Text(each.proposed_by or "the platform"),
            Text(each.decided_by),
            f"{each.expires_at:%Y-%m-%d}" if each.expires_at else "",
            Text(each.title),
            short_id(each.id),
        )
    console.print(table)


def show_proposal(detail: ProposalDetail) -> None:
    """Show where a page comes from, its lines, and each procedure as it is drawn."""
    console.print(Text(detail.title, style="bold"))
    by = f" by {detail.decided_by}" if detail.decided_by else ""
    console.print(
        Text(f"{detail.state.value}{by}, {describe_origin(detail)}: {detail.document_id}")
    )
    end = f"expires on {detail.expires_at:%Y-%m-%d}" if detail.expires_at else ""
    for remark in filter(None, (detail.why, end)):
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


def show_composition(draft: Composition) -> None:
    """Show the page, its changes, the findings to check and the open questions."""
    console.print(Text(draft.text.rstrip()), soft_wrap=True)
    console.print()
    for change in draft.changes:
        style = "bold red" if change.danger is ChangeSeverity.DESTROYS else "yellow"
        what = f": {change.what}" if change.what else ""
        console.print(Text(f"! {change.danger.value} {change.text}{what}", style=style))
    for remark in (*draft.notes, *draft.findings):
        console.print(Text(f"! {remark}", style="yellow"))
    for question in draft.questions:
        options = f" ({', '.join(question.options)})" if question.options else ""
        console.print(Text(f"? {question.text}{options}", style="bold"))
    if draft.words:
        console.print(Text(f'to propose it: --words "{draft.words}"'))
    console.print(Text(f"composed by {draft.composed_by}; nothing is stored", style="dim"))
