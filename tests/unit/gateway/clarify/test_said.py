from collections.abc import Sequence

from services.gateway.clarify.asked import Asked
from services.gateway.clarify.branches import branch_questions
from services.gateway.clarify.said import Said
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.ports import Vectors
from tests.unit.gateway.clarify.charts import DISK


class Alike(HashingEmbedder):
    """Takes some texts for one another."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self._texts = texts

    def embed(self, texts: Sequence[str]) -> Vectors:
        first = self._texts[0]
        return super().embed([first if text in self._texts else text for text in texts])


FULL, SNAPSHOT = "Is the log partition full?", "Does a snapshot hold deleted blocks?"


def test_what_a_ticket_says_word_by_word_is_told():
    assert Said("The log partition is full since noon").open([FULL, SNAPSHOT]) == [SNAPSHOT]


def test_what_it_says_in_other_words_is_told_where_an_embedder_sees_it():
    said = "No space is left under /var/log"
    assert Said(said).open([FULL]) == [FULL]
    assert Said(said, Alike(said, FULL)).open([FULL, SNAPSHOT]) == [SNAPSHOT]


def test_a_sentence_of_many_is_enough():
    said = "Users wait.\nNo space is left under /var/log. It began at noon."
    alike = Alike("No space is left under /var/log.", FULL)
    assert Said(said, alike).open([FULL]) == []


def test_a_deed_of_the_same_kind_is_told():
    said = Said("leaf-3 drops frames\nAlready power-cycled it, no change.")
    asked = ["Has the switch been restarted?", "Has the cable been replaced?"]
    assert said.open(asked) == ["Has the cable been replaced?"]


def test_an_empty_ticket_tells_nothing():
    assert Said("", HashingEmbedder()).open([FULL]) == [FULL]
    assert Said("", HashingEmbedder()).open([]) == []


def test_no_branch_is_asked_for_that_the_ticket_tells_in_other_words():
    said = "No space is left under /var/log"
    asked = Asked(ticket_text=said)
    questions = branch_questions(DISK, asked, Alike(said, FULL))
    assert FULL not in [text for question in questions for text in question.decisions]
    assert SNAPSHOT in [text for question in questions for text in question.decisions]
