"""How well an agent follows a workflow over turns."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.commands.options import AsJson, Out, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.progress import progress

if TYPE_CHECKING:
    from services.llm.chat_model import ChatModel

app = typer.Typer()


@app.command()
def follow(
    *,
    form: Annotated[
        list[str] | None,
        typer.Option(help="nothing, text, code, flowchart, all or guide; every one of them."),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(help="Write the turns there as files for a reader, and end."),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep the answers in this folder with the recorded ones.")
    ] = None,
    answers: Annotated[
        str, typer.Option(help="`recorded`, a file of recorded acts, or `model`: ask the model.")
    ] = "model",
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """The next act of an agent on gold histories, its workflow given in several forms.

    Sessions are of the simulated network and of the approved examples.
    """
    from evaluation.benches.following.forms import Form  # noqa: PLC0415
    from evaluation.benches.following.sessions import sessions  # noqa: PLC0415
    from evaluation.benches.following.turn_files import read_turns, write_turns  # noqa: PLC0415
    from evaluation.benches.following.turns import by_model, by_record, measure_turns  # noqa: PLC0415
    from evaluation.material.recorded_following import (  # noqa: PLC0415
        RECORDED_FOLLOWING,
        keep_acts,
        read_acts,
    )
    from evaluation.report.following_report import report  # noqa: PLC0415

    started = time.perf_counter()
    forms, found = [Form(name) for name in form or Form], sessions()
    if prompts is not None:
        for each in forms:
            write_turns(found, each, seed, prompts)
        typer.echo(f"{sum(len(s.turns) for s in found)} turns of {len(found)} sessions")
        return
    if record is not None:
        acts = [act for each in forms for act in read_turns(found, each, seed, record)]
        typer.echo(f"{keep_acts(RECORDED_FOLLOWING, acts)} acts")
        return
    if answers == "model":
        answer = by_model(_model(), seed)
    else:
        path = RECORDED_FOLLOWING if answers == "recorded" else Path(answers)
        answer = by_record(read_acts(path))
    with progress("follow", len(forms) * len(found)) as advance:
        rows = {each: measure_turns(found, each, answer, seed, advance) for each in forms}
    config: dict[str, object] = {"level": "turns", "answers": answers, "seed": seed}
    told = report(
        {
            each.value: [(row.session, {"turns": row.turns, **row.figures}) for row in of]
            for each, of in rows.items()
        },
        {},
        config,
        round(time.perf_counter() - started, 1),
        seed,
    )
    finish(told, out, as_json=as_json)


def _model() -> "ChatModel":
    from services.kit.errors import InvalidInputError  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415
    from services.llm.open import open_chat_model  # noqa: PLC0415
    from services.llm.settings import ModelSettings  # noqa: PLC0415

    model = open_chat_model(ModelSettings(), PlatformSettings().data_dir / "models")
    if model is None:
        raise InvalidInputError("set FLOWXPERT_MODEL_URL and _NAME, or FLOWXPERT_MODEL_GGUF")
    return model
