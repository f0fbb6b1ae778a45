"""Composing: a sentence becomes a procedure of components, or changes a stored one."""

from enum import StrEnum
from typing import Annotated, Any, Protocol

from pydantic import Field

from services.contracts.client import ContractClient, route
from services.contracts.proposals import ProposedPage
from services.contracts.readings import EditPreview, EditRequest, SubmittedProcedure
from services.kit.value import Value

MOST_WORDS = 8_000
"""Most characters of an instruction."""
MOST_STEPS = 120
COMPOSED_WITHIN_S = 180.0
"""Longest time an answer takes if a model composes."""
_Name = Annotated[str, Field(max_length=200)]
_Text = Annotated[str, Field(max_length=MOST_WORDS)]


class ComposeAnswer(Value):
    """An answer to a question of a draft."""

    question: _Name
    """Id of the question."""
    answer: str = Field(max_length=2_000)


class ComposeQuestion(Value):
    """A gap of a draft that only a person can fill."""

    id: _Name
    text: _Text
    options: tuple[_Name, ...] = Field(default=(), max_length=100)
    """The only possible answers, if the choice is closed."""
    step: _Name = ""
    """Id of the node that the question is about."""
    parameter: _Name = ""


class ValueOrigin(StrEnum):
    """Origin of a parameter's value, as in the executor's bindings."""

    EXPLICIT = "given"
    """A value that a person stated."""
    LABEL = "label"
    """A label of the ticket that the procedure is run for."""
    FIELD = "field"
    """An output field of an earlier step, as `component.field`."""
    PERSON = "person"
    """A secret, entered by the person who runs the procedure."""


class ComposedValue(Value):
    """The value of a parameter."""

    origin: ValueOrigin = ValueOrigin.EXPLICIT
    value: str = Field(default="", max_length=4_000)


class ComposedCall(Value):
    """A step and the component that performs it."""

    step: _Name
    """Id of the step's node."""
    does: str = Field(min_length=1, max_length=1_000)
    """The action in the imperative, without the call."""
    component: _Name = ""
    """Name of the component; empty if a person does the step."""
    options: tuple[_Name, ...] = Field(default=(), max_length=10)
    """Components that fit as well, for a person to choose from."""
    parameters: dict[_Name, ComposedValue] = Field(default={}, max_length=100)


class ChangeSeverity(StrEnum):
    """Severity of a step's change."""

    CHANGES = "changes"
    DESTROYS = "destroys"


class ComposedChange(Value):
    """A step that changes something."""

    step: _Name
    text: _Text
    component: _Name = ""
    danger: ChangeSeverity
    what: _Text = ""


class Composition(Value):
    """A draft, which is never stored: clients send it back to answer, change or propose it."""

    said: tuple[_Text, ...] = Field(default=(), max_length=20)
    """Instructions: the original one, then the requested changes; secrets are placeholders."""
    answers: tuple[ComposeAnswer, ...] = Field(default=(), max_length=200)
    title: str = Field(default="", max_length=300)
    text: str = Field(default="", max_length=200_000)
    """The page, in Markdown."""
    procedure: SubmittedProcedure
    """The procedure; its nodes cite lines of the page."""
    calls: tuple[ComposedCall, ...] = Field(default=(), max_length=MOST_STEPS)
    bindings: tuple[dict[str, Any], ...] = Field(default=(), max_length=MOST_STEPS)
    """Bindings in the executor's form, by the steps of the procedure's workflow."""
    questions: tuple[ComposeQuestion, ...] = Field(default=(), max_length=500)
    findings: tuple[_Text, ...] = Field(default=(), max_length=200)
    """Findings of the workflow and path checks."""
    errors: int = 0
    """Number of findings that are errors; a draft with an error cannot be proposed."""
    changes: tuple[ComposedChange, ...] = Field(default=(), max_length=MOST_STEPS)
    words: str = Field(default="", max_length=2_000)
    """Sentence that has to be repeated to propose a draft that destroys something."""
    notes: tuple[_Text, ...] = Field(default=(), max_length=200)
    """Notes on what was refused, struck or left out."""
    composed_by: _Name = ""
    """`rules`, or `team` and the name of its model."""


class ComposeRequest(Value):
    """An instruction, and the draft that it applies to, if any."""

    instruction: str = Field(default="", max_length=MOST_WORDS)
    """Task to compose; with a draft, the change to make to it, or nothing."""
    draft: Composition | None = None
    answers: tuple[ComposeAnswer, ...] = Field(default=(), max_length=200)
    """Answers to questions of the draft."""


class CompositionProposal(Value):
    """A draft that is to become a proposed page."""

    draft: Composition
    words: str = Field(default="", max_length=2_000)
    """The sentence that confirms the proposal; see `Composition.words`."""


class EditInWords(Value):
    """Request to change a stored reading, in a sentence."""

    text_hash: _Name
    instruction: str = Field(min_length=1, max_length=MOST_WORDS)
    procedure: int = Field(default=0, ge=0)
    revision: _Name = ""
    """Revision that the person saw; empty for the one served now."""


class WordedEdit(Value):
    """Edit operations that a sentence stands for, and their effect; nothing is stored."""

    edit: EditRequest
    """The edit, to be sent to `Readings.edit` by a person who agrees."""
    preview: EditPreview
    written_by: _Name
    """`rules`, or the name of the model."""


class Compositions(Protocol):
    """Drafts from sentences; `Proposals` and `Readings` store the outcome."""

    def compose(self, wanted: ComposeRequest) -> Composition:
        """Draft a procedure, change a draft, or take answers to its questions.

        Raises:
            InvalidInputError: There is nothing to go by, or the draft is none.
            NeedsModelError: It takes a language model, and there is none.
        """

    def page(self, wanted: CompositionProposal) -> ProposedPage:
        """Return the page of a complete draft, to be proposed in the caller's name.

        Raises:
            InvalidInputError: Something is open or wrong, or the words are not those it takes.
        """

    def edit_in_words(self, wanted: EditInWords) -> WordedEdit:
        """Preview the change that a sentence makes to a reading, as `Readings.preview` does.

        Raises:
            InvalidInputError: It is not understood, or cannot be done; the message says why.
            NeedsModelError: It takes a language model, and there is none.
        """


class CompositionsClient(ContractClient):
    """`Compositions` in another process, over HTTP."""

    compose = route(Compositions.compose, "POST", "/v1/compositions")
    page = route(Compositions.page, "POST", "/v1/compositions/pages")
    edit_in_words = route(Compositions.edit_in_words, "POST", "/v1/edits-in-words")
