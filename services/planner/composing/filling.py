"""Values of parameters: accepted ones, dropped ones, and those only a person can give."""

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
from services.planner.composing.component import Component, ComponentParameter, Components
from services.planner.composing.secrets import (
    PLACEHOLDERS,
    is_placeholder,
    is_secret_name,
    without_secrets,
)
from services.planner.composing.values import follows, literal_value

_REFERENCE = re.compile(
    r"^(?:[@$]|\{\{?\s*[@$]?|<)(?P<step>s\d+)(?:\.(?P<field>[\w.\[\]]+))?(?:\s*\}?\}|>)?$"
)

StepArguments = Mapping[str, Mapping[str, object]]
"""Arguments as a filler gives them: by step, then by parameter."""


@dataclass
class FilledCalls:
    """The calls with their accepted values, open questions, and the values that were dropped."""

    calls: list[ComposedCall] = field(default_factory=list)
    questions: list[ComposeQuestion] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)
    """Reasons for dropped values: not mentioned, or not allowed."""


def fill_calls(
    calls: Sequence[ComposedCall],
    arguments: StepArguments,
    *,
    instructions: Sequence[str],
    answers: Sequence[ComposeAnswer],
    components: Components,
) -> FilledCalls:
    """Fill each call with the accepted values; a missing required one becomes one question."""
    filled_calls = FilledCalls()
    instruction = "\n".join(instructions)
    answered = {each.question: each.answer for each in answers}
    for call in calls:
        chosen = _apply_choice(call, answered, components)
        if chosen.options:
            descriptions = "; ".join(
                f"{name}: {component.description[:200]}"
                for name in chosen.options
                if (component := components.find(name))
            )
            filled_calls.questions.append(
                ComposeQuestion(
                    id=question_id(chosen.step, ""),
                    text=f"What does “{chosen.does}”? {descriptions}",
                    options=chosen.options,
                    step=chosen.step,
                )
            )
        component = components.find(chosen.component) if chosen.component else None
        if component is not None:
            filler = _Filler(
                chosen, component, instruction, answered, filled_calls.calls, components
            )
            chosen = filler.call(arguments.get(chosen.step, {}))
            filled_calls.questions += filler.questions
            filled_calls.struck += filler.struck
        filled_calls.calls.append(chosen)
    return filled_calls


def question_id(step: str, parameter: str) -> str:
    """Return the id of the question for a parameter."""
    return f"{step}.{parameter}"


def _apply_choice(
    call: ComposedCall, answered: Mapping[str, str], components: Components
) -> ComposedCall:
    """Return the call with the component that the answer selects."""
    answer = answered.get(question_id(call.step, ""))
    if not call.options or answer is None:
        return call
    wanted = answer.strip()
    name = next((each for each in call.options if each.casefold() == wanted.casefold()), "")
    if not name and wanted.isdigit() and 1 <= int(wanted) <= len(call.options):
        name = call.options[int(wanted) - 1]
    if not name or components.find(name) is None:
        return call
    return call.model_copy(update={"component": name, "options": ()})


