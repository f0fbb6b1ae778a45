"""`flowxpert coverage`: which alerts have a page, and which pages are to be mended."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.opening import open_here_or_there
from services.cli.options import AsJson, DataDir, Platform
from services.cli.stopping import heed_signals
from services.kit.batches import batches

if TYPE_CHECKING:
    from services.contracts.coverage import (
        AlertRule,
        Covering,
        PagesToMend,
        RuleCoverage,
        RulesReport,
        UnreachedPage,
    )
    from services.kit.http.client import ServiceClient
    from services.kit.settings import PlatformSettings

_MOST_SHOWN = 20


def coverage(
    *,
    rules: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Rule files of Prometheus; again for more."),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            exists=True, file_okay=False, help="Pages to look in, read for this time alone."
        ),
    ] = None,
    weeks: Annotated[int, typer.Option(min=1, max=52, help="How far back is looked.")] = 12,
    fail: Annotated[
        bool,
        typer.Option(
            "--fail",
            help="End with 1 where an alert has no page or a dead link, or a page is unread.",
        ),
    ] = False,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Alerts without a page, pages that nothing leads to, and pages that are to be mended.

    An alert is covered where its `runbook_url` leads to a page, or where a ticket of it would get a
    page that surely fits. With `--documents` no platform is needed: for CI.
    """
    from services.contracts.coverage import MOST_RULES, RulesQuestion  # noqa: PLC0415
    from services.gateway.coverage.rule_files import read_rules  # noqa: PLC0415

    asked = [rule for path in rules or () for rule in read_rules(path)]
    with _covering(documents, data_dir, url) as (known, unread):
        reports = [
            known.of_rules(RulesQuestion(rules=tuple(some), weeks=weeks))
            for some in batches(asked, MOST_RULES)
        ]
        mended = known.pages_to_mend(weeks=weeks)
        led_to = {each.document_id for report in reports for each in report.rules}
        unreached = [e for e in known.unreached(weeks=weeks) if e.document_id not in led_to]
    if as_json:
        told = {
            "rules": [e.model_dump(mode="json") for report in reports for e in report.rules],
            "unreached": [each.model_dump(mode="json") for each in unreached],
            "pages": [each.model_dump(mode="json") for each in mended.pages],
        }
        typer.echo(json.dumps(told, indent=2))
    else:
        _show(asked, reports, unreached, mended)
    if fail and (unread or any(_fails(each) for report in reports for each in report.rules)):
        raise typer.Exit(1)


@contextmanager
def _covering(
    documents: Path | None, data_dir: Path | None, url: str | None
) -> Iterator[tuple["Covering", int]]:
    """What is covered, and how many of the documents could not be read."""
    if documents is None:
        with open_here_or_there(data_dir, url, _here, _there) as known:
            yield known, 0
        return
    from services.cli.opening import open_platform, read_settings  # noqa: PLC0415
    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415
    from services.terminal import show_failures  # noqa: PLC0415

    heed_signals()  # a pipeline that is cancelled leaves no folder behind
    with TemporaryDirectory(prefix="flowxpert-") as folder:
        settings = read_settings(data_dir=Path(folder))
        with open_platform(settings) as platform, acting_as(LOCAL):
            job = platform.ingestion.ingest_here(documents)
            show_failures(job)
            yield platform.gateway.covering, job.failures


@contextmanager
def _here(settings: "PlatformSettings") -> Iterator["Covering"]:
    from services.cli.opening import open_platform  # noqa: PLC0415

    with open_platform(settings) as platform:
        yield platform.gateway.covering


def _there(client: "ServiceClient") -> "Covering":
    from services.contracts.coverage import CoverageClient  # noqa: PLC0415

    return CoverageClient(client)


def _is_covered(rule: "RuleCoverage") -> bool:
    from services.contracts.coverage import RuleState  # noqa: PLC0415

    return rule.state in {RuleState.LINKED, RuleState.FOUND}


def _fails(rule: "RuleCoverage") -> bool:
    return not _is_covered(rule) or rule.is_link_dead


def _show(
    asked: "Sequence[AlertRule]",
    reports: "Sequence[RulesReport]",
    unreached: "Sequence[UnreachedPage]",
    mended: "PagesToMend",
) -> None:
    from services.terminal import show_line  # noqa: PLC0415

    told = [each for report in reports for each in report.rules]
    if asked:
        covered = sum(_is_covered(each) for each in told)
        show_line(f"{covered} of {len(told)} alerts are covered")
        for rule, each in zip(asked, told, strict=True):
            if _fails(each):
                show_line(f"  {each.alert}: {_in_words(each, rule.runbook_url)}")
        fired = any(report.tickets for report in reports)
        never = [each.alert for each in told if not each.tickets]
        if fired and never:
            show_line(f"never fired in {mended.weeks} weeks: {_some(never)}")
    if unreached:
        what = "no alert or ticket" if asked else "no ticket"
        show_line(f"pages that {what} leads to: {_some([e.document_id for e in unreached])}")
    for page in mended.pages:
        owner = f" ({page.owner})" if page.owner else ""
        show_line(f"{page.document_id}{owner} is to be mended:")
        for found in page.findings:
            show_line(f"  line {found.start_line}: {found.said}: {found.seen}")
    if mended.without:
        show_line(f"did not answer: {', '.join(mended.without)}")


def _in_words(rule: "RuleCoverage", link: str) -> str:
    said = {
        "found": f"{rule.document_id} treats it",
        "near": f"the closest page is {rule.document_id}, not sure that it is the one",
        "none": "no page treats it",
    }.get(rule.state.value, "")
    return f"{said}; its link {link} leads to no page here" if rule.is_link_dead else said


def _some(names: "Sequence[str]") -> str:
    more = len(names) - _MOST_SHOWN
    told = ", ".join(names[:_MOST_SHOWN])
    return f"{told} and {more} more" if more > 0 else told
