"""Values of parameters: what of them holds, what is struck, and what only a person can say."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from services.contracts.composing import (
    ComposeAnswer,
    ComposedCall,
    ComposedValue,
    ComposeQuestion,
    ValueOrigin,
)
from services.kit.observability.redaction import SECRET
from services.planner.composing.catalogue.component import Component, Components, Parameter
from services.planner.composing.values import follows, said_plainly
from services.planner.composing.words.secrets import (
    PLACEHOLDERS,
    is_placeholder,
    is_secret_name,
    without_secrets,
)

_REFERENCE = re.compile(
    r"^(?:[@$]|\{\{?\s*[@$]?|<)(?P<step>s\d+)(?:\.(?P<field>[\w.\[\]]+))?(?:\s*\}?\}|>)?$"
)

Given = Mapping[str, Mapping[str, object]]
"""Values as a filler gives them: by step, then by parameter."""


@dataclass
class Filled:
    """The calls with what holds, and what does not."""

    calls: list[ComposedCall] = field(default_factory=list)
    questions: list[ComposeQuestion] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)
    """What was given and is not said, or may not be, in words."""


def filled(
    calls: Sequence[ComposedCall],
    given: Given,
    *,
    said: Sequence[str],
    answers: Sequence[ComposeAnswer],
    components: Components,
) -> Filled:
    """Each call with the values that hold; a required one that is missing is asked for once."""
    found = Filled()
    told = "\n".join(said)
    answered = {each.question: each.answer for each in answers}
    before: list[ComposedCall] = []
    for call in calls:
        chosen = _chosen(call, answered, components)
        if chosen.options:
            found.questions.append(_which(chosen, components))
        made = chosen
        component = components.named(chosen.component) if chosen.component else None
        if component is not None:
            filler = _Filler(chosen, component, told, answered, before, components)
            made = filler.call(given.get(chosen.step, {}))
            found.questions += filler.questions
            found.struck += filler.struck
        found.calls.append(made)
        before.append(made)
    return found


def question_id(step: str, parameter: str) -> str:
    """Names the question for a parameter."""
    return f"{step}.{parameter}"


def _chosen(
    call: ComposedCall, answered: Mapping[str, str], components: Components
) -> ComposedCall:
    """The call with the component that somebody chose."""
    answer = answered.get(question_id(call.step, ""))
    if not call.options or answer is None:
        return call
    wanted = answer.strip()
    name = next((each for each in call.options if each.casefold() == wanted.casefold()), "")
    if not name and wanted.isdigit() and 1 <= int(wanted) <= len(call.options):
        name = call.options[int(wanted) - 1]
    if not name or components.named(name) is None:
        return call
    return call.model_copy(update={"component": name, "options": ()})


def _which(call: ComposedCall, components: Components) -> ComposeQuestion:
    told = "; ".join(
        f"{name}: {component.description[:200]}"
        for name in call.options
        if (component := components.named(name))
    )
    return ComposeQuestion(
        id=question_id(call.step, ""),
        text=f"What does “{call.does}”? {told}",
        options=call.options,
        step=call.step,
    )


@dataclass
class _Filler:
    call_: ComposedCall
    component: Component
    said: str
    answered: Mapping[str, str]
    before: Sequence[ComposedCall]
    components: Components
    questions: list[ComposeQuestion] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)

    def call(self, given: Mapping[str, object]) -> ComposedCall:
        known = self.component.parameters
        self.struck += [
            f"{self.component.name} has no parameter {name!r}"
            for name in given
            if name not in known
        ]
        values: dict[str, ComposedValue] = {}
        for name, parameter in known.items():
            value = self._value(name, parameter, given.get(name))
            if value is not None:
                values[name] = value
        return self.call_.model_copy(update={"parameters": values})

    def _value(self, name: str, parameter: Parameter, given: object) -> ComposedValue | None:
        why, answer = "", self.answered.get(question_id(self.call_.step, name))
        if answer is not None and answer.strip():
            value, why = self._answered(name, parameter, answer.strip())
            if value is not None:
                return value
        told = [] if given in (None, "", [], {}) else [*_texts(given)]
        for text in told[:1]:
            value, struck = self._given(name, parameter, text)
            if value is not None:
                return value
            self.struck.append(f"{self.component.name}.{name}: {struck}")
            why = why or (
                f"“{text[:80]}” does not fit: {struck}" if "not said" not in struck else ""
            )
        if is_secret_name(name) and (parameter.required or told):
            return ComposedValue(origin=ValueOrigin.PERSON, value=f"<{name}>")
        plain = said_plainly(name, parameter, self.said)
        if plain is not None:
            return _as_said(name, plain)
        if parameter.labels:
            return ComposedValue(origin=ValueOrigin.LABEL, value=parameter.labels[0])
        if parameter.required and parameter.default is None:
            self.questions.append(self._question(name, parameter, why))
        return None

    def _answered(
        self, name: str, parameter: Parameter, answer: str
    ) -> tuple[ComposedValue | None, str]:
        if is_secret_name(name) or is_placeholder(without_secrets(answer)):
            return ComposedValue(origin=ValueOrigin.PERSON, value=f"<{name}>"), ""
        misfit = parameter.misfit(answer)
        if misfit:
            return None, f"“{answer[:80]}” does not fit: {misfit}"
        return ComposedValue(value=answer), ""

    def _given(
        self, name: str, parameter: Parameter, text: str
    ) -> tuple[ComposedValue | None, str]:
        reference = _REFERENCE.match(text.strip())
        if reference:
            return self._of_earlier(reference)
        if is_secret_name(name) or is_placeholder(text):
            return _as_said(name, text), ""
        if misfit := parameter.misfit(text):
            return None, misfit
        if not follows(text, self.said, name) and not self._was_default(parameter, text):
            return None, f"“{text[:80]}” was not said"
        return ComposedValue(value=text), ""

    def _was_default(self, parameter: Parameter, text: str) -> bool:
        return parameter.default is not None and text.strip() == parameter.default.strip()

    def _of_earlier(self, found: re.Match[str]) -> tuple[ComposedValue | None, str]:
        """What an earlier step tells: by its component, as the executor names it."""
        earlier = next((call for call in self.before if call.step == found["step"]), None)
        component = self.components.named(earlier.component) if earlier else None
        if component is None:
            return None, f"{found['step']} tells nothing before this step"
        field_ = found["field"] or (component.tells[0] if len(component.tells) == 1 else "")
        if component.source == "executor" and field_ not in component.tells:
            return None, f"{component.name} tells {', '.join(component.tells) or 'no field'}"
        told = f"{component.name}.{field_}" if field_ else component.name
        return ComposedValue(origin=ValueOrigin.FIELD, value=told), ""

    def _question(self, name: str, parameter: Parameter, why: str) -> ComposeQuestion:
        what = parameter.description.rstrip(". ") or name.replace("_", " ")
        told = f"{name} of “{self.call_.does}”: {what}?"
        return ComposeQuestion(
            id=question_id(self.call_.step, name),
            text=f"{why}. {told}" if why else told,
            options=parameter.values,
            step=self.call_.step,
            parameter=name,
        )


def given_again(calls: Sequence[ComposedCall]) -> Given:
    """The values that calls have, as a filler gives them."""
    steps = {call.component: call.step for call in calls if call.component}
    return {
        call.step: {
            name: _again(value, steps)
            for name, value in call.parameters.items()
            if value.origin is not ValueOrigin.LABEL
        }
        for call in calls
    }


def _again(value: ComposedValue, steps: Mapping[str, str]) -> str:
    if value.origin is ValueOrigin.PERSON:
        return PLACEHOLDERS[SECRET]
    if value.origin is not ValueOrigin.FIELD:
        return value.value
    component, _, told = value.value.partition(".")
    step = steps.get(component, "")
    return f"@{step}.{told}" if told else f"@{step}"


def _as_said(name: str, text: str) -> ComposedValue:
    if is_secret_name(name) or is_placeholder(text):
        return ComposedValue(origin=ValueOrigin.PERSON, value=f"<{name}>")
    return ComposedValue(value=text)


def _texts(given: object) -> Iterator[str]:
    """A value as text; a list is told with commas, what is nested as it is written."""
    match given:
        case str():
            yield given.strip()
        case bool():
            yield "true" if given else "false"
        case int() | float():
            yield str(given)
        case list() | tuple():
            yield ", ".join(text for each in given for text in _texts(each))
        case Mapping():
            yield ", ".join(
                f"{key}: {text}" for key, each in given.items() for text in _texts(each)
            )
