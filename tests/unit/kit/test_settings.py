from typing import Annotated

import pytest
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from services.cli.reference import as_env, as_markdown
from services.kit.settings import (
    EmbedderChoice,
    PlatformSettings,
    Settings,
    UnreadableSecretError,
    report_unknown,
    unknown_variables,
)


class SinkSettings(Settings):
    """What a sink needs."""

    model_config = SettingsConfigDict(env_prefix="FLOWXPERT_SINK_")

    depth: int = Field(default=3, description="How deep.")


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("FLOWXPERT_DATA_DIR", "FLOWXPERT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_variable_sets_its_field(monkeypatch):
    monkeypatch.setenv("FLOWXPERT_SINK_DEPTH", "9")
    assert SinkSettings().depth == 9


def test_an_empty_variable_means_the_default(monkeypatch):
    monkeypatch.setenv("FLOWXPERT_SINK_DEPTH", "")
    assert SinkSettings().depth == 3


def test_a_misspelt_variable_is_reported_wherever_it_stands(monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWXPERT_SINK_DEPHT", "9")
    (tmp_path / ".env").write_text("FLOWXPERT_PROT=1\nOTHER=2\n")
    classes = (PlatformSettings, SinkSettings)
    assert unknown_variables(classes) == ["FLOWXPERT_PROT", "FLOWXPERT_SINK_DEPHT"]
    assert report_unknown(classes) == unknown_variables(classes)


def test_the_variable_of_the_benchmark_data_is_accepted(monkeypatch):
    monkeypatch.setenv("FLOWXPERT_DATA", "x")
    assert "FLOWXPERT_DATA" not in unknown_variables([PlatformSettings])


def test_a_wrong_value_is_refused_without_being_shown(monkeypatch):
    monkeypatch.setenv("FLOWXPERT_API_KEY", "short-secret")
    with pytest.raises(ValidationError) as caught:
        PlatformSettings()
    assert "short-secret" not in str(caught.value)


def test_the_printed_env_file_sets_every_default_when_uncommented(tmp_path, monkeypatch):
    printed = as_env([PlatformSettings, SinkSettings])
    lines = [line[1:] for line in printed.splitlines() if line.startswith("#FLOWXPERT_")]
    (tmp_path / ".env").write_text("\n".join(lines))
    assert PlatformSettings() == PlatformSettings(_env_file=None)
    assert SinkSettings() == SinkSettings(_env_file=None)


def test_the_printed_page_names_every_variable():
    page = as_markdown([PlatformSettings, SinkSettings])
    for cls in (PlatformSettings, SinkSettings):
        for name, field in cls.variables():
            assert f"`{name}`" in page
            assert field.description in page


def test_without_a_home_the_embedders_file_is_kept_with_the_data(tmp_path, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", homeless)
    settings = PlatformSettings(_env_file=None, data_dir=tmp_path)
    for choice in (EmbedderChoice.ONNX, EmbedderChoice.ONNX_INT8):
        assert settings.embedder_path(choice).is_relative_to(tmp_path)


class VaultSettings(Settings):
    """What a vault needs."""

    model_config = SettingsConfigDict(env_prefix="FLOWXPERT_VAULT_")

    key: SecretStr | None = Field(default=None, min_length=8, description="Opens it.")
    pin: Annotated[SecretStr, Field(min_length=4)] | None = Field(default=None, description="Too.")
    keys: dict[str, SecretStr] = Field(default={}, description="As JSON.")
    place: str = Field(default="", description="Where it is; no secret.")


def test_a_secret_may_stand_in_a_file(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("open-sesame\n")
    monkeypatch.setenv("FLOWXPERT_VAULT_KEY_FILE", str(tmp_path / "key"))
    assert VaultSettings().key.get_secret_value() == "open-sesame"
    assert unknown_variables([VaultSettings]) == []


def test_the_file_may_be_named_in_the_env_file_and_be_of_any_form_of_secret(tmp_path):
    (tmp_path / "pin").write_text("1234")
    (tmp_path / ".env").write_text(f"FLOWXPERT_VAULT_PIN_FILE={tmp_path / 'pin'}\n")
    assert VaultSettings().pin.get_secret_value() == "1234"


def test_a_secret_from_a_file_is_held_to_the_same_rules(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("short\n")
    monkeypatch.setenv("FLOWXPERT_VAULT_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ValidationError) as caught:
        VaultSettings()
    assert "short" not in str(caught.value).replace("too_short", "")


def test_an_empty_file_is_an_unset_secret(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("\n")
    monkeypatch.setenv("FLOWXPERT_VAULT_KEY_FILE", str(tmp_path / "key"))
    assert VaultSettings().key is None


def test_a_missing_file_is_told_by_its_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWXPERT_VAULT_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(UnreadableSecretError, match="FLOWXPERT_VAULT_KEY_FILE"):
        VaultSettings()


def test_a_secret_that_is_given_twice_is_refused(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("open-sesame")
    monkeypatch.setenv("FLOWXPERT_VAULT_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("FLOWXPERT_VAULT_KEY", "another-one")
    with pytest.raises(UnreadableSecretError, match="not both"):
        VaultSettings()


def test_only_secrets_have_files(monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWXPERT_VAULT_PLACE_FILE", str(tmp_path / "place"))
    assert unknown_variables([VaultSettings]) == ["FLOWXPERT_VAULT_PLACE_FILE"]


def test_the_settings_page_marks_what_may_stand_in_a_file():
    page = as_markdown([VaultSettings])
    assert "`FLOWXPERT_VAULT_KEY` 🔒" in page
    assert "`FLOWXPERT_VAULT_PLACE` |" in page


def test_secrets_by_name_stand_in_a_file_as_json(monkeypatch, tmp_path):
    (tmp_path / "keys").write_text('{"front": "open-sesame"}')
    monkeypatch.setenv("FLOWXPERT_VAULT_KEYS_FILE", str(tmp_path / "keys"))
    assert VaultSettings().keys["front"].get_secret_value() == "open-sesame"
    (tmp_path / "keys").write_text("open-sesame")
    with pytest.raises(UnreadableSecretError, match="no JSON") as caught:
        VaultSettings()
    assert "open-sesame" not in str(caught.value)
