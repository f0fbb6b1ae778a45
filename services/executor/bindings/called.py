"""The call that a composed page writes behind its step: `(show_bgp_session: neighbor=10.0.0.7)`."""

import re
from collections.abc import Iterator, Mapping

from services.executor.bindings.binding import Argument, Binding, Origin
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.tool import BadArgumentError, Tool

_CALL = re.compile(r"\((?P<tool>[a-z][a-z0-9_]{1,63})(?:: (?P<told>[^\n]*))?\)\Z")
_TOLD = re.compile(
    r"(?:\A|, )(?P<name>\w+)="
    r"(?:\"(?P<quoted>[^\"]*)\"|<(?P<blank>[^<>]*)>|\[(?P<field>[\w.]+)\]|(?P<word>[^\s,\"]+))"
)


def called(step: str, text: str, catalogue: Catalogue) -> Binding | None:
    """The binding that a step's text tells; None where it tells no call of a known tool.

    What it tells goes before labels: somebody chose it. A person fills in what may not be sent.
    """
    found = _CALL.search(text.rstrip(". "))
    tool = catalogue.by_name.get(found["tool"]) if found else None
    if found is None or tool is None:
        return None
    told = dict(_arguments(found["told"] or "", tool))
    arguments: Mapping[str, Argument] = {
        name: told.get(name, Argument(origin=Origin.PERSON)) for name in tool.parameters
    }
    return Binding(step=step, tool=tool.name, arguments=arguments, why="the page names the tool")


def _arguments(told: str, tool: Tool) -> Iterator[tuple[str, Argument]]:
    for found in _TOLD.finditer(told):
        name, parameter = found["name"], tool.parameters.get(found["name"])
        if parameter is None:
            continue
        if found["field"]:
            yield name, Argument(origin=Origin.FIELD, value=found["field"])
        elif found["blank"] is not None:
            if found["blank"] in parameter.labels:
                yield name, Argument(origin=Origin.LABEL, value=found["blank"])
        else:
            value = found["word"] if found["quoted"] is None else found["quoted"]
            try:
                yield name, Argument(origin=Origin.GIVEN, value=parameter.checked(name, value))
            except BadArgumentError:
                continue
