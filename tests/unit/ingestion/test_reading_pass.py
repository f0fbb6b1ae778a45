"""Pages read by a model: what is asked, kept, resumed and told."""

import json
import threading
from typing import ClassVar

import pytest

from services.ingestion.model_pass import NoChatModelError, PassUnfinishedError
from services.ingestion.readings.reading_pass import ChosenPages
from services.knowledge.screening.document import hash_of
from services.knowledge.stores.sql_symptom_texts import SqlSymptomTexts
from services.llm.chat_model import ChatRequest, Message, ModelAnswerError, ModelUnavailableError
from services.llm.guard import GuardedChatModel, Prices
from services.llm.scripted import ScriptedChatModel
from services.runbook.model import Do, Procedure, Reader, Reading
from services.runbook.store.sql_readings import SqlReadingStore
from tests.unit.ingestion.harness import Killed, unavailable

ALL = ChosenPages()


class FakeReader:
    """Asks the model once a page; pages that hold its troubles fail."""

    version = "read@1"
    troubles: ClassVar[dict[str, BaseException]]
    read_pages: ClassVar[list[str]]

    def __init__(self, model):
        self._model = model

    def estimate(self, text):
        return len(text)

    def ticket_texts(self, _text):
        return ()

    def read(self, text):
        self.read_pages.append(text)
        for word, error in self.troubles.items():
            if word in text:
                raise error
        message = Message(role="user", content="one two three")
        self._model.complete(ChatRequest(messages=(message,), max_tokens=9, prompt="read"))
        step = Do(text="Look", lines=((1, 1),))
        procedures = () if "nothing" in text else (Procedure(title="By model", body=(step,)),)
        return Reading(
            reader=Reader.MODEL,
            version=self.version,
            model=self._model.name,
            procedures=procedures,
        )


@pytest.fixture
def reader():
    return type("OwnReader", (FakeReader,), {"troubles": {}, "read_pages": []})


@pytest.fixture
def model():
    return GuardedChatModel(
        ScriptedChatModel(["four five"]), tries=1, prices=Prices(1.0, 2.0), sleep=lambda _s: None
    )


@pytest.fixture
def pages(harness):
    harness.settings = harness.settings.model_copy(update={"read_pages": 1})
    texts = [f"# Page {number}\n\n1. Look.\n" for number in range(4)]
    for number, text in enumerate(texts):
        harness.write(f"{number}.md", text)
    harness.write("copy.md", texts[0])
    harness.ingest()
    return texts


def run_of(harness, model, reader):
    return harness.service.reading_pass(model, reader)


def test_pages_are_read_once_whatever_they_are_called(harness, pages, model, reader):
    run = run_of(harness, model, reader)
    expected = run.estimate(ALL)
    assert (expected.pages, expected.read, expected.tokens) == (4, 0, sum(map(len, pages)))
    assert expected.cost == pytest.approx(expected.tokens * 2 / 1_000_000)
    assert reader.read_pages == []
    progress = []
    report = run.run(ALL, progress.append)
    assert (report.total, report.read, report.left) == (4, 4, 0)
    assert (report.tokens_in, report.tokens_out) == (12, 8)
    assert report.cost == pytest.approx((12 + 16) / 1_000_000)
    assert [each.handled for each in progress] == [0, 1, 2, 3, 4]
    assert SqlReadingStore(harness.database).served(hash_of(pages[0])).reading.reader == "model"
    again = run_of(harness, model, reader)
    assert (again.estimate(ALL).pages, again.estimate(ALL).read) == (0, 4)
    assert again.run(ALL).unchanged == 4
    assert len(reader.read_pages) == 4


def test_only_what_changed_is_read_again_and_another_prompt_reads_all(
    harness, pages, model, reader
):
    run_of(harness, model, reader).run(ALL)
    harness.write("1.md", "# Page 1\n\n1. Look again.\n")
    harness.ingest()
    assert run_of(harness, model, reader).run(ALL).read == 1
    reader.version = "read@2"
    assert run_of(harness, model, reader).run(ALL).read == 4


def test_a_limit_and_a_bound_of_tokens_end_it_early(harness, pages, model, reader):
    assert run_of(harness, model, reader).run(ChosenPages(limit=1)).read == 1
    report = run_of(harness, model, reader).run(ChosenPages(tokens=6))
    assert (report.read, report.left) == (2, 1)


def test_only_pages_of_a_root(harness, pages, model, reader, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "o.md").write_text("# Other\n\n1. Look.\n")
    harness.ingest(other)
    report = run_of(harness, model, reader).run(ChosenPages(root=str(other)))
    assert (report.total, report.read) == (1, 1)


