"""The messages that leave the platform: proto/ says the same as the models."""

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

from services.contracts.scorer import Dimension, Score
from services.contracts.ticket import Fit, Ticket, TicketStatus
from services.workflow.model import Citation, Provenance, Step, StepKind, Transition, Workflow

PROTO = Path(__file__).parents[2] / "proto"
MODELS: list[type[BaseModel]] = [
    *(Citation, Provenance, Step, Transition, Workflow),
    *(Dimension, Score),
    Ticket,
]
SCALARS = {
    str: "string",
    int: "uint32",
    float: "double",
    bool: "bool",
    datetime: "google.protobuf.Timestamp",
}
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
        return f"map<string, {proto_type(args[1])}>"
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


@pytest.mark.parametrize("enum", [StepKind, TicketStatus, Fit], ids=lambda enum: enum.__name__)
def test_an_enum_has_the_values_of_its_model(enum: type[StrEnum]):
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.__name__).upper()
    values = re.findall(r"^\s*(\w+) = \d+;", blocks("enum")[enum.__name__], re.MULTILINE)
    expected = [f"{prefix}_UNSPECIFIED", *(f"{prefix}_{member.name}" for member in enum)]
    assert values == expected, MEND


def test_every_message_stands_for_a_model():
    assert set(blocks("message")) == {model.__name__ for model in MODELS}


def test_buf_finds_nothing():
    beside_python = Path(sys.executable).with_name("buf")
    buf = str(beside_python) if beside_python.exists() else shutil.which("buf")
    if buf is None:
        pytest.skip("buf is not installed (requirements-dev.txt brings it on x86-64 and macOS)")
    done = subprocess.run([buf, "lint"], cwd=PROTO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
