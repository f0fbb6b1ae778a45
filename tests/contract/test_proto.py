"""The messages that leave the platform: proto/ says the same as the models."""

import os
import re
import shutil
import subprocess
import sys
import types
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from services.contracts.adoption import (
    Judgement,
    LeftBehind,
    LeftKind,
    StepState,
    StepWork,
    WhyLeft,
    Work,
)
from services.contracts.clarification import Clarification, ClarificationState, PageCard
from services.contracts.execution import (
    RunApproval,
    RunDetail,
    RunDifference,
    RunEvent,
    RunMode,
    RunOutcome,
    RunPassage,
    RunPhase,
    RunQuestion,
    RunStep,
    RunSummary,
)
from services.contracts.gateway import (
    CandidateSummary,
    NearestDocument,
    ProgressEvent,
    RelatedTicket,
    StoredWorkflow,
    TicketComment,
    TicketDetail,
)
from services.contracts.scorer import Dimension, Score
from services.contracts.ticket import Fit, Ticket, TicketStatus
from services.contracts.triage import HandOver, TeamChance, TriageDecision
from services.contracts.verdict import Verdict
from services.workflow.model import (
    Citation,
    LinkedPage,
    Provenance,
    ShownPage,
    Step,
    StepKind,
    Transition,
    Workflow,
    WorkflowKind,
)

PROTO = Path(__file__).parents[2] / "proto"
MODELS: list[type[BaseModel]] = [
    *(Citation, LinkedPage, Provenance, ShownPage, Step, Transition, Workflow),
    *(Dimension, Score),
    *(Ticket, TicketDetail, NearestDocument, RelatedTicket, TicketComment),
    *(StoredWorkflow, CandidateSummary, ProgressEvent),
    *(Work, StepWork, LeftBehind),
    *(Clarification, PageCard, TriageDecision, TeamChance, HandOver),
    *(
        RunDetail,
        RunSummary,
        RunStep,
        RunQuestion,
        RunApproval,
        RunEvent,
        RunPassage,
        RunDifference,
    ),
]
ENUMS: list[type[StrEnum]] = [
    *(StepKind, WorkflowKind, TicketStatus, Fit, Verdict, ClarificationState, StepState, Judgement),
    *(LeftKind, WhyLeft),
    *(RunMode, RunPhase, RunOutcome),
]
SCALARS = {
    str: "string",
    int: "uint32",
    float: "double",
    bool: "bool",
    datetime: "google.protobuf.Timestamp",
}
STRUCT = "google.protobuf.Struct"
RELEASED = "flowxpert.binpb"
BUF = shutil.which("buf", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
needs_buf = pytest.mark.skipif(
    BUF is None, reason="buf is not installed (requirements-dev.txt brings it for x86-64 and macOS)"
)
MEND = "edit proto/flowxpert/v1/*.proto until it matches, with new numbers for new fields"


def blocks(keyword: str) -> dict[str, str]:
    text = "\n".join(p.read_text(encoding="utf-8") for p in sorted(PROTO.glob("**/*.proto")))
    text = re.sub(r"//.*", "", text)
    return dict(re.findall(rf"^{keyword} (\w+) \{{(.*?)^\}}", text, re.MULTILINE | re.DOTALL))


def stated_fields(name: str) -> dict[str, str]:
    lines = re.findall(r"^\s*(.+?) (\w+) = \d+;", blocks("message")[name], re.MULTILINE)
    return {field: kind for kind, field in lines}


def proto_type(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        return f"repeated {proto_type(args[0])}"
    if origin is dict:
        return STRUCT if args[1] is Any else f"map<string, {proto_type(args[1])}>"
    if origin in (Union, types.UnionType):
        (inner,) = (arg for arg in args if arg is not type(None))
        return f"optional {proto_type(inner)}"
    return SCALARS.get(annotation) or annotation.__name__


def modelled_fields(model: type[BaseModel]) -> dict[str, str]:
    fields = {name: proto_type(field.annotation) for name, field in model.model_fields.items()}
    computed = model.model_computed_fields.items()
    return fields | {name: proto_type(field.return_type) for name, field in computed}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_message_has_the_fields_of_its_model(model):
    assert stated_fields(model.__name__) == modelled_fields(model), MEND


@pytest.mark.parametrize("enum", ENUMS, ids=lambda enum: enum.__name__)
def test_an_enum_has_the_values_of_its_model(enum: type[StrEnum]):
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.__name__).upper()
    values = re.findall(r"^\s*(\w+) = \d+;", blocks("enum")[enum.__name__], re.MULTILINE)
    expected = [f"{prefix}_UNSPECIFIED", *(f"{prefix}_{member.name}" for member in enum)]
    assert values == expected, MEND


def test_every_message_stands_for_a_model():
    assert set(blocks("message")) == {model.__name__ for model in MODELS}


def test_every_enum_stands_for_a_model():
    assert set(blocks("enum")) == {enum.__name__ for enum in ENUMS}


def numbers(name: str) -> dict[str, str]:
    return dict(re.findall(r" (\w+) = (\d+);", blocks("message")[name]))


def test_whoever_knows_tickets_can_read_one_with_its_details():
    assert numbers("Ticket").items() <= numbers("TicketDetail").items()


def buf(*arguments: str, folder: Path = PROTO) -> subprocess.CompletedProcess[str]:
    assert BUF is not None
    command = [BUF, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@needs_buf
def test_buf_finds_nothing():
    linted = buf("lint")
    assert linted.returncode == 0, linted.stdout + linted.stderr
    formatted = buf("format", "--diff", "--exit-code")
    assert formatted.returncode == 0, formatted.stdout + "run `buf format -w` in proto/"


@needs_buf
def test_what_was_released_can_still_be_read():
    done = buf("breaking", "--against", RELEASED)
    assert done.returncode == 0, done.stdout + "a break on purpose is released by `make proto`"


BREAKS = {
    "a field is gone": ("ticket.proto", r"  string url = 9;\n", ""),
    "a field has another number": ("score.proto", "double overall = 6", "double overall = 16"),
    "a field has another name": ("workflow.proto", "document_id = 1", "document = 1"),
    "a field has another type": ("event.proto", "string kind = 3", "bool kind = 3"),
    "a value is gone": ("ticket.proto", r"  FIT_SURE = 1;\n", ""),
}


@needs_buf
@pytest.mark.parametrize("broken", BREAKS)
def test_a_break_is_noticed(tmp_path, broken):
    file, pattern, text = BREAKS[broken]
    shutil.copytree(PROTO, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "flowxpert" / "v1" / file
    before = path.read_text("utf-8")
    path.write_text(re.sub(pattern, text, before, count=1), "utf-8")
    assert path.read_text("utf-8") != before
    assert buf("breaking", "--against", RELEASED, folder=tmp_path).returncode != 0
