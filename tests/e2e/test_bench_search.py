"""The benchmark of searches: each arm comes to an answer, and nothing is changed."""

import json

import pytest

from evaluation.benches.searching import Arm, fault_of, scene_in, search_in, to_yaml
from services.llm.scripted import ScriptedChatModel
from tests.e2e.test_searching import answers

LOOK = {"tool": "bgp_session", "target": "leaf-4", "arguments": {"neighbor": "10.0.24.1"}}
SAYS = "The neighbor 10.0.24.1 is administratively shut down"


def played(request):
    if request.prompt.startswith("search_direct@"):
        return [json.dumps({"cause": "somebody shut it down"})]
    if request.prompt.startswith("search_loop@"):
        if "O1:" not in request.messages[1].content:
            return [json.dumps({"choice": "look"} | LOOK)]
        claim = {"text": SAYS, "evidence": [{"observation": "O1", "lines": [3]}]}
        return [json.dumps({"choice": "answer", "cause": SAYS, "claims": [claim]})]
    return [
        each.replace("leaf-1", "leaf-4").replace("10.0.11.1", "10.0.24.1")
        for each in answers(request)
    ]


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    with scene_in(tmp_path_factory.mktemp("scene"), fault_of("bgp_session_shut", 0)) as opened:
        yield opened


@pytest.mark.parametrize("arm", Arm)
def test_each_arm_answers(scene, arm):
    model = ScriptedChatModel(played)
    searched = search_in(scene, arm, model, answer_within_s=10, say=lambda _line: None)
    assert (searched.arm, searched.outcome) == (arm, "found")
    assert "shut" in searched.cause
    assert searched.changes == ()
    assert searched.questions == len(model.requests)
    assert searched.calls == (0 if arm is Arm.DIRECT else 1)
    line = "O1 on leaf-4: Administratively shut down: yes"
    expected = {
        Arm.OCE: ((line, "O1 on leaf-4: shut = yes"),),
        Arm.LOOP: ((line,),),
        Arm.DIRECT: (),
    }
    assert searched.evidence == expected[arm]
    assert "injected: bgp_session_shut at 10.0.24.1 of leaf-4" in to_yaml(searched)
