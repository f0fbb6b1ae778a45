import json
from pathlib import Path

import pytest

from evaluation.benches.logic.bench import measure, planned, walked
from evaluation.benches.logic.prompt_files import collected, plans, readings, write_prompts
from evaluation.benches.logic.setup import Way
from evaluation.commands.reading import read_prompts, record_readings
from evaluation.material.gold_pages import page_of_corpus
from evaluation.material.logic_rows import LogicRow
from evaluation.material.recorded_answers import by_record, read_answers
from evaluation.material.recorded_plans import read_plans, replaying, write_plans
from evaluation.material.requests import of_page, of_walk
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.chat_model import ModelAnswerError
from services.planner.generation.question import LABEL
from services.retrieval.pages import NoReadings
from services.runbook.by_model.question import PROMPT
from services.scorer.service import ScorerService
from services.tickets.walk.fit import Thresholds
from tests.unit.evaluation.benches.logic.test_bench import LibraryRetrieval
from tests.unit.planner.generation.programs import CABLE, COUNTERS, program
from tests.unit.planner.pages import NUMBERED

EMBEDDER = HashingEmbedder()
ROW = LogicRow(id="net/crc.md", doc="net/crc.md", title="CRC errors", query="CRC errors on a port")
BGP = LogicRow(id="bgp.md", doc="bgp.md", title="BGP", query="BGP session down")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "corpus" / "net").mkdir(parents=True)
    (tmp_path / "corpus" / "net" / "crc.md").write_text(NUMBERED)
    return tmp_path / "corpus"


@pytest.fixture
def request_of(corpus: Path):
    return of_page(page_of_corpus(corpus), NoReadings())


def prompts(folder: Path, request_of) -> None:
    write_prompts([ROW], plans(request_of), folder, lambda: None)


def recorded(folder: Path, request_of, *answers: str) -> Path:
    """A record of these answers to the row's prompt."""
    prompts(folder, request_of)
    for number, answer in enumerate(answers, start=1):
        (folder / f"net-crc.md.answer-{number}.json").write_text(answer)
    write_plans(folder / "plans.jsonl", collected(folder))
    return folder / "plans.jsonl"


def test_a_prompt_is_a_file_that_holds_all_that_the_model_sees(tmp_path, request_of):
    prompts(tmp_path / "out", request_of)
    text = (tmp_path / "out" / "net-crc.md.prompt.txt").read_text()
    assert text.startswith("=== system\n")
    assert "CRC errors on a port" in text
    assert "20 | 1. Replace the cable." in text


def test_an_answer_that_is_there_is_reviewed_as_the_planner_would(tmp_path, request_of):
    recorded(tmp_path, request_of, program(COUNTERS, {"goto": "nowhere"}))
    prompts(tmp_path, request_of)
    review = (tmp_path / "net-crc.md.review-1.txt").read_text()
    assert "s1 Read the error counters (lines 7-12)" in review
    assert "'nowhere'" in review


def test_answers_are_kept_without_the_text_of_the_page(tmp_path, request_of):
    path = recorded(
        tmp_path, request_of, program(COUNTERS | {"commands": ["show secret"]}), program()
    )
    row = read_plans(path)["net/crc.md"]
    assert (row.prompt, len(row.answers)) == (LABEL, 2)
    assert "secret" not in path.read_text()
    assert "Read the error counters" in path.read_text()


def test_answers_to_an_earlier_prompt_are_replayed_and_keep_its_label(tmp_path, request_of):
    path = recorded(tmp_path, request_of, program())
    path.write_text(path.read_text().replace(LABEL, "plan@0"))
    assert read_plans(path)[ROW.id].prompt == "plan@0"
    assert read_plans(tmp_path / "none.jsonl") == {}


def test_an_answer_that_is_no_program_is_refused(tmp_path, request_of):
    with pytest.raises(ModelAnswerError, match="Program"):
        recorded(tmp_path, request_of, "I would rather not.")


