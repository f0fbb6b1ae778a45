"""Whether the right page is found, and how sure retrieval may be of it."""

import time
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import AsJson, DataDir, Out, PairsFile, Sample, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.pair_choice import chosen_pairs
from evaluation.commands.platform import open_platform
from evaluation.commands.progress import progress
from services.kit.files import read_json, require_file, require_folder, require_new_folder

app = typer.Typer()


@app.command()
def retrieval(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    sample: Sample = 0,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """How far up each query's own page stands, beside BM25, the embedder and both by rank."""
    from evaluation.benches.retrieval.ranks import run, searches  # noqa: PLC0415

    started = time.perf_counter()
    chosen = chosen_pairs(pairs, sample, seed)
    config: dict[str, object] = {"pairs": pairs.name, "sample": sample, "seed": seed}
    with open_platform(data_dir) as platform:
        compared = searches(platform.retrieval, platform.vectors, platform.embedder)
        forms = sum(len(pair.forms) for pair in chosen if pair.gold_documents)
        with progress("retrieval", forms) as advance:
            figures = run(chosen, compared, config, lambda: time.perf_counter() - started, advance)
    finish(figures, out, as_json=as_json)


@app.command()
def calibrate(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    unknown: Annotated[
        Path, typer.Option(help="JSON Lines of alerts that no page treats.", callback=require_file)
    ],
    tickets: Annotated[
        Path, typer.Option(help="JSON Lines of tickets, each with its page.", callback=require_file)
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Make the result the calibration in use.")
    ] = False,
) -> None:
    """Fit how sure retrieval may be and what is shown; on even ids, reported on the odd.

    `--pairs` are alerts whose page is known. Tickets are looked for with their page and without.
    """
    from evaluation.benches.retrieval.calibration import (  # noqa: PLC0415
        alert_cases,
        calibrate,
        ticket_cases,
    )
    from evaluation.benches.retrieval.hidden_page import retrieval_without  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415
    from evaluation.material.pairs import read_pairs  # noqa: PLC0415

    alerts, others, rows = read_pairs(pairs), read_pairs(unknown), read_rows(tickets)
    provenance = (
        f"flowxpert bench calibrate on {pairs.name} ({len(alerts)}) against {unknown.name}"
        f" ({len(others)}), and on {tickets.name} ({len(rows)}) with and without their pages;"
        " fitted on ids whose sha256 is even"
    )
    cases = []
    with (
        open_platform(data_dir) as platform,
        progress("calibrate", len(alerts) + len(others) + 2 * len(rows)) as advance,
    ):
        blind_for = partial(retrieval_without, platform)
        of_alerts = alert_cases(platform.retrieval, alerts, others)
        for case in chain(of_alerts, ticket_cases(platform.retrieval, blind_for, rows)):
            cases.append(case)
            advance()
    fit = calibrate(cases, provenance)
    if write:
        fit.calibration.write()
        fit.thresholds.write()
    typer.echo(fit.calibration.model_dump_json(indent=2))
    typer.echo(fit.thresholds.model_dump_json(indent=2))


@app.command(name="page-choice")
def page_choice(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    tickets: Annotated[
        Path, typer.Option(help="JSON Lines of tickets, each with its page.", callback=require_file)
    ],
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="Write what a model is asked into this folder, and end.",
            callback=require_new_folder,
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Keep the answers in this folder, `answer-1.json` …", callback=require_folder
        ),
    ] = None,
    write: Annotated[
        bool,
        typer.Option("--write", help="Fit on the answers kept, and make that the one in use."),
    ] = False,
    batches: Annotated[int, typer.Option(min=1, help="Files of prompts.")] = 6,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Which page is taken for a ticket, and how surely: by retrieval, and with a model's choice.

    Tickets are looked for with their page, and some with it hidden. `--pairs` are alerts whose page
    is known. The choices are a strong model's that were kept; chances are fitted on even ids.
    """
    from evaluation.benches.logic.page_choice import (  # noqa: PLC0415
        cases_of,
        choice_cases,
        judged,
        kept_answers,
        report,
        retrieve_cases,
        with_acceptance,
        with_choices,
        write_prompts,
    )
    from evaluation.benches.retrieval.hidden_page import retrieval_without  # noqa: PLC0415
    from evaluation.fitting.page_choice import fit_choices  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415
    from evaluation.material.pairs import read_pairs  # noqa: PLC0415
    from evaluation.material.recorded_choices import (  # noqa: PLC0415
        RECORDED_CHOICES,
        read_page_choices,
        write_page_choices,
    )
    from services.tickets.page_choice.chance import ChoiceChance  # noqa: PLC0415
    from services.tickets.walk.fit import Thresholds  # noqa: PLC0415

    started = time.perf_counter()
    cases = cases_of(read_rows(tickets), read_pairs(pairs), seed)
    with open_platform(data_dir) as platform:
        blind_for = partial(retrieval_without, platform)
        retrieved = list(retrieve_cases(cases, platform.retrieval, blind_for))
        if prompts is not None:
            write_prompts(retrieved, prompts, batches)
            return
        if record is not None:
            write_page_choices(RECORDED_CHOICES, kept_answers(record))
        choices = read_page_choices(RECORDED_CHOICES)
        if write:
            sample = choice_cases(retrieved, choices)
            provenance = (
                f"flowxpert bench page-choice on {tickets.name}, {pairs.name}: {len(sample)} cases"
            )
            fit_choices(sample, provenance).write()
        fitted = ChoiceChance.shipped()
        chosen = list(with_choices(retrieved, choices, fitted))
        thresholds = Thresholds.shipped().with_settings(platform.gateway.settings)
        walk = partial(judged, planner=platform.planner, scorer=platform.scorer)
        with progress("page choice", len(retrieved) + len(chosen)) as advance:
            chosen_keys = {each.case.key for each in chosen}
            alone = [each for each in retrieved if not choices or each.case.key in chosen_keys]
            walked = {
                "retrieval": list(walk(alone, thresholds=thresholds, advance=advance)),
                "with a model's choice": list(walk(chosen, thresholds=thresholds, advance=advance)),
            }
        ways = {name: with_acceptance(rows, platform.embedder) for name, rows in walked.items()}
    config: dict[str, object] = {"pairs": pairs.name, "tickets": tickets.name, "seed": seed}
    figures = report(ways, fitted, config, time.perf_counter() - started)
    finish(figures, out, as_json=as_json)


@app.command()
def said(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    tickets: Annotated[
        Path, typer.Option(help="JSON Lines of tickets, each with its page.", callback=require_file)
    ],
    record: Annotated[
        Path | None,
        typer.Option(
            help="Keep the answers in this folder, whose index.json names their pages.",
            callback=require_folder,
        ),
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """How far up each page stands with what people write of it, and without.

    The folder holds the pages of which a strong model's answers were kept, and no others; what is
    put there for the run is taken out again. `--pairs` are alerts whose page is known.
    """
    from evaluation.benches.retrieval.ticket_texts import gold_queries, ranks_of, report  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415
    from evaluation.material.pairs import read_pairs  # noqa: PLC0415
    from evaluation.material.recorded_ticket_texts import (  # noqa: PLC0415
        RECORDED_TICKET_TEXTS,
        read_ticket_texts,
        ticket_texts_in,
        write_ticket_texts,
    )
    from services.retrieval.lifting_texts import LOOK_EVERY_S  # noqa: PLC0415
    from services.runbook.by_model.synthetic_tickets import TICKETS_PROMPT  # noqa: PLC0415

    started = time.perf_counter()
    if record is not None:
        documents = read_json(record / "index.json", dict[str, str])
        write_ticket_texts(RECORDED_TICKET_TEXTS, ticket_texts_in(record, documents))
    recorded = read_ticket_texts(RECORDED_TICKET_TEXTS)
    with open_platform(data_dir) as platform:
        pages = {id_: platform.documents.get(id_) for id_ in recorded}
        hashes = {id_: page.text_hash for id_, page in pages.items() if page is not None}
        queries = list(gold_queries(read_rows(tickets), read_pairs(pairs), hashes))
        with progress("said", 2 * len(queries)) as advance:
            without = ranks_of(queries, platform.retrieval, advance)
            for id_, hashed in hashes.items():
                platform.ingestion.page_readings.keep_ticket_texts(hashed, recorded[id_].texts)
            time.sleep(LOOK_EVERY_S)
            with_ = ranks_of(queries, platform.retrieval, advance)
        for hashed in hashes.values():
            platform.ingestion.page_readings.keep_ticket_texts(hashed, ())
    config: dict[str, object] = {"pages": len(hashes), "prompt": TICKETS_PROMPT.label}
    ways = {"without": without, "with": with_}
    finish(report(queries, ways, config, time.perf_counter() - started), out, as_json=as_json)