@pytest.mark.parametrize(
    "error", [ModelAnswerError("no JSON"), ModelUnavailableError("gone"), KeyError("x")]
)
def test_a_page_that_fails_comes_last_and_the_others_are_read(harness, pages, model, reader, error):
    reader.troubles["Page 0"] = error
    report = run_of(harness, model, reader).run(ALL)
    assert (report.read, report.left) == (3, 1)
    assert [each.document_id for each in report.failed] == ["0.md"]
    harness.write("9.md", "# Page 9\n\nnothing\n")
    harness.ingest()
    run = run_of(harness, model, reader)
    assert [each.document_id for each in run.estimate(ALL).failed] == ["0.md"]
    reader.troubles.clear()
    report = run.run(ALL)
    assert (report.read, report.without_procedure) == (2, 1)
    assert [text[:8] for text in reader.read_pages[-2:]] == ["# Page 9", "# Page 0"]
    assert run_of(harness, model, reader).estimate(ALL).failed == ()


def test_a_model_that_fails_at_all_pages_ends_it(harness, pages, model, reader):
    reader.troubles["Page"] = ModelUnavailableError("gone")
    for number in range(20):
        harness.write(f"more-{number}.md", f"# Page of {number}\n\n1. Look.\n")
    harness.ingest()
    with pytest.raises(PassUnfinishedError, match=r"5 pages in a row.*gone.*0 of 24"):
        run_of(harness, model, reader).run(ALL)
    assert len(reader.read_pages) == 5


def test_a_run_that_is_killed_keeps_what_was_read(harness, pages, model, reader):
    reader.troubles["Page 2"] = Killed()
    with pytest.raises(Killed):
        run_of(harness, model, reader).run(ALL)
    reader.troubles.clear()
    report = run_of(harness, model, reader).run(ALL)
    assert (report.read, report.unchanged) == (2, 2)


def test_a_store_that_is_away_ends_it(harness, pages, model, reader):
    reader.troubles["Page 1"] = unavailable()
    with pytest.raises(type(unavailable())):
        run_of(harness, model, reader).run(ALL)


def test_several_pages_are_read_at_a_time(harness, pages, model, reader):
    harness.settings = harness.settings.model_copy(update={"read_pages": 4})
    together = threading.Barrier(4, timeout=20)
    read = reader.read

    def read_together(self, text):
        together.wait()
        return read(self, text)

    reader.read = read_together
    assert run_of(harness, model, reader).run(ALL).read == 4


def test_without_a_model_it_says_what_to_set(harness):
    with pytest.raises(NoChatModelError, match="FLOWXPERT_MODEL_URL"):
        harness.service.reading_pass(None)


def test_the_reader_in_use_is_asked_about_a_page_and_its_answer_is_kept(harness):
    page = "# Fan stands still\n\n1. Look at the tray.\n2. Seat the fan.\n"
    harness.write("fan.md", page)
    harness.ingest()
    program = {
        "procedures": [
            {
                "title": "Fan stands still",
                "at": [[1, 4]],
                "steps": [
                    {"do": "Look at the tray", "at": [[3, 3]]},
                    {"do": "Seat the fan", "at": [[4, 4]], "core": True},
                ],
            }
        ]
    }
    model = GuardedChatModel(ScriptedChatModel([json.dumps(program)]), tries=1)
    run = harness.service.reading_pass(model)
    assert run.estimate(ALL).tokens > 500
    report = run.run(ALL)
    assert (report.read, report.failed, report.tokens_in > 0) == (1, (), True)
    detail = harness.service.readings("local").get(hash_of(page))
    assert (detail.reader, detail.reading.model) == (Reader.MODEL, "scripted")
    assert [node.text for node in detail.reading.procedures[0].body] == [
        "Look at the tray",
        "Seat the fan",
    ]
    assert harness.service.reading_pass(model).estimate(ALL).pages == 0


def test_what_people_write_of_a_page_is_kept_and_a_failure_of_it_costs_no_reading(
    harness, pages, model, reader
):
    def ticket_texts(_self, text):
        if text == pages[1]:
            raise ModelAnswerError("not JSON")
        return ("The pump hums", "It is hot")

    reader.ticket_texts = ticket_texts
    report = run_of(harness, model, reader).run(ALL)
    assert (report.read, report.failed) == (4, ())
    texts = SqlSymptomTexts(harness.database)
    model_name = harness.service.page_readings._query_embedder.model_name
    document_ids, vectors = texts.of_documents(model_name)
    assert sorted(document_ids) == sorted(["0.md", "copy.md", "2.md", "3.md"] * 2)
    assert len(vectors) == len(document_ids)
    harness.service.page_readings._ticket_texts.put(
        hash_of(pages[0]), ["It is hot"], vectors[:1], "an older model"
    )
    assert harness.service.page_readings.renew_ticket_texts()
    assert not harness.service.page_readings.renew_ticket_texts()
    assert len(texts.of_documents(model_name)[0]) == 6
