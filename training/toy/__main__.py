"""Make the toy's base model: `python -m training.toy FOLDER [STEPS]`."""

import sys
from pathlib import Path

from training.toy.model import make_base
from training.toy.world import ToyWorld

if __name__ == "__main__":
    folder, *steps = sys.argv[1:]
    make_base(
        Path(folder), ToyWorld().demonstrations(6000), seed=0, batch=48,
        steps=int(steps[0]) if steps else 400,
    )  # fmt: skip
