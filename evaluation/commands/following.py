"""How well an agent follows a workflow over turns."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evaluation.commands.options import AsJson, Out, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.progress import progress
from services.kit.files import require_folder, require_new_folder

if TYPE_CHECKING:
    from evaluation.benches.following.agents import Agent
    from evaluation.benches.following.turns import Answer
    from evaluation.material.recorded_following import RecordedAct
    from services.llm.chat_model import ChatModel

app = typer.Typer()


@app.command()
def follow(
    *,
    level: Annotated[
        Literal["turns", "sessions"],
        typer.Option(help="The next act on gold histories, or whole sessions that are played."),
    ] = "turns",
    form: Annotated[
        list[str] | None,
        typer.Option(help="nothing, text, code, flowchart, all or guide; every one of them."),
    ] = None,
    session: Annotated[
        list[str] | None, typer.Option(help="Only these sessions, as s03; all of them.")
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="A reader of files acts. Of turns all files are written, and that is all; sessions"
            " are played, prompt by prompt, while answers come.",
            callback=require_new_folder,
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Keep a reader's answers in this folder with the recorded ones.",
            callback=require_folder,
        ),
    ] = None,
    answers: Annotated[
        str, typer.Option(help="`model`, `recorded`, or a file of recorded acts.")
    ] = "model",
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds for which a reader's answer is waited for.")
    ] = 600.0,
    at_once: Annotated[int, typer.Option(min=1, help="Sessions that are played at a time.")] = 4,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """How well an agent follows a workflow over turns, given in several forms or by a guide.

    With tools and a simulated person, on the simulated network and on the approved examples.
    """
    from evaluation.benches.following.forms import Form  # noqa: PLC0415
    from evaluation.benches.following.playing import play_all, shares  # noqa: PLC0415
    from evaluation.benches.following.sessions import sessions  # noqa: PLC0415
    from evaluation.benches.following.turn_files import read_turns, write_turns  # noqa: PLC0415
    from evaluation.benches.following.turns import measure_turns  # noqa: PLC0415
    from evaluation.material.recorded_following import (  # noqa: PLC0415
        RECORDED_FOLLOWING,
        keep_acts,
    )
    from evaluation.report.following_report import report  # noqa: PLC0415

    started = time.perf_counter()
    forms = [Form(name) for name in form or Form]
    chosen = [each for each in sessions() if not session or each.id in session]
    if level == "turns" and prompts is not None:
        for each in forms:
            write_turns(chosen, each, seed, prompts)
        typer.echo(f"{sum(len(s.turns) for s in chosen)} turns of {len(chosen)} sessions")
        return
    if level == "turns" and record is not None:
        acts = [act for each in forms for act in read_turns(chosen, each, seed, record)]
        typer.echo(f"{keep_acts(RECORDED_FOLLOWING, acts)} acts")
        return
    rows: dict[str, list[tuple[str, Mapping[str, float]]]] = {}
    failures: dict[str, Mapping[str, float]] = {}
    with progress("follow", len(forms) * len(chosen)) as advance:
        if level == "turns":
            answer = _answers(answers, seed)
            for each in forms:
                measured = measure_turns(chosen, each, answer, seed, advance)
                rows[each.value] = [(r.session, {"turns": r.turns, **r.figures}) for r in measured]
        else:
            agent = _agent(prompts or record, 0.0 if record else wait, answers, seed)
            for each in forms:
                played = play_all(chosen, each, agent, seed, at_once=at_once, advance=advance)
                rows[each.value] = [(one.session.id, one.figures()) for one in played]
                failures[each.value] = shares(played)
                if record is not None:
                    keep_acts(RECORDED_FOLLOWING, [act for one in played for act in one.acts])
    by = "files" if prompts or record else answers
    config: dict[str, object] = {"level": level, "answers": by, "seed": seed}
    seconds = round(time.perf_counter() - started, 1)
    finish(report(rows, failures, config, seconds, seed), out, as_json=as_json)


def _answers(answers: str, seed: int) -> "Answer":
    from evaluation.benches.following.turns import by_model, by_record  # noqa: PLC0415

    return by_model(_model(), seed) if answers == "model" else by_record(_recorded(answers))


def _agent(folder: Path | None, wait_s: float, answers: str, seed: int) -> "Agent":
    from evaluation.benches.following.agents import (  # noqa: PLC0415
        FileAgent,
        ModelAgent,
        RecordedAgent,
    )

    if folder is not None:
        return FileAgent(folder, wait_s)
    return ModelAgent(_model(), seed) if answers == "model" else RecordedAgent(_recorded(answers))


def _recorded(answers: str) -> "Mapping[str, RecordedAct]":
    from evaluation.material.recorded_following import (  # noqa: PLC0415
        RECORDED_FOLLOWING,
        read_acts,
    )

    return read_acts(RECORDED_FOLLOWING if answers == "recorded" else Path(answers))


def _model() -> "ChatModel":
    from services.kit.errors import InvalidInputError  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415
    from services.llm.open import open_chat_model  # noqa: PLC0415
    from services.llm.settings import ModelSettings  # noqa: PLC0415

    model = open_chat_model(ModelSettings(), PlatformSettings().data_dir / "models")
    if model is None:
        raise InvalidInputError("set FLOWXPERT_MODEL_URL and _NAME, or FLOWXPERT_MODEL_GGUF")
    return model
