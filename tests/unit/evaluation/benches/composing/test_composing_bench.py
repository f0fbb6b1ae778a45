import json

import pytest

from evaluation.benches.composing import bench
from evaluation.benches.composing.arms import Arm, Posing, answered
from evaluation.benches.composing.prompt_files import write_prompts
from evaluation.material.composing.importing import from_json, from_keep
from evaluation.material.composing.instructions import Call, Instruction
from evaluation.material.composing.recorded_compositions import (
    RecordedComposition,
    read_compositions,
)
from evaluation.measures.composed import score
from services.knowledge.embedding.embedders import HashingEmbedder
from services.planner.composing.component import Components

TOOLS = Components(
    from_json(
        [
            {
                "api_name": "getQuote",
                "api_description": "Get a quote for an insurance",
                "parameters": {
                    "business": {"type": "str", "description": "kind of business"},
                    "employees": {"type": "int", "description": "how many"},
                },
                "required": ["business", "employees"],
                "responses": {"quote": {}},
            },
            {"name": "sendQuote", "description": "Send a quote", "parameters": {"quote": {}}},
        ],
        "test",
    )
)
INSTRUCTION = Instruction(
    "k1",
    "seal",
    "Get a quote for an insurance of a bakery with 12 employees, then send the quote",
    (
        (
            Call("getQuote", {"business": "bakery", "employees": "12"}),
            Call("sendQuote", {"quote": "@0"}),
        ),
    ),
)
RIGHT = {
    "orchestrated": {"title": "Quote", "steps": [{"use": "getQuote"}, {"use": "sendQuote"}]},
    "filled": {
        "parameters": {
            "s1": {"business": "bakery", "employees": 12},
            "s2": {"quote": "@s1.quote"},
        }
    },
}


@pytest.fixture
def posing():
    return Posing(HashingEmbedder(128))


@pytest.fixture
def posed(posing):
    return posing.posed(INSTRUCTION, TOOLS)


def test_a_right_answer_of_the_team_is_exact(posed):
    composition = answered(Arm.TEAM, {"plan": "", **RIGHT, "reflected": {}}, posed)
    assert score(composition, INSTRUCTION.accepted).exact == 1


def test_what_the_supervisor_mended_counts(posed):
    wrong = {"orchestrated": {"steps": [{"use": "sendQuote"}]}, "filled": {}, "reflected": RIGHT}
    assert score(answered(Arm.TEAM, wrong, posed), INSTRUCTION.accepted).exact == 1
    assert score(answered(Arm.NO_SUPERVISOR, wrong, posed), INSTRUCTION.accepted).sequence == 0


def test_only_one_model_alone_keeps_invented_values(posed):
    invented = {
        "steps": [
            {"use": "getQuote", "parameters": {"business": "bakery", "employees": 99}},
            {"use": "sendQuote", "parameters": {"quote": "@s1"}},
        ]
    }
    alone = answered(Arm.ALONE, invented, posed)
    assert len(alone.values[0]) == 2
    filled = {"parameters": {"s1": {"business": "bakery", "employees": 99}, "s2": {"quote": "@s1"}}}
    team = answered(Arm.NO_SUPERVISOR, RIGHT | {"filled": filled}, posed)
    assert len(team.values[0]) == 1
    assert team.open_questions == 1


def test_an_answer_that_cannot_be_read_is_nothing(posed):
    assert answered(Arm.TEAM, {"orchestrated": {"steps": []}}, posed) is None
    assert answered(Arm.ALONE, {}, posed) is None


def test_answers_are_kept_without_a_word_and_measured_again(posing, posed, tmp_path):
    (path,) = write_prompts(Arm.TEAM, [posed], tmp_path / "team")
    assert "k1" in path.read_text()
    assert "getQuote: Get a quote" in path.read_text()
    (tmp_path / "team" / "seal-1.answer.json").write_text(json.dumps({"k1": RIGHT, "k9": RIGHT}))
    kept = tmp_path / "kept.jsonl"
    assert bench.record(Arm.TEAM, tmp_path / "team", [posed], kept) == 1
    assert "bakery" not in kept.read_text()
    assert "getQuote" not in kept.read_text()
    scores = bench.measure([posed], posing, kept)
    assert scores[Arm.TEAM][0][1].exact == 1
    figures = bench.figures(scores, [posed])
    assert figures["seal: team"]["exact"] == 100
    assert figures["seal: shown"]["recall"] == 100


def test_an_answer_to_other_components_does_not_count(posing, posed, tmp_path):
    row = RecordedComposition(key="k1", arm="team", prompt="p", shown="other", tree=[0])
    (tmp_path / "kept.jsonl").write_text(row.model_dump_json())
    assert read_compositions(tmp_path / "kept.jsonl")
    assert Arm.TEAM not in bench.measure([posed], posing, tmp_path / "kept.jsonl")


def test_a_provider_of_keep_is_a_component():
    snippet = (
        'As "step" to query data, example:\n```yaml\nsteps:\n    - name: Query x\n'
        "      provider: x\n      with:\n        query: {value}  # What to ask\n```\n"
    )
    component = from_keep(snippet, '---\ntitle: "X"\ndescription: "Asks X"\n---\n')
    assert (component.name, component.description, component.effect.value) == (
        "x",
        "Asks X",
        "read",
    )
    assert component.parameters["query"].description == "What to ask"
    assert from_keep("## Authentication", "") is None
