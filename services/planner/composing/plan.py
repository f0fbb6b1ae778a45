"""What an orchestrator plans: steps over components, nested as a procedure is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from services.contracts.composing import MOST_STEPS, ComposedCall
from services.llm.chat_model import ModelAnswerError
from services.planner.composing.catalogue.component import Component, Components
from services.procedure.checking.check import UnusableReadingError, refuse_large
from services.procedure.editing.apply import with_ids
from services.procedure.editing.words import guard_in_words, text_of
from services.procedure.model import Body, Choice, Do, Loop, Procedure, Reader, Reading

_USE = ("use", "uses", "component", "tool", "api", "api_name")
_DO = ("do", "does", "text", "description", "say")
_STEPS = ("steps", "then", "body", "repeat")
_DEEPEST = 12


@dataclass
class Plan:
    """Steps, and for each step that does something the components that may do it."""

    title: str
    procedure: Procedure
    uses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By the id of a step; several where any of them fits, none where a person does it."""
    given: dict[str, dict[str, object]] = field(default_factory=dict)
    """Values that steps were told with, by their ids."""

    @property
    def steps(self) -> list[Do]:
        """What does something, in the order of the text."""
        return [node for node in self.procedure.walk() if isinstance(node, Do)]

    def calls(self, components: Components) -> tuple[ComposedCall, ...]:
        """A call for each step, without parameters; what no catalogue has is a person's."""
        return tuple(self._call(step, components) for step in self.steps)

    def unknown(self, components: Components) -> list[str]:
        """Names that no component has."""
        names = (name for uses in self.uses.values() for name in uses)
        return list(dict.fromkeys(name for name in names if components.named(name) is None))

    def _call(self, step: Do, components: Components) -> ComposedCall:
        known = [components.named(name) for name in self.uses.get(step.id, ())]
        found = [each.name for each in known if each is not None]
        return ComposedCall(
            step=step.id,
            does=step.text[:1000],
            component=found[0] if len(found) == 1 else "",
            options=tuple(found) if len(found) > 1 else (),
        )


def plan_given(given: Mapping[str, Any], components: Components) -> Plan:
    """A plan of its JSON form.

    Raises:
        ModelAnswerError: It is none; the message says why.
    """
    steps = given.get("steps")
    if not isinstance(steps, list) or not steps:
        raise ModelAnswerError("expected a list `steps` with at least one step")
    reading = _Reading(components)
    body = [made for each in steps for made in reading.nodes(each, 0)]
    title = str(given.get("title") or "").strip()[:300]
    try:
        procedure = Procedure.model_validate({"title": title or "Untitled", "steps": body})
        refuse_large(Reading(reader=Reader.MODEL, procedures=(procedure,)))
    except (ValidationError, UnusableReadingError, RecursionError) as error:
        raise ModelAnswerError(f"the steps cannot be read: {_told(error)}") from error
    plan = Plan(title, with_ids(procedure), reading.uses, reading.given)
    if len(plan.steps) > MOST_STEPS:
        raise ModelAnswerError(f"expected at most {MOST_STEPS} steps, got {len(plan.steps)}")
    if not plan.steps:
        raise ModelAnswerError("no step does anything")
    return plan


def of_sequence(title: str, steps: Sequence[Mapping[str, Any]], components: Components) -> Plan:
    """A plan of steps made by rules, in the same form."""
    return plan_given({"title": title, "steps": list(steps)}, components)


def shown(procedure: Procedure, calls: Sequence[ComposedCall]) -> str:
    """A plan in few lines, for whoever is to change it or to fill it in."""
    by_step = {call.step: call for call in calls}
    return "\n".join(_lines(procedure.body, by_step, 0))


