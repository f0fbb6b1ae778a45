"""`flowxpert proposals`: pages that wait for somebody to vouch for them.

The commands talk to the platform that `--url` or FLOWXPERT_URL names, or that runs on the data
folder; where none does, they open the folder themselves, and the documents follow when it runs.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.opening import client_of, print_json, read_settings
from services.cli.options import AsJson, DataDir
from services.contracts.proposals import ProposalState

if TYPE_CHECKING:
    from services.contracts.proposals import ProposalDetail, Proposals
    from services.kit.settings import PlatformSettings

app = typer.Typer(no_args_is_help=True)

Platform = Annotated[
    str | None, typer.Option("--url", help="Where FlowXpert answers; FLOWXPERT_URL.")
]
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


@contextmanager
def _proposals(data_dir: Path | None, url: str | None) -> Iterator["Proposals"]:
    """A running platform's proposed pages, or those of the folder, on behalf of who sits here.

    Raises:
        DataDirInUseError: A process owns the folder that does not say where it answers.
    """
    from services.contracts.addresses import AddressSettings  # noqa: PLC0415
    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415

    settings = read_settings(data_dir=data_dir)
    with ExitStack() as opened:
        found = _found(opened, settings, url or AddressSettings().url or "")
        opened.enter_context(acting_as(LOCAL))
        yield found


def _found(opened: ExitStack, settings: "PlatformSettings", address: str) -> "Proposals":
    from services.contracts.proposals import ProposalsClient  # noqa: PLC0415
    from services.ingestion.proposals.opening import open_proposals_here  # noqa: PLC0415
    from services.kit.data_dir import DataDirInUseError  # noqa: PLC0415

    if not address:
        try:
            return opened.enter_context(open_proposals_here(settings))
        except DataDirInUseError as error:
            if not error.url:
                raise DataDirInUseError(
                    settings.data_dir, "a process that does not say where it answers (--url does)"
                ) from error
            address = error.url
    return ProposalsClient(opened.enter_context(client_of(address)))


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
