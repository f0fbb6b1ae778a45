"""`flowxpert compose` and `flowxpert edit`: procedures and changes stated in a sentence.

They talk to the platform that `--url` or FLOWXPERT_URL names, or that runs on the data folder;
where none does, they open the folder themselves.
"""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from services.cli.platform_access import (
    AsJson,
    DataDir,
    Platform,
    open_local_or_remote,
    open_platform,
    print_json,
)

if TYPE_CHECKING:
    from services.contracts.composing import Composition, Compositions
    from services.contracts.proposals import Proposals
    from services.contracts.readings import Readings
    from services.kit.http.client import ServiceClient
    from services.kit.settings import PlatformSettings


class _Services(NamedTuple):
    composing: "Compositions"
    proposals: "Proposals"
    readings: "Readings"


def compose(
    instruction: Annotated[str, typer.Argument(help="What is to be done, in a sentence or more.")],
    *,
    propose: Annotated[
        bool, typer.Option("--propose", help="Propose it as a page once nothing is open.")
    ] = False,
    words: Annotated[
        str, typer.Option(help="What a draft that destroys something asks you to say.")
    ] = "",
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Draft a procedure over the executor's tools; open questions are asked at a terminal.

    Nothing is stored without --propose, and what is proposed somebody else accepts.
    """
    from services.cli.proposal_view import show_composition  # noqa: PLC0415
    from services.contracts.composing import ComposeRequest, CompositionProposal  # noqa: PLC0415

    with _open_services(data_dir, url) as opened:
        draft = opened.composing.compose(ComposeRequest(instruction=instruction))
        if sys.stdin.isatty() and not as_json:
            draft = _ask_questions(opened.composing, draft)
        if not propose:
            print_json(draft) if as_json else show_composition(draft)
            return
        page = opened.composing.page(CompositionProposal(draft=draft, words=words))
        made = opened.proposals.propose(page)
    if as_json:
        print_json(made)
    else:
        show_composition(draft)
        typer.echo(f"proposed as {made.document_id}: flowxpert proposals show {made.id}")


def edit(
    page: Annotated[str, typer.Argument(help="As `flowxpert readings` takes it.")],
    instruction: Annotated[str, typer.Argument(help="What is to be different, in a sentence.")],
    *,
    procedure: Annotated[int, typer.Option(min=0, help="Its number in `readings show`.")] = 0,
    store: Annotated[
        bool, typer.Option("--store", help="Store it; else it is only shown.")
    ] = False,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """State a change of a page's procedure in words, and see what it would change."""
    from services.cli.reading_view import show_preview  # noqa: PLC0415
    from services.contracts.composing import EditInWords  # noqa: PLC0415

    with _open_services(data_dir, url) as opened:
        wanted = EditInWords(
            text_hash=opened.readings.summary(page).text_hash,
            instruction=instruction,
            procedure=procedure,
        )
        parsed = opened.composing.edit_in_words(wanted)
        if store:
            opened.readings.edit(wanted.text_hash, parsed.edit)
    if as_json:
        print_json(parsed)
    else:
        show_preview(parsed.preview, is_stored=store)


def _ask_questions(composing: "Compositions", draft: "Composition") -> "Composition":
    """Ask the open questions; an empty answer leaves a question open."""
    from services.contracts.composing import ComposeAnswer, ComposeRequest  # noqa: PLC0415

    left: set[str] = set()
    while open_ := [each for each in draft.questions if each.id not in left]:
        question = open_[0]
        options = f" ({', '.join(question.options)})" if question.options else ""
        answer = typer.prompt(f"{question.text}{options}", default="", show_default=False)
        if not answer.strip():
            left.add(question.id)
            continue
        compose_answer = ComposeAnswer(question=question.id, answer=answer)
        draft = composing.compose(ComposeRequest(draft=draft, answers=(compose_answer,)))
    return draft


def _open_services(data_dir: Path | None, url: str | None) -> AbstractContextManager[_Services]:
    from services.contracts.composing import (  # noqa: PLC0415
        COMPOSED_WITHIN_S,
        CompositionsClient,
    )
    from services.contracts.proposals import ProposalsClient  # noqa: PLC0415
    from services.contracts.readings import ReadingsClient  # noqa: PLC0415

    def connect(client: "ServiceClient") -> _Services:
        parts = CompositionsClient(client), ProposalsClient(client), ReadingsClient(client)
        return _Services(*parts)

    return open_local_or_remote(data_dir, url, _open_local, connect, within_s=COMPOSED_WITHIN_S)


@contextmanager
def _open_local(settings: "PlatformSettings") -> Iterator[_Services]:
    from services.kit.access.caller import LOCAL  # noqa: PLC0415

    with open_platform(settings) as platform:
        readings = platform.ingestion.readings(LOCAL.name)
        yield _Services(platform.composing, platform.proposals, readings)
