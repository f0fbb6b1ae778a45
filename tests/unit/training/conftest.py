"""A toy base model, made once; without the libraries of training nothing here is run."""

from pathlib import Path

import pytest

from tests.unit.training.test_installed import MISSING

collect_ignore = (
    [path.name for path in Path(__file__).parent.glob("test_*.py") if "installed" not in path.name]
    if MISSING
    else []
)


@pytest.fixture(autouse=True)
def _one_thread():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def untrained(tmp_path_factory):
    """The form of a base: what does not ask how well it writes needs no more."""
    from training.toy.model import make_base
    from training.toy.world import ToyWorld

    folder = tmp_path_factory.mktemp("base")
    make_base(folder, ToyWorld().demonstrations(200), seed=0, steps=8, batch=16)
    return folder


@pytest.fixture(scope="session")
def taught(tmp_path_factory):
    """A base that writes the form, carelessly."""
    from training.toy.model import make_base
    from training.toy.world import ToyWorld

    folder = tmp_path_factory.mktemp("taught")
    make_base(folder, ToyWorld().demonstrations(6000), seed=0, steps=400, batch=48)
    return folder