class _Reading:
    """JSON of a model into nodes of a procedure; what calls what is kept beside them."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self.uses: dict[str, tuple[str, ...]] = {}
        self.given: dict[str, dict[str, object]] = {}

    def nodes(self, given: object, depth: int) -> Iterator[dict[str, Any]]:
        if depth > _DEEPEST:
            raise ModelAnswerError("the steps are nested too deeply")
        if isinstance(given, str):
            given = {"use": given} if self._components.named(given) else {"do": given}
        if not isinstance(given, Mapping):
            raise ModelAnswerError("a step is an object")
        if "arms" in given or "choice" in given:
            yield self._choice(given, depth)
        elif "if" in given:
            yield self._if(given, depth)
        elif "for_each" in given or "foreach" in given:
            item = str(given.get("for_each") or given.get("foreach"))
            body = self._body(given, depth)
            yield {"repeat": body, "until": f"Has this been done for each {_of(item)}?"}
        elif "repeat" in given:
            yield {
                "repeat": self._body(given, depth),
                "until": _guard(given.get("until") or "Is it done?"),
            }
        elif any(key in given for key in ("goto", "end", "note")):
            yield {k: v for k, v in given.items() if k in {"goto", "end", "note", "text", "id"}}
        else:
            yield self._step(given)

    def _step(self, given: Mapping[str, Any]) -> dict[str, Any]:
        used = next((given[key] for key in _USE if given.get(key)), ())
        names = (used,) if isinstance(used, str) else used
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            raise ModelAnswerError("`use` is the name of a component, or a list of names")
        does = next((str(given[key]).strip() for key in _DO if given.get(key)), "")
        known = self._components.named(names[0]) if names else None
        does = does or _imperative(known) or (names[0] if names else "")
        if not does:
            raise ModelAnswerError("a step says what it does in `do`, or what it calls in `use`")
        id_ = f"s{len(self.uses) + 1}"
        self.uses[id_] = tuple(dict.fromkeys(names))
        told = given.get("parameters")
        if isinstance(told, Mapping):
            self.given[id_] = dict(told)
        return {"do": " ".join(does.split())[:1000], "id": id_, "core": True}

    def _choice(self, given: Mapping[str, Any], depth: int) -> dict[str, Any]:
        arms = given.get("arms")
        if not isinstance(arms, list) or not arms:
            raise ModelAnswerError("a choice has `arms`, each with `when` and `steps`")
        made: dict[str, Any] = {
            "choice": given.get("choice") if given.get("choice") in _MODES else "exclusive",
            "arms": [
                {"when": _guard(arm.get("when") or arm.get("if")), "steps": self._body(arm, depth)}
                for arm in arms
                if isinstance(arm, Mapping)
            ],
        }
        if isinstance(given.get("question"), str):
            made["question"] = given["question"]
        return self._with_otherwise(made, given, depth)

    def _if(self, given: Mapping[str, Any], depth: int) -> dict[str, Any]:
        more = given.get("elif") or ()
        arms = [given, *([more] if isinstance(more, Mapping) else more)]
        return self._with_otherwise(
            {
                "choice": "exclusive",
                "arms": [
                    {
                        "when": _guard(arm.get("if") or arm.get("when")),
                        "steps": self._body(arm, depth),
                    }
                    for arm in arms
                    if isinstance(arm, Mapping)
                ],
            },
            given,
            depth,
        )

    def _with_otherwise(
        self, made: dict[str, Any], given: Mapping[str, Any], depth: int
    ) -> dict[str, Any]:
        other = given.get("otherwise") or given.get("else")
        if other:
            made["otherwise"] = [
                node for each in _several(other) for node in self.nodes(each, depth + 1)
            ]
        return made

    def _body(self, given: Mapping[str, Any], depth: int) -> list[dict[str, Any]]:
        steps = next((given[key] for key in _STEPS if given.get(key)), ())
        return [node for each in _several(steps) for node in self.nodes(each, depth + 1)]


_MODES = frozenset({"exclusive", "in_order", "any", "free"})


def _guard(given: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(given, str) and given.strip():
        return " ".join(given.split())
    if isinstance(given, Mapping):
        return dict(given)
    raise ModelAnswerError("a condition is a question, in `when`, `if` or `until`")


def _several(given: object) -> Sequence[object]:
    return given if isinstance(given, list | tuple) else [given]


def _of(item: str) -> str:
    return " ".join(item.split()).strip(" ?.")[:200] or "of them"


def _imperative(component: Component | None) -> str:
    if component is None:
        return ""
    return component.description.split(". ")[0].strip(" .")[:300] or component.name


def _told(error: Exception) -> str:
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"[:300]
    return str(error)[:300]


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
