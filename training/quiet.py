"""Makes the libraries of training silent and local; before any of them is imported."""

import os
import warnings

SILENCE = {
    "HF_HUB_OFFLINE": "1",  # no hub, and with it no telemetry of trl
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRL_EXPERIMENTAL_SILENCE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "WANDB_DISABLED": "true",
}
"""What is set, over whatever the caller's environment says."""

os.environ.update(SILENCE)
warnings.filterwarnings("ignore", module=r"(trl|peft|transformers|torch|accelerate)(\..*)?")