@dataclass
class _Filler:
    call_: ComposedCall
    component: Component
    instruction: str
    answered: Mapping[str, str]
    before: Sequence[ComposedCall]
    components: Components
    questions: list[ComposeQuestion] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)

    def call(self, arguments: Mapping[str, object]) -> ComposedCall:
        parameters = self.component.parameters
        self.struck += [
            f"{self.component.name} has no parameter {name!r}"
            for name in arguments
            if name not in parameters
        ]
        values: dict[str, ComposedValue] = {}
        for name, parameter in parameters.items():
            value = self._value(name, parameter, arguments.get(name))
            if value is not None:
                values[name] = value
        return self.call_.model_copy(update={"parameters": values})

    def _value(
        self, name: str, parameter: ComponentParameter, argument: object
    ) -> ComposedValue | None:
        why, answer = "", self.answered.get(question_id(self.call_.step, name))
        if answer is not None and answer.strip():
            value, why = self._from_answer(name, parameter, answer.strip())
            if value is not None:
                return value
        texts = [] if argument in (None, "", [], {}) else [*_texts(argument)]
        for text in texts[:1]:
            value, reason = self._from_argument(name, parameter, text)
            if value is not None:
                return value
            self.struck.append(f"{self.component.name}.{name}: {reason}")
            why = why or (
                f"“{text[:80]}” does not fit: {reason}" if "not said" not in reason else ""
            )
        if is_secret_name(name) and (parameter.required or texts):
            return ComposedValue(origin=ValueOrigin.PERSON, value=f"<{name}>")
        plain = literal_value(name, parameter, self.instruction)
        if plain is not None:
            return _composed_value(name, plain)
        if parameter.labels:
            return ComposedValue(origin=ValueOrigin.LABEL, value=parameter.labels[0])
        if parameter.required and parameter.default is None:
            what = parameter.description.rstrip(". ") or name.replace("_", " ")
            question = f"{name} of “{self.call_.does}”: {what}?"
            self.questions.append(
                ComposeQuestion(
                    id=question_id(self.call_.step, name),
                    text=f"{why}. {question}" if why else question,
                    options=parameter.values,
                    step=self.call_.step,
                    parameter=name,
                )
            )
        return None

    def _from_answer(
        self, name: str, parameter: ComponentParameter, answer: str
    ) -> tuple[ComposedValue | None, str]:
        if is_secret_name(name) or is_placeholder(without_secrets(answer)):
            return ComposedValue(origin=ValueOrigin.PERSON, value=f"<{name}>"), ""
        error = parameter.validation_error(answer)
        if error:
            return None, f"“{answer[:80]}” does not fit: {error}"
        return ComposedValue(value=answer), ""

    def _from_argument(
        self, name: str, parameter: ComponentParameter, text: str
    ) -> tuple[ComposedValue | None, str]:
        reference = _REFERENCE.match(text.strip())
        if reference:
            return self._from_reference(reference)
        if is_secret_name(name) or is_placeholder(text):
            return _composed_value(name, text), ""
        if error := parameter.validation_error(text):
            return None, error
        is_default = parameter.default is not None and text.strip() == parameter.default.strip()
        if not is_default and not follows(text, self.instruction, name):
            return None, f"“{text[:80]}” was not said"
        return ComposedValue(value=text), ""

    def _from_reference(self, reference: re.Match[str]) -> tuple[ComposedValue | None, str]:
        """Return a field of an earlier step, under its component as the executor names it."""
        earlier = next((call for call in self.before if call.step == reference["step"]), None)
        component = self.components.find(earlier.component) if earlier else None
        if component is None:
            return None, f"{reference['step']} tells nothing before this step"
        field_ = reference["field"] or (component.tells[0] if len(component.tells) == 1 else "")
        if component.source == "executor" and field_ not in component.tells:
            return None, f"{component.name} tells {', '.join(component.tells) or 'no field'}"
        path = f"{component.name}.{field_}" if field_ else component.name
        return ComposedValue(origin=ValueOrigin.FIELD, value=path), ""


def current_arguments(calls: Sequence[ComposedCall]) -> StepArguments:
    """Return the calls' values in the form that a filler gives them."""
    steps = {call.component: call.step for call in calls if call.component}
    return {
        call.step: {
            name: _current_argument(value, steps)
            for name, value in call.parameters.items()
            if value.origin is not ValueOrigin.LABEL
        }
        for call in calls
    }


def _current_argument(value: ComposedValue, steps: Mapping[str, str]) -> str:
    if value.origin is ValueOrigin.PERSON:
        return PLACEHOLDERS[SECRET]
    if value.origin is not ValueOrigin.FIELD:
        return value.value
    component, _, field_name = value.value.partition(".")
    step = steps.get(component, "")
    return f"@{step}.{field_name}" if field_name else f"@{step}"


def _composed_value(name: str, text: str) -> ComposedValue:
    if is_secret_name(name) or is_placeholder(text):
        return ComposedValue(origin=ValueOrigin.PERSON, value=f"<{name}>")
    return ComposedValue(value=text)


def _texts(value: object) -> Iterator[str]:
    """Yield a value as text; a list is joined by commas, nested values are flattened."""
    match value:
        case str():
            yield value.strip()
        case bool():
            yield "true" if value else "false"
        case int() | float():
            yield str(value)
        case list() | tuple():
            yield ", ".join(text for each in value for text in _texts(each))
        case Mapping():
            yield ", ".join(
                f"{key}: {text}" for key, each in value.items() for text in _texts(each)
            )
