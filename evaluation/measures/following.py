"""Figures of an agent's acts against what is right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Judged:
    """One act beside the right one."""

    tool: str
    """Empty where nothing was called."""
    arguments: Pairs
    right_tool: str
    right_arguments: Pairs
    node: str | None = None
    """Whose node was named, where a form shows nodes and the right act has one."""
    right_node: str | None = None
    off: bool = False
    right_off: bool = False
    is_none: bool = False
    """Whether nothing that can be read was answered."""

    @property
    def is_right_call(self) -> bool:
        """The right tool with all its arguments."""
        same = self.tool == self.right_tool and self.arguments == self.right_arguments
        return bool(self.tool) and same


def invocation(acts: Sequence[Judged]) -> dict[str, float]:
    """Precision, recall and F1 of calls, and F1 of the arguments of all calls."""
    right = sum(act.is_right_call for act in acts)
    made, wanted = sum(bool(act.tool) for act in acts), sum(bool(act.right_tool) for act in acts)
    same = sum(len(_arguments(act) & _wanted(act)) for act in acts)
    argument_count = sum(len(_arguments(act)) for act in acts)
    needed = sum(len(_wanted(act)) for act in acts)
    return {
        "tool_precision": share(right, made),
        "tool_recall": share(right, wanted),
        "tool_f1": f1(right, made, wanted),
        "parameter_f1": f1(same, argument_count, needed),
    }


def turn_figures(acts: Sequence[Judged]) -> dict[str, float]:
    """Of one session; figures of what did not occur in it are left out."""
    figures = invocation(acts)
    nodes = [act for act in acts if act.node is not None and act.right_node]
    if nodes:
        figures["node"] = share(sum(act.node == act.right_node for act in nodes), len(nodes))
    asides = [act for act in acts if act.right_off]
    if asides:
        figures["off_procedure"] = share(sum(act.off for act in asides), len(asides))
    others = [act for act in acts if not act.right_off]
    figures["false_alarm"] = share(sum(act.off for act in others), len(others))
    figures["unreadable"] = share(sum(act.is_none for act in acts), len(acts))
    return figures


def f1(right: int, made: int, wanted: int) -> float:
    """The harmonic mean of precision and recall; 1 where nothing was wanted and nothing made."""
    return share(2 * right, made + wanted) if made + wanted else 1.0


def share(part: int, whole: int) -> float:
    """0 of nothing."""
    return part / whole if whole else 0.0


def values_of(rows: Sequence[Mapping[str, float]], name: str) -> list[float]:
    """The values of a figure in the rows that have it."""
    return [row[name] for row in rows if name in row]


def _arguments(act: Judged) -> frozenset[tuple[str, str, str]]:
    return frozenset((act.tool, *pair) for pair in act.arguments)


def _wanted(act: Judged) -> frozenset[tuple[str, str, str]]:
    return frozenset((act.right_tool, *pair) for pair in act.right_arguments)
