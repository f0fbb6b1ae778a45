"""The orchestrator's plan: steps over components, nested like a procedure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from services.contracts.composing import MOST_STEPS, ComposedCall
from services.llm.chat_model import ModelAnswerError
from services.planner.composing.component import Components
from services.runbook.checking.check import UnusableReadingError, refuse_large
from services.runbook.model import Body, Choice, Do, Loop, Procedure, Reader, Reading
from services.runbook.program import with_ids
from services.runbook.words import guard_in_words, text_of

_USE = ("use", "uses", "component", "tool", "api", "api_name")
_DO = ("do", "does", "text", "description", "say")
_STEPS = ("steps", "then", "body", "repeat")
_DEEPEST = 12


@dataclass
class CompositionPlan:
    """Steps, with the components that may carry out each of them."""

    title: str
    procedure: Procedure
    uses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Component names by step id; several if any of them fits, none if a person does it."""
    arguments: dict[str, dict[str, object]] = field(default_factory=dict)
    """Arguments that steps came with, by step id."""

    @property
    def steps(self) -> list[Do]:
        """The steps that do something, in the order of the text."""
        return [node for node in self.procedure.walk() if isinstance(node, Do)]

    def calls(self, components: Components) -> tuple[ComposedCall, ...]:
        """Return a call without parameters for each step; a person's if no component is known."""
        calls = []
        for step in self.steps:
            candidates = [components.find(name) for name in self.uses.get(step.id, ())]
            names = [each.name for each in candidates if each is not None]
            calls.append(
                ComposedCall(
                    step=step.id,
                    does=step.text[:1000],
                    component=names[0] if len(names) == 1 else "",
                    options=tuple(names) if len(names) > 1 else (),
                )
            )
        return tuple(calls)

    def unknown(self, components: Components) -> list[str]:
        """Return the names that no component has."""
        names = (name for uses in self.uses.values() for name in uses)
        return list(dict.fromkeys(name for name in names if components.find(name) is None))


def parse_plan(action: Mapping[str, Any], components: Components) -> CompositionPlan:
    """Parse a plan from its JSON form.

    Raises:
        ModelAnswerError: It is none; the message says why.
    """
    steps = action.get("steps")
    if not isinstance(steps, list) or not steps:
        raise ModelAnswerError("expected a list `steps` with at least one step")
    parser = _PlanParser(components)
    body = [made for each in steps for made in parser.nodes(each, 0)]
    title = str(action.get("title") or "").strip()[:300]
    try:
        procedure = Procedure.model_validate({"title": title or "Untitled", "steps": body})
        refuse_large(Reading(reader=Reader.MODEL, procedures=(procedure,)))
    except (ValidationError, UnusableReadingError, RecursionError) as error:
        why = str(error)
        if isinstance(error, ValidationError):
            first_error = error.errors(include_url=False, include_input=False)[0]
            why = f"{'.'.join(map(str, first_error['loc']))}: {first_error['msg']}"
        raise ModelAnswerError(f"the steps cannot be read: {why[:300]}") from error
    plan = CompositionPlan(title, with_ids(procedure), parser.uses, parser.arguments)
    if len(plan.steps) > MOST_STEPS:
        raise ModelAnswerError(f"expected at most {MOST_STEPS} steps, got {len(plan.steps)}")
    if not plan.steps:
        raise ModelAnswerError("no step does anything")
    return plan


def render_plan(procedure: Procedure, calls: Sequence[ComposedCall]) -> str:
    """Render a plan in a few lines, for a model that changes it or fills it in."""
    return "\n".join(_lines(procedure.body, {call.step: call for call in calls}, 0))


