"""Recorded incidents: would a run that only looks ask for what an investigation asked for?

An incident has an alert and the outputs of tools that somebody's assistant called, each with its
arguments and mostly with the command behind it. A catalogue is made of these commands, the pages
that are named like the alert are shown as they are, and what their boxes are bound to is held
against what was recorded. Nothing is run.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.material.shown_page import shown_page
from services.execution.bindings.binding import Argument, Binding, Origin
from services.execution.bindings.proposer import BindingProposer
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.target import Target
from services.execution.tools.tool import Tool
from services.kit.files import read_text
from services.kit.value import Value

_LABELS = {
    "namespace": ("namespace",),
    "name": ("pod", "job_name", "node", "name"),
    "pod_name": ("pod",),
    "resource_name": ("pod",),
}
"""Labels of alerts that hold what a parameter wants, by the parameter's name."""
_OF_KIND = {"job": "job_name"}
"""How alerts call the subject's name; else by its kind."""
_OPTION = re.compile(r"-n \{namespace\}")


class Recorded(Value):
    """One output of a tool."""

    tool: str
    arguments: Mapping[str, str]
    command: str
    """Empty where the record does not tell it, or it is more than one plain command."""

    @property
    def call(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What was asked; `pods` is what `pod` is."""
        arguments = ((k, v.rstrip("s") if k == "kind" else v) for k, v in self.arguments.items())
        return self.tool, tuple(sorted(arguments))


class Incident(Value):
    """An alert and what was asked for it."""

    id: str
    alert: str
    labels: Mapping[str, str]
    recorded: tuple[Recorded, ...]


class Looked(Value):
    """What a page's steps would ask for an incident."""

    incident: str
    page: str
    steps: int
    """That do or ask something."""
    bound: int
    """Of them: those that a tool does."""
    recorded: int
    """Outputs, each call once."""
    sayable: int
    """Of them: those whose command the catalogue has."""
    asked: int
    """Of them: those that a step asks for with the same arguments."""


class IncidentReport(Value):
    """The incidents with a page, and the others."""

    looked: tuple[Looked, ...]
    without_page: tuple[str, ...]
    tools: tuple[str, ...]
    """Commands of the catalogue."""
    figures: Mapping[str, float]


def incidents_in(folder: Path) -> list[Incident]:
    """Those that came with an alert, in their order."""
    incidents = []
    for path in sorted(folder.glob("*/*/investigate_request.json")):
        request = json.loads(path.read_text())
        issue = json.loads((path.parent / "issue_data.json").read_text() or "{}")
        labels = dict(issue.get("raw", {}).get("labels", {})) or _labels_of(request["subject"])
        incidents.append(
            Incident(
                id=path.parent.name,
                alert=str(request["title"]).rstrip("."),
                labels={name: str(value) for name, value in labels.items()},
                recorded=tuple({each.call: each for each in recorded_in(path.parent)}.values()),
            )
        )
    return incidents


def recorded_in(folder: Path) -> Iterator[Recorded]:
    """The outputs of one case, or of all below a folder."""
    for path in sorted(folder.rglob("*.txt")):
        lines = read_text(path, errors="replace").splitlines()[:2]
        try:
            head, call_record = (json.loads(line) for line in lines)
        except ValueError:
            continue
        arguments = {k: str(v) for k, v in (head.get("match_params") or {}).items() if v}
        invocation = str(call_record.get("invocation") or "")
        is_plain = invocation.startswith("kubectl ") and not re.search(r"[|\\\n\"'&;]", invocation)
        yield Recorded(
            tool=head["tool_name"], arguments=arguments, command=invocation if is_plain else ""
        )


def catalogue_of(recorded: Iterable[Recorded], *, all_orders: bool) -> Catalogue:
    """A tool for each command: its words, with places where the record's arguments stand.

    With `all_orders` it also has each command with the namespace right after the program and right
    after the verb, and as `oc` has it: as a team would write it for pages like these.
    """
    tools: dict[str, Mapping[str, Any]] = {}
    seen: set[tuple[str, ...]] = set()
    for each in recorded:
        words = _words(each)
        if not words or words in seen:
            continue
        for form in _forms(words) if all_orders else (words,):
            if form not in seen:
                seen.add(form)
                number = sum(name.startswith(f"{each.tool}_of_") for name in tools)
                name = f"{each.tool}_of_{number}"
                tools[name] = _tool(name, form, each.arguments)
    made = tuple(Tool.model_validate(tool) for tool in tools.values())
    target = Target(name="cluster", kind="cluster", host="cluster")
    return Catalogue(tools=made, targets=(target,)).checked()


def pages_of(alert: str, corpus: Path) -> list[Path]:
    """The pages that are named like the alert: that they treat it needs no judgement."""
    wanted = re.sub(r"\W", "", alert).casefold()
    return [p for p in sorted(corpus.rglob("*.md")) if p.stem.casefold() == wanted]


def look(incident: Incident, page: Path, catalogue: Catalogue) -> Looked:
    """What this page's steps would ask for the incident."""
    calls: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    counts: Counter[str] = Counter()
    workflow = shown_page(read_text(page, errors="replace"), page.name)
    for binding in BindingProposer(catalogue).propose(workflow, incident.labels):
        counts["steps"] += 1
        if binding.tool:
            counts["bound"] += 1
            calls.add(_call(binding, incident.labels))
    sayable = [each for each in incident.recorded if any(_is_of(each, t) for t in catalogue.tools)]
    return Looked(
        incident=incident.id,
        page=page.name,
        steps=counts["steps"],
        bound=counts["bound"],
        recorded=len(incident.recorded),
        sayable=len(sayable),
        asked=sum(each.call in calls for each in incident.recorded),
    )


def measure(incidents: Path, corpus: Path, *, all_orders: bool) -> IncidentReport:
    """Every incident with each of its pages."""
    catalogue = catalogue_of(recorded_in(incidents), all_orders=all_orders)
    cases = incidents_in(incidents)
    pages = {each.id: pages_of(each.alert, corpus) for each in cases}
    looked = tuple(look(each, page, catalogue) for each in cases for page in pages[each.id])
    recorded, sayable, hits = (
        sum(getattr(each, name) for each in looked) for name in ("recorded", "sayable", "asked")
    )
    figures = {
        "incidents": len(cases),
        "with a page": sum(bool(each) for each in pages.values()),
        "pairs of incident and page": len(looked),
        "recorded outputs": recorded,
        "asked for, of all": hits / max(1, recorded),
        "asked for, of those that the catalogue can say": hits / max(1, sayable),
        "steps that a tool does": sum(e.bound for e in looked)
        / max(1, sum(e.steps for e in looked)),
    }
    shown = tuple(
        tool.shown({name: f"<{name}>" for name in tool.parameters}) for tool in catalogue.tools
    )
    without = tuple(each.id for each in cases if not pages[each.id])
    return IncidentReport(looked=looked, without_page=without, tools=shown, figures=figures)


def _labels_of(subject: Mapping[str, Any]) -> dict[str, str]:
    kind = str(subject.get("kind") or subject.get("subject_type") or "name")
    labels = {
        _OF_KIND.get(kind, kind): subject.get("name"),
        "namespace": subject.get("namespace"),
        "container": subject.get("container"),
    }
    return {name: str(value) for name, value in labels.items() if value}


def _words(recorded: Recorded) -> tuple[str, ...]:
    """The command with places; empty where an argument does not stand in it as a word."""
    if not recorded.command:
        return ()
    places = {value: "{" + name + "}" for name, value in recorded.arguments.items()}
    words = tuple(places.get(word, word) for word in shlex.split(recorded.command))
    is_whole = all(place in words for place in places.values())
    return words if is_whole and len(places) == len(recorded.arguments) else ()


def _forms(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The command as pages write it: its namespace in three places, by two programs."""
    plain = " ".join(each for each in words if each != "--show-labels")
    plain = plain.replace("-o wide ", "")
    bare = re.sub(r"\s+", " ", _OPTION.sub("", plain)).strip().split(" ")
    option = ["-n", "{namespace}"] if _OPTION.search(plain) else []
    for program in (bare[0], "oc"):
        verb, rest = bare[1], bare[2:]
        yield (program, verb, *rest, *option)
        yield (program, verb, *option, *rest)
        yield (program, *option, verb, *rest)


def _tool(name: str, words: Sequence[str], arguments: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "description": "",
        "effect": "read",
        "target": "cluster",
        "label": "cluster",
        "way": {"by": "ssh", "command": [*words]},
        "parameters": {
            each: {"pattern": r"[\w./:-]{1,200}", "labels": list(_LABELS.get(each, ()))}
            for each in arguments
        },
    }


def _is_of(recorded: Recorded, tool: Tool) -> bool:
    is_named = tool.name.rpartition("_of_")[0] == recorded.tool
    return is_named and tool.parameters.keys() == recorded.arguments.keys()


def _call(binding: Binding, labels: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    arguments = {name: _value(each, labels) for name, each in binding.arguments.items()}
    return Recorded(tool=binding.tool.rpartition("_of_")[0], arguments=arguments, command="").call


def _value(argument: Argument, labels: Mapping[str, str]) -> str:
    """Empty where it is only known in a run, or filled in by a person."""
    if argument.origin is Origin.LABEL:
        return labels.get(argument.value, "")
    return argument.value if argument.origin is Origin.LITERAL else ""
