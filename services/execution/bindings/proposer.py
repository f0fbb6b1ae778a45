"""Proposals of bindings, from a page's commands and words and from the descriptions of tools."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from services.execution.bindings.answer_tests import derive_answer_tests
from services.execution.bindings.binding import Argument, Binding, Origin, parse_written_call
from services.execution.bindings.targets import keep_named_targets
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.template import is_blank
from services.execution.tools.tool import BadArgumentError, SshWay, Tool, ToolEffect
from services.language.words import rarity, tokenise
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.path import is_box

LEAST_SHARE = 0.55
"""Least share of a step's words, weighted by rarity among the tools, that a tool must have."""
LEAST_LEAD = 0.1
"""Least margin of the best tool over the next one."""
_REPETITION_WORDS = frozenset(tokenise("again once more anew now then afterwards"))
"""Words of a step that repeats an earlier one."""
FRAMES = frozenset({"configure terminal", "conf t", "end", "exit", "configure", "commit"})
"""Lines around a configuration change; the adapter sends them itself."""


class BindingProposer:
    """Proposer of bindings for workflows, from one catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def propose(self, workflow: Workflow, labels: Mapping[str, str]) -> tuple[Binding, ...]:
        """Return a binding for each step that is no end, in order; without a tool it is a person's.

        How a checklist ended is a person's to say: no binding is proposed for it. Where the target
        comes from is told by `choose_target`.
        """
        made: dict[str, Binding] = {}
        for step in workflow.steps:
            is_ending = workflow.is_checklist and not is_box(step)
            if step.kind is StepKind.TERMINAL or is_ending:
                continue
            is_bare = step.kind is StepKind.PROCESS and not step.commands
            composed = parse_written_call(step.id, step.text, self._catalogue) if is_bare else None
            proposed = composed or self._propose_step(workflow, step, labels, made)
            made[step.id] = keep_named_targets(proposed, self._catalogue, labels)
        return tuple(made.values())

    def _propose_step(
        self,
        workflow: Workflow,
        step: Step,
        labels: Mapping[str, str],
        made: Mapping[str, Binding],
    ) -> Binding:
        lines = (line for command in step.commands for line in command.splitlines())
        commands = [each for line in lines if (each := line.strip()) and each.lower() not in FRAMES]
        if step.kind is StepKind.DECISION:
            return self._propose_question(workflow, step, labels, made, commands)
        by_command = self._match_commands(commands) if commands else None
        if by_command:
            tool, arguments = by_command
            return self._call(
                step, tool, arguments, labels, made, why=f"its command is {tool.name}'s"
            )
        if commands:
            return Binding(step=step.id, why="no tool has its commands")
        if in_sentence := self._match_sentence(step.text):
            tool, arguments = in_sentence
            return self._call(
                step, tool, arguments, labels, made, why=f"it tells {tool.name}'s command"
            )
        by_words = self._match_words(step.text)
        if by_words is None:
            return Binding(step=step.id, why="no tool says that it does this")
        return self._call(step, by_words, {}, labels, made, why="the tool's words are the step's")

    def _propose_question(
        self,
        workflow: Workflow,
        step: Step,
        labels: Mapping[str, str],
        made: Mapping[str, Binding],
        commands: Sequence[str],
    ) -> Binding:
        """Bind a question to its own command, a look before it, or the tool that has its words."""
        conditions = [edge.condition for edge in workflow.exits(step.id)]
        match = self._match_commands(commands) if commands else None
        looks: list[tuple[Tool, dict[str, str] | None, str]] = []
        match = match or self._match_sentence(step.text)
        if match:
            looks.append((*match, "its command"))
        looks += [
            (self._catalogue.tool(made[before].tool), None, "the look before it")
            for before in _steps_before(workflow, step.id)
            if before in made and made[before].tool
        ]
        if by_words := self._match_words(step.text, only=ToolEffect.READ):
            looks.append((by_words, {}, "the tool's words"))
        looks += [
            (self._catalogue.tool(tool.verify.tool), {}, "a tool's fields")
            for tool, _, _ in looks
            if tool.verify
        ]
        for tool, arguments, why in looks:
            if tool.effect is ToolEffect.CHANGE:
                continue
            answers = derive_answer_tests(step.text, conditions, tool.output.fields)
            if answers:
                reason = f"answered by {why}"
                same = next((b for b in reversed([*made.values()]) if b.tool == tool.name), None)
                if arguments is None and same:
                    update = {"step": step.id, "answers": answers, "why": reason}
                    return same.model_copy(update=update)
                bound = self._call(step, tool, arguments or {}, labels, made, why=reason)
                return bound.model_copy(update={"answers": answers})
        return Binding(step=step.id, why="no tool's output tells its answers apart")

    def _match_commands(self, commands: Sequence[str]) -> tuple[Tool, dict[str, str]] | None:
        """Return the tool that has exactly these commands, with its arguments."""
        for tool in self._catalogue.tools:
            if not isinstance(tool.way, SshWay) or len(tool.way.templates) != len(commands):
                continue
            arguments: dict[str, str] = {}
            for template, command in zip(tool.way.templates, commands, strict=True):
                matched = template.match_command(command)
                if matched is None or any(arguments.get(k, v) != v for k, v in matched.items()):
                    break
                arguments |= matched
            else:
                return tool, arguments
        return None

    def _match_sentence(self, text: str) -> tuple[Tool, dict[str, str]] | None:
        """Return the tool whose command is in a sentence; of several the longest command."""
        matches = [
            (len(template.words), tool, arguments)
            for tool in self._catalogue.tools
            if isinstance(tool.way, SshWay) and len(tool.way.templates) == 1
            for template in tool.way.templates
            if len(template.words) > 1 and (arguments := template.match_in_text(text)) is not None
        ]
        if not matches:
            return None
        longest = max(length for length, _, _ in matches)
        best = [(tool, arguments) for length, tool, arguments in matches if length == longest]
        return best[0] if len(best) == 1 else None

    def _match_words(self, text: str, only: ToolEffect | None = None) -> Tool | None:
        wanted = set(tokenise(text)) - _REPETITION_WORDS
        having = {word: sum(word in words for _, words in self._words) for word in wanted}
        tools = max(1, len(self._words))
        weights = {w: rarity(n, tools) if n else math.log(2) for w, n in having.items()}
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

    def _call(
        self,
        step: Step,
        tool: Tool,
        written: Mapping[str, str],
        labels: Mapping[str, str],
        made: Mapping[str, Binding],
        *,
        why: str,
    ) -> Binding:
        arguments = {
            name: self._argument(tool, name, written.get(name, ""), labels, made)
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
        written: str,
        labels: Mapping[str, str],
        made: Mapping[str, Binding],
    ) -> Argument:
        """Return the source of an argument; a label goes before the page.

        A name in a page's command is mostly an example.
        """
        parameter = tool.parameters[name]
        for label in parameter.labels:
            if labels.get(label):
                return Argument(origin=Origin.LABEL, value=label)
        if written and not is_blank(written):
            try:
                return Argument(origin=Origin.LITERAL, value=parameter.checked(name, written))
            except BadArgumentError:
                pass
        for binding in reversed([*made.values()]):
            if binding.tool and name in self._catalogue.tool(binding.tool).output.fields:
                return Argument(origin=Origin.FIELD, value=f"{binding.tool}.{name}")
        return Argument(origin=Origin.PERSON)


def _steps_before(workflow: Workflow, step: str) -> Iterable[str]:
    """Yield the ids of the steps before this one, the nearest first, each once."""
    seen, waiting = {step}, [step]
    while waiting:
        here = waiting.pop(0)
        for edge in workflow.entries(here):
            if edge.source not in seen:
                seen.add(edge.source)
                waiting.append(edge.source)
                yield edge.source
