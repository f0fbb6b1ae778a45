"""Says why nothing of training is tested where its libraries are not installed."""

import importlib.util

import pytest

MISSING = [
    name
    for name in ("torch", "trl", "peft", "datasets", "accelerate")
    if importlib.util.find_spec(name) is None
]


@pytest.mark.skipif(bool(MISSING), reason=f"training is not tested without {', '.join(MISSING)}")
def test_what_trains_can_be_imported():
    import training.trl_runs

    assert callable(training.trl_runs.train_dpo)


@pytest.mark.skipif(not MISSING, reason="what trains is installed")
def test_a_command_says_what_is_missing(tmp_path):
    from services.cli.training import NoTrainingError, adapter

    with pytest.raises(NoTrainingError, match="which is not installed here"):
        adapter("judge", tmp_path, base=tmp_path, out=tmp_path)