def test_recorded_answers_are_as_many_candidates_and_the_best_is_measured(tmp_path, request_of):
    answered = read_plans(recorded(tmp_path, request_of, program(), program(COUNTERS, CABLE)))
    planner_for = replaying(answered, EMBEDDER)
    candidates = planner_for(ROW).plan(request_of(ROW)).candidates
    assert [c.workflow.provenance.planner for c in candidates].count("llm") == 2
    make = planned(request_of, planner_for, ScorerService(EMBEDDER))
    (logic_result,) = measure([ROW], make, EMBEDDER, lambda: None)
    assert logic_result.figures["found"] == 1
    assert make(BGP.model_copy(update={"doc": "net/crc.md"})).workflow is None


def test_answers_about_another_page_than_is_found_now_do_not_compete(tmp_path, request_of):
    answered = read_plans(recorded(tmp_path, request_of, program()))
    planner_for = replaying(answered, EMBEDDER)
    request = of_walk(lambda _row: LibraryRetrieval())(BGP)
    candidates = planner_for(ROW).plan(request).candidates
    assert {c.workflow.provenance.planner for c in candidates} == {"extractive"}
    make = walked(
        lambda _row: LibraryRetrieval(),
        planner_for,
        ScorerService(EMBEDDER),
        Thresholds(sure_from=0.8, unsure_from=0.3),
        lambda _row: None,
    )
    assert make(BGP).workflow is not None


def test_the_logic_bench_takes_the_rows_that_were_recorded(tmp_path, request_of, corpus):
    path = recorded(tmp_path, request_of, program())
    pairs = tmp_path / "logic" / "pages.jsonl"
    way = Way(None, pairs, "plans", is_without_retrieval=True, answers=path, embedder=EMBEDDER)
    assert way.rows([ROW, BGP]) == [ROW]
    assert way.make([ROW])(ROW).workflow is not None
    assert json.loads(path.read_text())["id"] == ROW.id


def test_the_reader_asks_about_the_page_alone_and_reviews_what_was_answered(tmp_path, corpus):
    (tmp_path / "net-crc.md.answer.json").write_text(program(COUNTERS, {"goto": "nowhere"}))
    write_prompts([ROW], readings(page_of_corpus(corpus)), tmp_path, lambda: None)
    text = (tmp_path / "net-crc.md.prompt.txt").read_text()
    assert "20 | 1. Replace the cable." in text
    assert "=== assistant" in text
    assert "'nowhere'" in (tmp_path / "net-crc.md.review.txt").read_text()


def test_an_answer_of_the_reader_is_measured_under_the_label_of_its_prompt(tmp_path, corpus):
    (tmp_path / "net-crc.md.answer.json").write_text(program(COUNTERS, CABLE))
    write_prompts([ROW], readings(page_of_corpus(corpus)), tmp_path, lambda: None)
    path = tmp_path / "readings.jsonl"
    record_readings(tmp_path, record=path)
    path.write_text(path.read_text().replace(PROMPT.label, "read@0"))
    way = Way(
        None,
        tmp_path / "logic" / "pages.jsonl",
        "recorded",
        is_without_retrieval=True,
        answers=path,
    )
    assert way.rows([ROW]) == [ROW]
    assert way.make([ROW])(ROW).workflow is not None
    assert way.config()["prompt"] == "read@0"
    assert by_record(read_answers(path))(page_of_corpus(corpus)(ROW)).version == "read@0"


def test_only_the_rows_of_a_file_of_ids_are_asked_about(tmp_path, corpus):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(f"{row.model_dump_json()}\n" for row in (ROW, BGP)))
    (tmp_path / "ids").write_text(f"{ROW.id}\n")
    read_prompts(pairs=pairs, out=tmp_path / "out", ids_file=tmp_path / "ids", corpus=corpus)
    assert [path.name for path in (tmp_path / "out").glob("*.txt")] == ["net-crc.md.prompt.txt"]
