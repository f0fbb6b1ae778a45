"""Every adapter of `Embedder` passes this suite."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from services.knowledge.embedding import embedders
from services.knowledge.embedding.embedders import (
    CachedEmbedder,
    HashingEmbedder,
    MissingTorchError,
    SentenceTransformerEmbedder,
)
from services.knowledge.embedding.onnx_embedder import OnnxEmbedder, UnusableModelError
from services.knowledge.embedding.onnx_model import NoModelFileError, ensure_model_file

EXAMPLES = Path(__file__).parents[2] / "examples" / "documents"
MINILM = SentenceTransformerEmbedder()


@pytest.fixture(scope="session")
def onnx(tmp_path_factory):
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    ensure_model_file(path)
    return OnnxEmbedder(path)


@pytest.fixture(scope="session")
def onnx_int8(tmp_path_factory):
    path = tmp_path_factory.mktemp("onnx") / "model-int8.onnx"
    ensure_model_file(path, is_int8=True)
    return OnnxEmbedder(path, is_int8=True)


@pytest.fixture(params=["hashing", "cached", "minilm", "onnx", "onnx_int8"])
def embedder(request, tmp_path):
    if request.param == "hashing":
        return HashingEmbedder()
    if request.param == "cached":
        return CachedEmbedder(HashingEmbedder(), tmp_path / "vectors.sqlite")
    return MINILM if request.param == "minilm" else request.getfixturevalue(request.param)


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_rows_are_of_unit_length_and_in_the_order_of_the_texts(embedder):
    texts = ["fan tray failed", "", "bgp session down after a very long maintenance " * 40]
    vectors = embedder.embed(texts)
    assert vectors.shape == (3, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)
    for text, vector in zip(texts, vectors, strict=True):
        assert embedder.embed([text])[0] == pytest.approx(vector, abs=1e-4)


def test_texts_alike_are_nearer_than_others(embedder):
    fan, same, other = embedder.embed(["fan failed", "the fan has failed", "bgp neighbour lost"])
    assert fan @ same > fan @ other


def test_tokens_are_counted_without_a_limit(embedder):
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("fan " * 5000) >= 5000


def test_several_threads_get_the_same_vectors(embedder):
    texts = [f"port {i} flaps" for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: embedder.embed([text])[0], texts))
    assert np.stack(rows) == pytest.approx(embedder.embed(texts), abs=1e-4)


def example_texts():
    pages = (path.read_text("utf-8") for path in sorted(EXAMPLES.rglob("*.md")))
    pieces = [page[start : start + 1500] for page in pages for start in range(0, len(page), 1500)]
    return [*pieces[:24], "", "fan", "Grüße, 日本語, ﬁle\x00\u202e", "word " * 2000]


def test_vectors_on_onnxruntime_equal_those_on_torch(onnx):
    texts = example_texts()
    assert onnx.model_name == MINILM.model_name
    assert np.abs(onnx.embed(texts) - MINILM.embed(texts)).max() <= 1e-5
    assert [onnx.count_tokens(text) for text in texts] == [MINILM.count_tokens(t) for t in texts]


def test_vectors_of_int8_weights_are_near_and_never_mixed_with_the_others(onnx_int8):
    texts = [text for text in example_texts() if text]
    cosines = (onnx_int8.embed(texts) * MINILM.embed(texts)).sum(axis=1)
    assert cosines.mean() > 0.97
    assert onnx_int8.model_name != MINILM.model_name


def test_a_change_of_threads_changes_no_vector(onnx):
    texts = ["fan failed", "port flaps", "disk full"]
    onnx.limit_threads(3)
    before = onnx.embed(texts)
    onnx.limit_threads(1)
    assert onnx.embed(texts) == pytest.approx(before, abs=1e-6)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    for name in ("model.onnx", "absent.onnx"):
        with pytest.raises(UnusableModelError, match="expected an ONNX model"):
            OnnxEmbedder(tmp_path / name).embed(["fan"])


def test_a_model_whose_vectors_are_others_is_refused(onnx_int8):
    with pytest.raises(UnusableModelError, match="off by"):
        OnnxEmbedder(onnx_int8._path).embed(["fan"])


def test_a_model_file_that_is_there_is_not_made_again(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"as it was")
    ensure_model_file(path)
    assert path.read_bytes() == b"as it was"


WITHOUT_TORCH = """
import sys
from pathlib import Path
sys.modules["torch"] = sys.modules["sentence_transformers"] = sys.modules["transformers"] = None
from services.knowledge.embedding.onnx_embedder import OnnxEmbedder
from services.knowledge.embedding.onnx_model import ensure_model_file
ensure_model_file(Path(sys.argv[1]))
print(OnnxEmbedder(Path(sys.argv[1])).embed(["fan failed"]).shape)
"""


def test_neither_making_nor_using_the_file_needs_torch(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(tmp_path / "model.onnx")],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("(1, 384)\n"), done.stderr


def test_without_the_extra_the_embedder_on_torch_says_what_to_install(monkeypatch):
    monkeypatch.setattr(embedders, "find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(MissingTorchError, match=r"needs torch: `pip install 'flowxpert\[torch\]'`"):
        SentenceTransformerEmbedder()


def test_a_file_that_misses_where_nothing_can_make_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NoModelFileError, match="without onnx: make it with"):
        ensure_model_file(tmp_path / "model.onnx")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NoModelFileError, match="FLOWXPERT_EMBEDDER_FILE"):
        ensure_model_file(tmp_path / "file" / "model.onnx")
