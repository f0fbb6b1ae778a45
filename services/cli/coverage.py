"""`flowxpert coverage`: which alerts have a page, and which pages need repair."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.platform_access import (
    AsJson,
    DataDir,
    Platform,
    open_local_or_remote,
    open_platform,
    read_settings,
)
from services.cli.shutdown import handle_signals
from services.kit.batches import batches
from services.kit.files import require_file, require_folder

if TYPE_CHECKING:
    from services.contracts.coverage import (
        AlertRule,
        CoverageReports,
        PagesToMend,
        RuleCoverage,
        RulesReport,
        UnreachedPage,
    )
    from services.kit.settings import PlatformSettings

_MOST_SHOWN = 20


def coverage(
    *,
    rules: Annotated[
        list[Path] | None,
        typer.Option(help="Rule files of Prometheus; again for more.", callback=require_file),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(help="Pages to look in, read for this time alone.", callback=require_folder),
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
    """Report alerts without a page, unreached pages, and pages that need repair.

    An alert is covered where its `runbook_url` leads to a page, or where a ticket of it would get a
    page that surely fits. With `--documents` no platform is needed: for CI.
    """
    from services.contracts.coverage import MOST_RULES, RulesQuestion  # noqa: PLC0415
    from services.tickets.page_quality.rule_files import read_rules  # noqa: PLC0415

    alert_rules = [rule for path in rules or () for rule in read_rules(path)]
    with _open_coverage(documents, data_dir, url) as (reporter, unread):
        reports = [
            reporter.of_rules(RulesQuestion(rules=tuple(some), weeks=weeks))
            for some in batches(alert_rules, MOST_RULES)
        ]
        mended = reporter.pages_to_mend(weeks=weeks)
        reached_ids = {each.document_id for report in reports for each in report.rules}
        unreached = [e for e in reporter.unreached(weeks=weeks) if e.document_id not in reached_ids]
    if as_json:
        payload = {
            "rules": [e.model_dump(mode="json") for report in reports for e in report.rules],
            "unreached": [each.model_dump(mode="json") for each in unreached],
            "pages": [each.model_dump(mode="json") for each in mended.pages],
        }
        typer.echo(json.dumps(payload, indent=2))
    else:
        _show(alert_rules, reports, unreached, mended)
    if fail and (unread or any(_fails(each) for report in reports for each in report.rules)):
        raise typer.Exit(1)


@contextmanager
def _open_coverage(
    documents: Path | None, data_dir: Path | None, url: str | None
) -> Iterator[tuple["CoverageReports", int]]:
    """Yield the coverage reports, and the number of documents that could not be read."""
    from services.cli.terminal import show_failures  # noqa: PLC0415
    from services.contracts.coverage import CoverageClient  # noqa: PLC0415
    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415

    if documents is None:
        with open_local_or_remote(data_dir, url, _open_local, CoverageClient) as reporter:
            yield reporter, 0
        return

    handle_signals()  # a pipeline that is cancelled leaves no folder behind
    with TemporaryDirectory(prefix="flowxpert-") as folder:
        settings = read_settings(data_dir=Path(folder))
        with open_platform(settings) as platform, acting_as(LOCAL):
            job = platform.ingestion.ingest_here(documents)
            show_failures(job.failed, job.failures)
            yield platform.gateway.coverage, job.failures


@contextmanager
def _open_local(settings: "PlatformSettings") -> Iterator["CoverageReports"]:
    with open_platform(settings) as platform:
        yield platform.gateway.coverage


def _is_covered(rule: "RuleCoverage") -> bool:
    from services.contracts.coverage import RuleState  # noqa: PLC0415

    return rule.state in {RuleState.LINKED, RuleState.SURE}


def _fails(rule: "RuleCoverage") -> bool:
    return not _is_covered(rule) or rule.is_link_dead


def _show(
    alert_rules: "Sequence[AlertRule]",
    reports: "Sequence[RulesReport]",
    unreached: "Sequence[UnreachedPage]",
    mended: "PagesToMend",
) -> None:
    from services.cli.terminal import show_line  # noqa: PLC0415

    rules = [each for report in reports for each in report.rules]
    if alert_rules:
        covered = sum(_is_covered(each) for each in rules)
        show_line(f"{covered} of {len(rules)} alerts are covered")
        for rule, each in zip(alert_rules, rules, strict=True):
            if _fails(each):
                show_line(f"  {each.alert}: {_in_words(each, rule.runbook_url)}")
        fired = any(report.tickets for report in reports)
        never = [each.alert for each in rules if not each.tickets]
        if fired and never:
            show_line(f"never fired in {mended.weeks} weeks: {_some(never)}")
    if unreached:
        what = "no alert or ticket" if alert_rules else "no ticket"
        show_line(f"pages that {what} leads to: {_some([e.document_id for e in unreached])}")
    for page in mended.pages:
        owner = f" ({page.owner})" if page.owner else ""
        show_line(f"{page.document_id}{owner} is to be mended:")
        for finding in page.findings:
            show_line(f"  line {finding.start_line}: {finding.said}: {finding.seen}")
    if mended.without:
        show_line(f"did not answer: {', '.join(mended.without)}")


def _in_words(rule: "RuleCoverage", link: str) -> str:
    sentence = {
        "found": f"{rule.document_id} treats it",
        "near": f"the closest page is {rule.document_id}, not sure that it is the one",
        "none": "no page treats it",
    }.get(rule.state.value, "")
    return f"{sentence}; its link {link} leads to no page here" if rule.is_link_dead else sentence


def _some(names: "Sequence[str]") -> str:
    more = len(names) - _MOST_SHOWN
    listed = ", ".join(names[:_MOST_SHOWN])
    return f"{listed} and {more} more" if more > 0 else listed
