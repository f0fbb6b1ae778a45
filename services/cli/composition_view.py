"""View of a draft for people at the command line."""

from rich.text import Text

from services.cli.terminal import console
from services.contracts.composing import ChangeSeverity, Composition


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
