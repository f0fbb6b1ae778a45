import pytest

from services.llm.chat_model import ChatRequest, Message, ModelRefusedError, ModelUnavailableError
from services.llm.open import gguf_file, open_chat_model
from services.llm.settings import ModelSettings


def settings(**fields: object) -> ModelSettings:
    return ModelSettings(_env_file=None, **fields)


def test_without_settings_there_is_no_model(tmp_path):
    assert open_chat_model(settings(), tmp_path) is None


def test_a_server_needs_the_name_of_a_model(tmp_path):
    with pytest.raises(ModelRefusedError, match="FLOWXPERT_MODEL_NAME"):
        open_chat_model(settings(url="http://127.0.0.1:9/v1"), tmp_path)


def test_a_server_that_is_down_fails_its_calls_not_the_start(tmp_path):
    model = open_chat_model(settings(url="http://127.0.0.1:9/v1", name="m", tries=1), tmp_path)
    assert model is not None
    assert model.name == "m"
    with pytest.raises(ModelUnavailableError):
        model.complete(ChatRequest(messages=(Message(role="user", content="hello"),)))


def test_prices_come_from_the_settings(tmp_path):
    priced = settings(url="http://127.0.0.1:9/v1", name="m", price_in=0.5, price_out=2)
    model = open_chat_model(priced, tmp_path)
    assert model is not None
    assert (model.prices.tokens_in, model.prices.tokens_out) == (0.5, 2)


def test_a_path_is_taken_as_it_stands(tmp_path):
    assert gguf_file(str(tmp_path / "a.gguf"), tmp_path) == tmp_path / "a.gguf"


def test_a_model_of_the_hub_that_was_downloaded_once_is_not_asked_for_again(tmp_path):
    kept = tmp_path / "model-q4.gguf"
    kept.write_bytes(b"GGUF")
    assert gguf_file("owner/repository/model-q4.gguf", tmp_path) == kept


def test_a_hub_that_does_not_answer_is_unavailable(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnavailableError, match="cannot download"):
        gguf_file("owner/repository/model-q4.gguf", tmp_path)
