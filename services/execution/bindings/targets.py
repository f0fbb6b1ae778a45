"""Targets of bindings: named by a label of the ticket, by the inventory or by a person."""

from collections.abc import Mapping
from typing import NamedTuple

from services.execution.bindings.binding import Argument, Binding, Origin
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.target import Target


class TargetChoice(NamedTuple):
    """Target of a binding, with its source."""

    target: Target | None
    source: str
    """Source of the target, or the reason why there is none, in words."""


def choose_target(
    binding: Binding, catalogue: Catalogue, labels: Mapping[str, str]
) -> TargetChoice:
    """Return the target that a label of the ticket names, or the only one of its kind."""
    tool = catalogue.tool(binding.tool)
    label, kind = (binding.target or tool.label)[:100], tool.target
    if name := labels.get(binding.target or tool.label, ""):
        target = catalogue.targets_by_name.get(name)
        if target is not None and target.kind == kind:
            return TargetChoice(target, f"named by the ticket's label {label}")
        return TargetChoice(
            None, f"the ticket names no known {kind}: its label {label} is {name[:100]!r}"
        )
    of_kind = [target for target in catalogue.targets if target.kind == kind]
    if len(of_kind) == 1:
        return TargetChoice(of_kind[0], f"the only {kind} of the inventory")
    return TargetChoice(None, f"the ticket names no known {kind}: it has no label {label}")


def keep_named_targets(
    binding: Binding, catalogue: Catalogue, labels: Mapping[str, str]
) -> Binding:
    """Return the binding with an argument that names a target only if somebody else knows it.

    Such an argument can be filled by a label that targets go by. A value that only a page or the
    output of a tool has is left to a person; `why` says so.
    """
    if not binding.tool:
        return binding
    tool = catalogue.tool(binding.tool)
    target_labels = {each.label for each in catalogue.tools}
    names = {*catalogue.targets_by_name, *labels.values()}
    arguments, notes = dict(binding.arguments), list[str]()
    for name, argument in binding.arguments.items():
        if not target_labels & set(tool.parameters[name].labels):
            continue
        if argument.origin is Origin.FIELD:
            notes.append(f"{name} would be what {argument.value} shows: a person fills it in")
        elif argument.origin is not Origin.LITERAL:
            continue
        elif argument.value in names:
            notes.append(f"{name} {argument.value} is the page's, and known")
            continue
        else:
            notes.append(
                f"{name} {argument.value!r} is the page's alone, no label and no inventory has it:"
                " a person fills it in"
            )
        arguments[name] = Argument(origin=Origin.PERSON)
    why = "; ".join((binding.why, *notes)) if notes else binding.why
    return binding.model_copy(update={"arguments": arguments, "why": why})
