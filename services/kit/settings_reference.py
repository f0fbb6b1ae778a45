"""The settings as files: `.env.example` and the reference page, printed from the classes."""

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from services.kit.settings import FILE_SUFFIX, Settings, is_secret


def as_env(classes: Iterable[type[Settings]]) -> str:
    """Print every variable, commented out, with its description and default."""
    lines = [
        "# Every setting and its default. Uncomment what you change.",
        f"# A secret may stand in a file instead: FLOWXPERT_API_KEY{FILE_SUFFIX} names it.",
        "",
    ]
    for cls in classes:
        lines += [f"# {_summary(cls)}", ""]
        for name, field in cls.variables():
            lines += [f"# {field.description}", f"#{name}={_default(field)}", ""]
    return "\n".join(lines)


def as_markdown(classes: Iterable[type[Settings]]) -> str:
    """Print one table per settings class."""
    lines = [
        "# Settings",
        "",
        "Set as environment variables or in a file `.env` in the working folder. Printed by",
        "`flowxpert settings --format markdown`. A secret (🔒) may stand in a file instead:",
        f"`FLOWXPERT_API_KEY{FILE_SUFFIX}` names the file that holds `FLOWXPERT_API_KEY`, as",
        "Docker and Kubernetes give secrets.",
    ]
    for cls in classes:
        lines += ["", f"## {cls.__name__}", "", _summary(cls), ""]
        lines += ["| variable | default | |", "|---|---|---|"]
        for name, field in cls.variables():
            shown = f"`{_default(field)}`" if _default(field) else "unset"
            mark = " 🔒" if is_secret(field.annotation) else ""
            lines.append(f"| `{name}`{mark} | {shown} | {field.description} |")
    return "\n".join(lines) + "\n"


def _summary(cls: type[Settings]) -> str:
    return (cls.__doc__ or cls.__name__).strip().partition("\n")[0]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case SecretStr() | Path() | str() | int() | float():
            return str(value)
        case _:
            return json.dumps(value, default=str)
