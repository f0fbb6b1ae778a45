"""Starts a vLLM server on loopback, runs a command against it and stops it again.

    python tests/servers/vllm_server.py [--adapter NAME=FOLDER ...] [--dtype DTYPE] FOLDER
        [COMMAND [ARGUMENT ...]]

FOLDER is a Hugging Face model, its name is the model's; adapters of PEFT are served beside it by
names of their own. Numbers are bfloat16 unless another kind is named. The command finds the server
in FLOWXPERT_TEST_VLLM_URL and _MODEL, and its exit status is passed on; without a command both are
printed and the server stays until this process is ended. Needs nothing but vLLM itself: run it with
the Python that vLLM is installed for.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

STARTS_WITHIN_S = 300
STOPS_WITHIN_S = 20
MODEL_LEN = 2048
COMPACT_JSON = {"backend": "xgrammar", "disable_any_whitespace": True}

# One GiB of cache holds every request of the tests; threads that wait spin, so one core stays free.
BOUNDS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) - 1)),
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}


@contextmanager
def vllm_server(
    folder: Path, adapters: Sequence[str] = (), dtype: str = "bfloat16"
) -> Iterator[str]:
    """The address of a server that answers, ending in /v1."""
    port = free_port()
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
                *("--model", str(folder), "--served-model-name", folder.name),
                *("--host", "127.0.0.1", "--port", str(port)),
                *("--enforce-eager", "--dtype", dtype),
                *("--max-model-len", str(MODEL_LEN), "--max-num-seqs", "8"),
                *("--structured-outputs-config", json.dumps(COMPACT_JSON)),
                *(("--enable-lora", "--lora-modules", *adapters) if adapters else ()),
            ],
            env=BOUNDS | os.environ,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if not answers(server, f"http://127.0.0.1:{port}/health"):
                sys.exit(f"the vLLM server did not start:\n{end_of(log)}")
            yield f"http://127.0.0.1:{port}/v1"
            if server.poll() is not None:
                sys.exit(f"the vLLM server died:\n{end_of(log)}")
        finally:
            stop(server)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(server: subprocess.Popen[bytes], url: str) -> bool:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while server.poll() is None and time.monotonic() < deadline:
        with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(url, timeout=5):
            return True
        time.sleep(0.5)
    return False


def end_of(log: IO[bytes]) -> str:
    log.seek(max(0, log.seek(0, os.SEEK_END) - 8000))
    return log.read().decode(errors="replace")


def stop(server: subprocess.Popen[bytes]) -> None:
    """Asks first; then ends what is left of its session, the worker processes included."""
    server.terminate()
    with suppress(subprocess.TimeoutExpired):
        server.wait(STOPS_WITHIN_S)
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def main(folder: Path, adapters: list[str], dtype: str, command: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with vllm_server(folder, adapters, dtype) as url:
        variables = {"FLOWXPERT_TEST_VLLM_URL": url, "FLOWXPERT_TEST_VLLM_MODEL": folder.name}
        if command:
            return subprocess.run(command, env=os.environ | variables, check=False).returncode
        sys.stdout.write("".join(f"export {name}={value}\n" for name, value in variables.items()))
        sys.stdout.flush()
        signal.pause()
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--adapter", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("folder", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    sys.exit(main(options.folder, options.adapter, options.dtype, options.command))