class _PlanParser:
    """Parser of a model's JSON into procedure nodes, with the components and arguments of steps."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self.uses: dict[str, tuple[str, ...]] = {}
        self.arguments: dict[str, dict[str, object]] = {}

    def nodes(self, step: object, depth: int) -> Iterator[dict[str, Any]]:
        if depth > _DEEPEST:
            raise ModelAnswerError("the steps are nested too deeply")
        if isinstance(step, str):
            step = {"use": step} if self._components.find(step) else {"do": step}
        if not isinstance(step, Mapping):
            raise ModelAnswerError("a step is an object")
        if "arms" in step or "choice" in step:
            yield self._choice(step, depth)
        elif "if" in step:
            yield self._if(step, depth)
        elif "for_each" in step or "foreach" in step:
            item = " ".join(str(step.get("for_each") or step.get("foreach")).split())
            item = item.strip(" ?.")[:200] or "of them"
            body = self._body(step, depth)
            yield {"repeat": body, "until": f"Has this been done for each {item}?"}
        elif "repeat" in step:
            yield {
                "repeat": self._body(step, depth),
                "until": _guard(step.get("until") or "Is it done?"),
            }
        elif any(key in step for key in ("goto", "end", "note")):
            yield {k: v for k, v in step.items() if k in {"goto", "end", "note", "text", "id"}}
        else:
            yield self._step(step)

    def _step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        used = next((step[key] for key in _USE if step.get(key)), ())
        names = (used,) if isinstance(used, str) else used
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            raise ModelAnswerError("`use` is the name of a component, or a list of names")
        does = next((str(step[key]).strip() for key in _DO if step.get(key)), "")
        component = self._components.find(names[0]) if names else None
        if component is not None and not does:
            does = component.description.split(". ")[0].strip(" .")[:300] or component.name
        does = does or (names[0] if names else "")
        if not does:
            raise ModelAnswerError("a step says what it does in `do`, or what it calls in `use`")
        id_ = f"s{len(self.uses) + 1}"
        self.uses[id_] = tuple(dict.fromkeys(names))
        parameters = step.get("parameters")
        if isinstance(parameters, Mapping):
            self.arguments[id_] = dict(parameters)
        return {"do": " ".join(does.split())[:1000], "id": id_, "core": True}

    def _choice(self, step: Mapping[str, Any], depth: int) -> dict[str, Any]:
        arms = step.get("arms")
        if not isinstance(arms, list) or not arms:
            raise ModelAnswerError("a choice has `arms`, each with `when` and `steps`")
        made: dict[str, Any] = {
            "choice": step.get("choice") if step.get("choice") in _MODES else "exclusive",
            "arms": self._arms(arms, depth, keys=("when", "if")),
        }
        if isinstance(step.get("question"), str):
            made["question"] = step["question"]
        return self._with_otherwise(made, step, depth)

    def _if(self, step: Mapping[str, Any], depth: int) -> dict[str, Any]:
        more = step.get("elif") or ()
        arms = [step, *([more] if isinstance(more, Mapping) else more)]
        made = {"choice": "exclusive", "arms": self._arms(arms, depth, keys=("if", "when"))}
        return self._with_otherwise(made, step, depth)

    def _arms(
        self, arms: Sequence[object], depth: int, *, keys: tuple[str, str]
    ) -> list[dict[str, Any]]:
        return [
            {"when": _guard(arm.get(keys[0]) or arm.get(keys[1])), "steps": self._body(arm, depth)}
            for arm in arms
            if isinstance(arm, Mapping)
        ]

    def _with_otherwise(
        self, made: dict[str, Any], step: Mapping[str, Any], depth: int
    ) -> dict[str, Any]:
        other = step.get("otherwise") or step.get("else")
        if other:
            made["otherwise"] = self._nodes(other, depth)
        return made

    def _body(self, step: Mapping[str, Any], depth: int) -> list[dict[str, Any]]:
        steps = next((step[key] for key in _STEPS if step.get(key)), ())
        return self._nodes(steps, depth)

    def _nodes(self, steps: object, depth: int) -> list[dict[str, Any]]:
        each_step = steps if isinstance(steps, list | tuple) else [steps]
        return [node for each in each_step for node in self.nodes(each, depth + 1)]


_MODES = frozenset({"exclusive", "in_order", "any", "free"})


def _guard(guard: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(guard, str) and guard.strip():
        return " ".join(guard.split())
    if isinstance(guard, Mapping):
        return dict(guard)
    raise ModelAnswerError("a condition is a question, in `when`, `if` or `until`")


def _lines(body: Body, calls: Mapping[str, ComposedCall], depth: int) -> Iterator[str]:
    space = "  " * depth
    for node in body:
        call = calls.get(node.id)
        if call is not None:
            by = call.component or " or ".join(call.options) or "a person"
            filled = ", ".join(f"{n}={v.value!r}" for n, v in call.parameters.items())
            yield f"{space}{node.id}: {call.does} [{by}]{f' ({filled})' if filled else ''}"
        elif isinstance(node, Choice):
            for arm in node.arms:
                yield f"{space}when {guard_in_words(arm.guard)}:"
                yield from _lines(arm.body, calls, depth + 1)
            if node.otherwise is not None:
                yield f"{space}otherwise:"
                yield from _lines(node.otherwise, calls, depth + 1)
        elif isinstance(node, Loop):
            yield f"{space}again until {guard_in_words(node.until)}:"
            yield from _lines(node.body, calls, depth + 1)
        else:
            yield f"{space}{text_of(node)}"
