"""Runs that are killed, disks that are full, folders that do not fit."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from services.runbook.model import Reader, Reading
from training.adapting.material import Page, refuse_shared
from training.checkpoints import Checkpoints, put_file, put_folder
from training.coevolution import Coevolution
from training.errors import (
    DiskFullError,
    OtherBaseError,
    OtherRunError,
    OutOfMemoryError,
    SharedPagesError,
    UnusableMaterialError,
    UnusableModelError,
    memory_watched,
)
from training.model.loading import (
    load_for_training,
    load_tokenizer,
    refuse_other_base,
    save_adapter,
)
from training.preferences import Pair
from training.quiet import SILENCE
from training.recipes import DpoRecipe, LoraRecipe
from training.toy.recipe import TOY
from training.toy.scorers import FactsByModel
from training.toy.world import ToyWorld
from training.trl_runs import train_dpo


class _KilledError(Exception):
    pass


def _preferring(base, folder, on_step=None):
    model = load_for_training(base, LoraRecipe(), None, seed=1)
    pairs = [
        Pair(f"<s> disk_full context {n} drain if_hot 2 end workflow", f"{n} drain if_hot 2 end", e)
        for n in range(1, 7)
        for e in ("1 end", "1 swap always 2 end")
    ]

    recipe = DpoRecipe(batch=2, learning_rate=1e-3, most_tokens=64, save_every=2)
    train_dpo(model, load_tokenizer(base), pairs, recipe, seed=3, folder=folder, on_step=on_step)
    from peft import get_peft_model_state_dict

    return get_peft_model_state_dict(model, adapter_name="default")


def test_preferences_killed_in_mid_epoch_end_as_those_that_were_not(untrained, tmp_path):
    def kill(done, _):
        if done == 5:
            raise _KilledError

    whole = _preferring(untrained, tmp_path / "whole")
    with pytest.raises(_KilledError):
        _preferring(untrained, tmp_path / "killed", kill)
    last = tmp_path / "killed" / "checkpoint-4"
    assert last.is_dir()
    unfinished = tmp_path / "killed" / "checkpoint-5"
    unfinished.mkdir()
    resumed = _preferring(untrained, tmp_path / "killed")
    assert not unfinished.exists()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert any(whole[name].abs().sum() > 0 for name in whole if "lora_B" in name)


def test_so_do_those_that_memory_or_disk_gave_out_under(untrained, tmp_path):
    cut = tmp_path / "cut"

    def give_out(done, _):
        if done == 3:
            (cut / "checkpoint-4").mkdir()
            (cut / "checkpoint-4" / "optimizer.pt").symlink_to("/dev/full")

    def out_of_memory(done, _):
        if done == 5:
            torch.empty(1 << 50)

    whole = _preferring(untrained, tmp_path / "whole")
    with pytest.raises(DiskFullError, match="goes on from the last checkpoint"):
        _preferring(untrained, cut, give_out)
    assert not (cut / "checkpoint-4" / "whole").exists()
    with pytest.raises(OutOfMemoryError, match=r"lower --batch \(now 2\)"):
        _preferring(untrained, cut, out_of_memory)
    resumed = _preferring(untrained, cut)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_save_that_is_killed_leaves_the_one_before(tmp_path):
    kept = Checkpoints(tmp_path)
    kept.save(1, {"value": torch.tensor(1)})
    program = (
        "import os, signal, sys, torch\n"
        "import training.checkpoints as c\n"
        "c.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "c.Checkpoints(c.Path(sys.argv[1])).save(2, {'value': torch.tensor(2)})\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [each.name for each in tmp_path.glob(".unfinished-*")] == [".unfinished-step-00000002"]
    again = Checkpoints(tmp_path)
    assert again.last() == {"value": torch.tensor(1)}
    assert list(tmp_path.glob(".unfinished-*")) == []


def test_a_full_disk_is_said_and_the_one_before_stands(tmp_path, monkeypatch):
    kept = Checkpoints(tmp_path)
    kept.save(1, {"value": torch.tensor(1)})

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match="no room for a checkpoint"):
        kept.save(2, {"value": torch.tensor(2)})
    monkeypatch.undo()
    assert kept.last() == {"value": torch.tensor(1)}


def test_other_failures_of_a_disk_are_not_called_full(tmp_path):
    def refused(_):
        raise PermissionError(errno.EACCES, "no")

    with pytest.raises(PermissionError):
        put_folder(tmp_path / "x", refused)
    assert list(tmp_path.iterdir()) == []
    put_file(tmp_path / "y", b"1")
    assert (tmp_path / "y").read_bytes() == b"1"


def test_out_of_memory_says_what_to_lower():
    with pytest.raises(OutOfMemoryError, match=r"lower --batch \(now 4\)"), memory_watched(4):
        raise torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(ZeroDivisionError), memory_watched(4):
        raise ZeroDivisionError


def test_an_adapter_of_another_base_is_refused(untrained, taught_otherwise, tmp_path):
    model = load_for_training(untrained, LoraRecipe(), None, seed=0)
    save_adapter(model, tmp_path, untrained)
    refuse_other_base(tmp_path, untrained)
    with pytest.raises(OtherBaseError, match="does not fit"):
        load_for_training(taught_otherwise, LoraRecipe(), tmp_path, seed=0)


@pytest.fixture
def taught_otherwise(tmp_path_factory):
    from training.toy.model import make_base

    folder = tmp_path_factory.mktemp("other")
    make_base(folder, ToyWorld().demonstrations(50), seed=5, steps=2, batch=8)
    return folder


def test_a_name_of_a_hub_is_no_model():
    with pytest.raises(UnusableModelError, match="nothing is fetched"):
        load_tokenizer(Path("Qwen/Qwen2.5-7B-Instruct"))


def test_pages_of_the_test_folder_are_refused_and_named(tmp_path):
    reading = Reading(reader=Reader.PERSON, procedures=())
    text = "# Fan\n\nReplace the fan.\n"
    (tmp_path / "copy.md").write_text("# Fan\n\n\nReplace   the fan.", encoding="utf-8")
    with pytest.raises(SharedPagesError, match=r"1 pages .* fan\.md \(there copy\.md\)"):
        refuse_shared([Page("fan.md", text, reading, None)], tmp_path)
    refuse_shared([Page("psu.md", "# PSU\n", reading, None)], tmp_path)
    with pytest.raises(UnusableMaterialError, match="expected a folder"):
        refuse_shared([], tmp_path / "none")


def test_a_folder_goes_on_only_with_what_it_was_begun_with(untrained, tmp_path):
    world = ToyWorld(train=4, holdout=2, test=2)

    def scorer(adapter):
        return FactsByModel(world, untrained, adapter)

    Coevolution(world, scorer, untrained, TOY, tmp_path)
    Coevolution(world, scorer, untrained, TOY, tmp_path)
    with pytest.raises(OtherRunError, match="another recipe"):
        Coevolution(world, scorer, untrained, TOY.model_copy(update={"seed": 9}), tmp_path)
    other = ToyWorld(train=5, holdout=2, test=2)
    with pytest.raises(OtherRunError, match="another queries"):
        Coevolution(other, scorer, untrained, TOY, tmp_path)


def test_nothing_is_told_and_nothing_is_fetched():
    program = (
        "import json, os, training\n"
        "print(json.dumps({k: os.environ[k] for k in training.quiet.SILENCE}))\n"
        "from huggingface_hub import constants\n"
        "assert constants.HF_HUB_OFFLINE and constants.HF_HUB_DISABLE_TELEMETRY\n"
    )
    loud = os.environ | {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_TELEMETRY": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=loud, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == SILENCE
