"""Alert rules in Prometheus files: plain ones, and PrometheusRule objects of Kubernetes."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from services.contracts.coverage import AlertRule
from services.contracts.ticket import RUNBOOK_LINKS
from services.kit.errors import InvalidInputError
from services.kit.files import read_text

MOST_BYTES = 20_000_000
_MOST_TEXT = 8_000
_TEMPLATE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_PLAIN = (str, int, float, bool, date)


class RuleFileError(InvalidInputError):
    """The file holds no alert rules."""


def read_rules(path: Path) -> list[AlertRule]:
    """Return each alert of a file once, in its order; rules that only record are left out.

    Raises:
        UnusableFileError: It cannot be read, or is too large.
        RuleFileError: It is no YAML, or has no rule in it.
    """
    text = read_text(path, most=MOST_BYTES)
    try:
        objects = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, RecursionError) as error:
        raise RuleFileError(f"{path} is no YAML: {str(error).splitlines()[0]}") from error
    written = [rule for each in objects for rule in _rules(each)]
    rules: dict[str, AlertRule] = {}
    for each in written:
        if isinstance(each.get("alert"), str) and each["alert"]:
            rule = _rule(each)
            rules.setdefault(rule.alert, rule)
    if not rules and not any(isinstance(each.get("record"), str) for each in written):
        raise RuleFileError(f"{path}: expected `groups` with `rules` that have an `alert`")
    return list(rules.values())


def _rules(node: object) -> Iterator[Mapping[str, Any]]:
    if not isinstance(node, Mapping):
        return
    for item in _list(node, "items"):  # a List of Kubernetes
        yield from _rules(item)
    spec = node.get("spec")
    for group in _list(spec if isinstance(spec, Mapping) else node, "groups"):
        yield from (rule for rule in _list(group, "rules") if isinstance(rule, Mapping))


def _rule(rule: Mapping[str, Any]) -> AlertRule:
    annotations = {
        name: _TEMPLATE.sub(" ", text) for name, text in _texts(rule, "annotations").items()
    }
    link = next((annotations[name].strip() for name in RUNBOOK_LINKS if annotations.get(name)), "")
    texts = [text for name, text in annotations.items() if name not in RUNBOOK_LINKS]
    return AlertRule(
        alert=rule["alert"][:300],
        text="\n".join(texts)[:_MOST_TEXT],
        labels=dict(list(_texts(rule, "labels").items())[:100]),
        runbook_url=link[:2_000],
    )


def _texts(rule: Mapping[str, Any], name: str) -> dict[str, str]:
    values = rule.get(name)
    if not isinstance(values, Mapping):
        return {}
    # Nested values are no text, and those that a YAML file repeats by alias have no end.
    plain = {str(key): str(text) for key, text in values.items() if isinstance(text, _PLAIN)}
    return {key: text for key, text in plain.items() if text}


def _list(node: object, name: str) -> list[Any]:
    values = node.get(name) if isinstance(node, Mapping) else None
    return values if isinstance(values, list) else []
