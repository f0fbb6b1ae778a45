"""`flowxpert proposals`: pages that wait for somebody to vouch for them.

The commands talk to the platform that `--url` or FLOWXPERT_URL names, or that runs on the data
folder; where none does, they open the folder themselves, and the documents follow when it runs.
"""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.opening import open_here_or_there, print_json
from services.cli.options import AsJson, DataDir, Platform
from services.contracts.proposals import ProposalState

if TYPE_CHECKING:
    from services.contracts.proposals import ProposalDetail, Proposals

app = typer.Typer(no_args_is_help=True)

Page = Annotated[str, typer.Argument(help="Its id in `list`, or its document's id.")]
Why = Annotated[str, typer.Option(help="In a few words.")]


@app.command("list")
def list_proposals(
    *,
    state: Annotated[ProposalState | None, typer.Option(help="All without it.")] = None,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Proposed pages, the latest first, with who decided."""
    from services.cli.proposals_shown import show_proposals  # noqa: PLC0415

    with _proposals(data_dir, url) as proposals:
        found = proposals.proposals(state)
    if as_json:
        typer.echo(json.dumps([each.model_dump(mode="json") for each in found], indent=2))
    else:
        show_proposals(found)


@app.command()
def show(
    page: Page, *, data_dir: DataDir = None, url: Platform = None, as_json: AsJson = False
) -> None:
    """A page's lines, what it would tell to do, and the runs that it comes from."""
    with _proposals(data_dir, url) as proposals:
        _tell(proposals.proposal(_id(proposals, page)), as_json=as_json)


@app.command()
def accept(
    page: Page,
    *,
    text: Annotated[
        Path | None, typer.Option(help="The text as you edited it; it must say the same.")
    ] = None,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Vouch for a page: it becomes a document whose reading you have approved."""
    from services.contracts.proposals import Acceptance  # noqa: PLC0415

    edited = _text_in(text) if text else ""
    with _proposals(data_dir, url) as proposals:
        seen = proposals.proposal(_id(proposals, page))
        acceptance = Acceptance(text=edited, text_hash=seen.text_hash)
        _tell(proposals.accept(seen.id, acceptance), as_json=as_json)


@app.command()
def reject(
    page: Page,
    *,
    why: Why = "",
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Decide against a page for good."""
    from services.contracts.proposals import Dismissal  # noqa: PLC0415

    with _proposals(data_dir, url) as proposals:
        found = proposals.reject(_id(proposals, page), Dismissal(why=why))
        _tell(found, as_json=as_json)


@app.command()
def withdraw(
    page: Page,
    *,
    why: Why = "",
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Take an accepted page out of the documents; its text stays here."""
    from services.contracts.proposals import Dismissal  # noqa: PLC0415

    with _proposals(data_dir, url) as proposals:
        found = proposals.withdraw(_id(proposals, page), Dismissal(why=why))
        _tell(found, as_json=as_json)


def _proposals(data_dir: Path | None, url: str | None) -> AbstractContextManager["Proposals"]:
    from services.contracts.proposals import ProposalsClient  # noqa: PLC0415
    from services.ingestion.proposals.opening import open_proposals_here  # noqa: PLC0415

    return open_here_or_there(data_dir, url, open_proposals_here, ProposalsClient)


def _id(proposals: "Proposals", page: str) -> str:
    """The id of a page that is named by it or by its document's id."""
    if ".md" not in page:
        return page
    known = {each.document_id: each.id for each in proposals.proposals()}
    return known.get(page, page)


def _tell(detail: "ProposalDetail", *, as_json: bool) -> None:
    from services.cli.proposals_shown import show_proposal  # noqa: PLC0415

    if as_json:
        print_json(detail)
    else:
        show_proposal(detail)


def _text_in(path: Path) -> str:
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"expected a text at {str(path)!r}: {error}") from error
