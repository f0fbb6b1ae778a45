"""Writes a GGUF's model as a Hugging Face folder in bfloat16, which vLLM reads.

    python tests/servers/gguf_to_hf.py MODEL.gguf FOLDER

Needs torch, transformers and gguf: run it with the Python that vLLM is installed for.
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def write(gguf: Path, folder: Path) -> None:
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16)
    # Its weights are plain now, but the config still says GGUF, and saving would refuse that.
    del model.config.quantization_config
    model.hf_quantizer = None
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
