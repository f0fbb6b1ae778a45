"""Bindings proposed from a page's commands and words, and from what tools say of themselves."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from services.executor.bindings.asked import answer_tests
from services.executor.bindings.binding import Argument, Binding, Origin
from services.executor.bindings.called import called
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.target import Target
from services.executor.tools.template import is_blank
from services.executor.tools.tool import BadArgumentError, Effect, SshWay, Tool
from services.language.words import rarity, tokenise
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.path import is_box

LEAST_SHARE = 0.55
"""Of a step's words, weighed by rarity among the tools, that a tool must share with it."""
LEAST_LEAD = 0.1
"""By which it must be ahead of the next tool."""
_ONCE_MORE = frozenset(tokenise("again once more anew now then afterwards"))
"""What a step says that does the same as one before."""
FRAMES = frozenset({"configure terminal", "conf t", "end", "exit", "configure", "commit"})
"""Lines around a change of a configuration; the adapter says them itself."""


class Proposing:
    """Proposes for the workflows of one catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def bindings(self, workflow: Workflow, labels: Mapping[str, str]) -> tuple[Binding, ...]:
        """One for each step that is no end, in their order; without a tool it is a person's.

        How a checklist ended is a person's to say: no binding is proposed for it.
        """
        made: dict[str, Binding] = {}
        for step in workflow.steps:
            is_ending = workflow.is_checklist and not is_box(step)
            if step.kind is StepKind.TERMINAL or is_ending:
                continue
            is_bare = step.kind is StepKind.PROCESS and not step.commands
            composed = called(step.id, step.text, self._catalogue) if is_bare else None
            made[step.id] = composed or self._binding(workflow, step, labels, made)
        return tuple(made.values())

    def _binding(
        self,
        workflow: Workflow,
        step: Step,
        labels: Mapping[str, str],
        made: Mapping[str, Binding],
    ) -> Binding:
        lines = (line for command in step.commands for line in command.splitlines())
        commands = [each for line in lines if (each := line.strip()) and each.lower() not in FRAMES]
        if step.kind is StepKind.DECISION:
            return self._of_question(workflow, step, labels, made, commands)
        found = self._by_command(commands) if commands else None
        if found:
            tool, told = found
            return self._call(step, tool, told, labels, made, why=f"its command is {tool.name}'s")
        if commands:
            return Binding(step=step.id, why="no tool has its commands")
        if told_of := self._told_in(step.text):
            tool, told = told_of
            return self._call(step, tool, told, labels, made, why=f"it tells {tool.name}'s command")
        by_words = self._by_words(step.text)
        if by_words is None:
            return Binding(step=step.id, why="no tool says that it does this")
        return self._call(step, by_words, {}, labels, made, why="the tool's words are the step's")

    def _of_question(
        self,
        workflow: Workflow,
        step: Step,
        labels: Mapping[str, str],
        made: Mapping[str, Binding],
        commands: Sequence[str],
    ) -> Binding:
        """A question is answered by its own command, by a look before it, or by its words."""
        conditions = [edge.condition for edge in workflow.exits(step.id)]
        found = self._by_command(commands) if commands else None
        looks: list[tuple[Tool, dict[str, str] | None, str]] = []
        found = found or self._told_in(step.text)
        if found:
            looks.append((*found, "its command"))
        looks += [
            (self._catalogue.tool(made[before].tool), None, "the look before it")
            for before in _before(workflow, step.id)
            if before in made and made[before].tool
        ]
        if by_words := self._by_words(step.text, only=Effect.READ):
            looks.append((by_words, {}, "the tool's words"))
        looks += [(tool, {}, "a tool's fields") for tool in self._same_targets(looks)]
        for tool, told, why in looks:
            if tool.effect is Effect.CHANGE:
                continue
            answers = answer_tests(step.text, conditions, tool.output.fields)
            if answers:
                same = _made_by(made, tool.name)
                if told is None and same:
                    return same.model_copy(
                        update={"step": step.id, "answers": answers, "why": f"answered by {why}"}
                    )
                bound = self._call(step, tool, told or {}, labels, made, why=f"answered by {why}")
                return bound.model_copy(update={"answers": answers})
        return Binding(step=step.id, why="no tool's output tells its answers apart")

    def _same_targets(self, looks: Sequence[tuple[Tool, object, str]]) -> Iterable[Tool]:
        """Of a change that stands before, what it is verified by."""
        for tool, _, _ in looks:
            if tool.verify:
                yield self._catalogue.tool(tool.verify.tool)

    def _by_command(self, commands: Sequence[str]) -> tuple[Tool, dict[str, str]] | None:
        """The tool that has these commands and no others."""
        for tool in self._catalogue.tools:
            if not isinstance(tool.way, SshWay) or len(tool.way.templates) != len(commands):
                continue
            found: dict[str, str] = {}
            for template, command in zip(tool.way.templates, commands, strict=True):
                told = template.arguments_of(command)
                if told is None or any(found.get(k, v) != v for k, v in told.items()):
                    break
                found |= told
            else:
                return tool, found
        return None

    def _told_in(self, text: str) -> tuple[Tool, dict[str, str]] | None:
        """The tool whose command a sentence tells; of several the longest command."""
        found = [
            (len(template.words), tool, told)
            for tool in self._catalogue.tools
            if isinstance(tool.way, SshWay) and len(tool.way.templates) == 1
            for template in tool.way.templates
            if len(template.words) > 1 and (told := template.found_in(text)) is not None
        ]
        if not found:
            return None
        longest = max(length for length, _, _ in found)
        best = [(tool, told) for length, tool, told in found if length == longest]
        return best[0] if len(best) == 1 else None

    def _by_words(self, text: str, only: Effect | None = None) -> Tool | None:
        wanted = set(tokenise(text)) - _ONCE_MORE
        weights = {word: self._weight(word) for word in wanted}
        whole = sum(weights.values())
        if not whole:
            return None
        shares = sorted(
            (
                (sum(weights[word] for word in wanted & words) / whole, tool.name)
                for tool, words in self._words
                if only is None or tool.effect is only
            ),
            reverse=True,
        )
        if not shares or shares[0][0] < LEAST_SHARE:
            return None
        if len(shares) > 1 and shares[0][0] - shares[1][0] < LEAST_LEAD:
            return None
        return self._catalogue.tool(shares[0][1])

    @cached_property
    def _words(self) -> list[tuple[Tool, set[str]]]:
        return [
            (
                tool,
                set(
                    tokenise(" ".join((tool.name.replace("_", " "), tool.description, *tool.says)))
                ),
            )
            for tool in self._catalogue.tools
        ]

    def _weight(self, word: str) -> float:
        having = sum(word in words for _, words in self._words)
        return rarity(having, max(1, len(self._words))) if having else math.log(2)

    def _call(
        self,
        step: Step,
        tool: Tool,
        told: Mapping[str, str],
        labels: Mapping[str, str],
        made: Mapping[str, Binding],
        *,
        why: str,
    ) -> Binding:
        arguments = {
            name: self._argument(tool, name, told.get(name, ""), labels, made)
            for name in tool.parameters
        }
        open_ = [name for name, each in arguments.items() if each.origin is Origin.PERSON]
        if open_:
            why += f"; a person fills in {', '.join(open_)}"
        return Binding(step=step.id, tool=tool.name, arguments=arguments, why=why)

    def _argument(
        self,
        tool: Tool,
        name: str,
        told: str,
        labels: Mapping[str, str],
        made: Mapping[str, Binding],
    ) -> Argument:
        """A label goes before the page: a name in a page's command is mostly an example."""
        parameter = tool.parameters[name]
        for label in parameter.labels:
            if labels.get(label):
                return Argument(origin=Origin.LABEL, value=label)
        if told and not is_blank(told):
            try:
                return Argument(origin=Origin.GIVEN, value=parameter.checked(name, told))
            except BadArgumentError:
                pass
        for binding in reversed([*made.values()]):
            if binding.tool and name in self._catalogue.tool(binding.tool).output.fields:
                return Argument(origin=Origin.FIELD, value=f"{binding.tool}.{name}")
        return Argument(origin=Origin.PERSON)


def target_of(binding: Binding, catalogue: Catalogue, labels: Mapping[str, str]) -> Target | None:
    """The target that the ticket names, or the only one of its kind; None where neither is."""
    tool = catalogue.tool(binding.tool)
    named = labels.get(binding.target or tool.label, "")
    if named in catalogue.targets_by_name:
        return catalogue.targets_by_name[named]
    if named:
        return None
    of_kind = [target for target in catalogue.targets if target.kind == tool.target]
    return of_kind[0] if len(of_kind) == 1 else None


def _before(workflow: Workflow, step: str) -> Iterable[str]:
    """The steps before it, the nearest first; each once."""
    seen, waiting = {step}, [step]
    while waiting:
        here = waiting.pop(0)
        for edge in workflow.entries(here):
            if edge.source not in seen:
                seen.add(edge.source)
                waiting.append(edge.source)
                yield edge.source


def _made_by(made: Mapping[str, Binding], tool: str) -> Binding | None:
    return next((each for each in reversed([*made.values()]) if each.tool == tool), None)
