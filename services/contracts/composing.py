"""Composing: a sentence becomes a procedure over components, or changes one that is stored."""

from enum import StrEnum
from typing import Annotated, Any, Protocol

from pydantic import Field

from services.contracts.proposals import ProposedPage
from services.contracts.readings import EditPreview, EditRequest, GivenProcedure
from services.kit.http.client import ServiceClient
from services.kit.value import Value

MOST_WORDS = 8_000
"""Characters of an instruction."""
MOST_STEPS = 120
COMPOSED_WITHIN_S = 180.0
"""Longest that an answer takes where a model composes."""
_Name = Annotated[str, Field(max_length=200)]
_Text = Annotated[str, Field(max_length=MOST_WORDS)]


class ComposeAnswer(Value):
    """An answer to a question of a draft."""

    question: _Name
    """Its id."""
    answer: str = Field(max_length=2_000)


class ComposeQuestion(Value):
    """What a draft lacks, which only a person can say."""

    id: _Name
    text: _Text
    options: tuple[_Name, ...] = Field(default=(), max_length=100)
    """The only answers, where there are any."""
    step: _Name = ""
    """The node that it is about."""
    parameter: _Name = ""


class ValueOrigin(StrEnum):
    """Where a parameter's value comes from, in the words of the executor's bindings."""

    GIVEN = "given"
    """Somebody said it."""
    LABEL = "label"
    """A label of the ticket that the procedure is carried out for."""
    FIELD = "field"
    """What an earlier step tells, as `component.field`."""
    PERSON = "person"
    """Whoever carries it out fills it in: it is secret."""


class ComposedValue(Value):
    """The value of a parameter."""

    origin: ValueOrigin = ValueOrigin.GIVEN
    value: str = Field(default="", max_length=4_000)


class ComposedCall(Value):
    """A step and the component that does it."""

    step: _Name
    """The id of its node."""
    does: str = Field(min_length=1, max_length=1_000)
    """In an imperative, without the call."""
    component: _Name = ""
    """Empty: a person does it."""
    options: tuple[_Name, ...] = Field(default=(), max_length=10)
    """Components that fit as well: somebody chooses."""
    parameters: dict[_Name, ComposedValue] = Field(default={}, max_length=100)


class Danger(StrEnum):
    """How far a step goes."""

    CHANGES = "changes"
    DESTROYS = "destroys"


class ComposedChange(Value):
    """A step that does more than look."""

    step: _Name
    text: _Text
    component: _Name = ""
    danger: Danger
    what: _Text = ""


class Composition(Value):
    """A draft: nothing of it is stored. It is sent back to be answered, changed or proposed."""

    said: tuple[_Text, ...] = Field(default=(), max_length=20)
    """What was asked for, then how it was to be changed; secrets are placeholders."""
    answers: tuple[ComposeAnswer, ...] = Field(default=(), max_length=200)
    title: str = Field(default="", max_length=300)
    text: str = Field(default="", max_length=200_000)
    """The page, in Markdown."""
    procedure: GivenProcedure
    """Its nodes cite the lines of the page."""
    calls: tuple[ComposedCall, ...] = Field(default=(), max_length=MOST_STEPS)
    bindings: tuple[dict[str, Any], ...] = Field(default=(), max_length=MOST_STEPS)
    """In the executor's form, by the steps of the procedure's workflow."""
    questions: tuple[ComposeQuestion, ...] = Field(default=(), max_length=500)
    findings: tuple[_Text, ...] = Field(default=(), max_length=200)
    """What checks of workflows and of paths find."""
    errors: int = 0
    """How many of them are errors: a draft with one is not proposed."""
    changes: tuple[ComposedChange, ...] = Field(default=(), max_length=MOST_STEPS)
    words: str = Field(default="", max_length=2_000)
    """What has to be said in so many words to propose it, since it destroys something."""
    notes: tuple[_Text, ...] = Field(default=(), max_length=200)
    """What was refused, struck or left out."""
    composed_by: _Name = ""
    """`rules`, or `team` and the name of its model."""


class ComposeRequest(Value):
    """A sentence, and what it goes on from."""

    instruction: str = Field(default="", max_length=MOST_WORDS)
    """What is to be done; with a draft how that is to be changed, or nothing."""
    draft: Composition | None = None
    answers: tuple[ComposeAnswer, ...] = Field(default=(), max_length=200)
    """To questions of the draft."""


class CompositionProposal(Value):
    """A draft that is to become a proposed page."""

    draft: Composition
    words: str = Field(default="", max_length=2_000)
    """See `Composition.words`."""


class EditInWords(Value):
    """A change of a stored reading, in a sentence."""

    text_hash: _Name
    instruction: str = Field(min_length=1, max_length=MOST_WORDS)
    procedure: int = Field(default=0, ge=0)
    revision: _Name = ""
    """What the person saw; empty for whatever is served now."""


class WordedEdit(Value):
    """The operations that a sentence means, and what they would do; nothing is stored."""

    edit: EditRequest
    """To be sent to `Readings.edit` by whoever agrees."""
    preview: EditPreview
    written_by: _Name
    """`rules`, or the name of the model."""


class Composing(Protocol):
    """Drafts from sentences. It stores nothing: `Proposals` and `Readings` do what comes of it."""

    def compose(self, wanted: ComposeRequest) -> Composition:
        """Draft a procedure, change a draft, or take answers to its questions.

        Raises:
            InvalidInputError: There is nothing to go by, or the draft is none.
            NeedsModelError: It takes a language model, and there is none.
        """

    def page(self, wanted: CompositionProposal) -> ProposedPage:
        """The page that a complete draft is, to be proposed in the caller's name.

        Raises:
            InvalidInputError: Something is open or wrong, or the words are not those it takes.
        """

    def edit_in_words(self, wanted: EditInWords) -> WordedEdit:
        """What a sentence would change of a reading. Raises as `Readings.preview` does.

        Raises:
            InvalidInputError: It is not understood, or cannot be done; the message says why.
            NeedsModelError: It takes a language model, and there is none.
        """


class ComposingClient:
    """`Composing` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def compose(self, wanted: ComposeRequest) -> Composition:
        """See `Composing.compose`."""
        return Composition.model_validate(self._client.post("/v1/compositions", wanted))

    def page(self, wanted: CompositionProposal) -> ProposedPage:
        """See `Composing.page`."""
        found = self._client.post("/v1/compositions/pages", wanted)
        return ProposedPage.model_validate(found)

    def edit_in_words(self, wanted: EditInWords) -> WordedEdit:
        """See `Composing.edit_in_words`."""
        return WordedEdit.model_validate(self._client.post("/v1/edits-in-words", wanted))
