#!/usr/bin/env python3
"""One process of bench/middle.py: a workload of MLX's Python code, request by request, one JSON line each way.

    middle_worker.py churn|context|training [--weights FOLDER] [--cache-limit BYTES] [--longest N]

It sets no limit but the one it is told (MLX's own set_cache_limit) and never clears. At rest after each request it
says what it holds; at the end, the peaks.
"""

import argparse
import gc
import hashlib
import json
import pathlib
import random
import resource
import sys
import time

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optimizers
from mlx_lm.models import cache, llama

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/govern"))
import churn  # noqa: E402
import counters_page  # noqa: E402

_TOKENS = 8
_SMALL = {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 4, "intermediate_size": 768,
          "num_attention_heads": 8, "num_key_value_heads": 4, "rms_norm_eps": 1e-5, "vocab_size": 4096}


class Churn:
    """Prompts whose lengths never repeat, each from an empty context."""

    def __init__(self, options: argparse.Namespace):
        self._model = churn.real_model(options.weights)
        self._lengths = churn.prompt_lengths(min(200, options.longest - 99), 100, options.longest, options.seed)

    def request(self, index: int) -> list[int]:
        ids = churn.prompt_ids(self._lengths[index % len(self._lengths)], self._model.args.vocab_size, index)
        return churn.respond(self._model, ids, _TOKENS)


class Context:
    """One conversation whose context grows turn by turn, and starts again when it is full."""

    def __init__(self, options: argparse.Namespace):
        self._model = churn.real_model(options.weights)
        self._draw = random.Random(options.seed)
        self._full = 2 * options.longest
        self._kv, self._held = None, self._full

    def request(self, index: int) -> list[int]:
        length = self._draw.randrange(60, 180)
        if self._held + length > self._full:
            self._kv, self._held = cache.make_prompt_cache(self._model), 0
        self._held += length + _TOKENS
        return churn.respond(self._model, churn.prompt_ids(length, self._model.args.vocab_size, index), _TOKENS, self._kv)


class Training:
    """Steps on batches whose lengths vary, with Adam; four steps a request."""

    def __init__(self, options: argparse.Namespace):
        mx.random.seed(options.seed)
        self._draw = random.Random(options.seed)
        self._model = llama.Model(llama.ModelArgs.from_dict(_SMALL))
        self._optimizer = optimizers.AdamW(learning_rate=1e-3)
        self._step = nn.value_and_grad(self._model, self._loss)
        mx.eval(self._model.parameters())

    @staticmethod
    def _loss(model: llama.Model, ids: mx.array) -> mx.array:
        return mx.mean(nn.losses.cross_entropy(model(ids[:, :-1]), ids[:, 1:]))

    def request(self, index: int) -> list[str]:
        losses = []
        for step in range(4):
            length = self._draw.randrange(32, 257)
            ids = mx.array(churn.prompt_ids(2 * length, _SMALL["vocab_size"], 4 * index + step)).reshape(2, length)
            loss, gradients = self._step(self._model, ids)
            self._optimizer.update(self._model, gradients)
            mx.eval(loss, self._model.parameters(), self._optimizer.state)
            losses.append(loss.item().hex())
        return losses


WORKLOADS = {"churn": Churn, "context": Context, "training": Training}


def resident() -> dict[str, int]:
    """Bytes by kind, as the kernel counts them."""
    fields = {}
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        name, _, rest = line.partition(":")
        if rest.strip().endswith("kB"):
            fields[name] = 1024 * int(rest.split()[0])
    return {"footprint": fields["RssAnon"] + fields["RssShmem"] + fields["VmSwap"], "resident_peak": fields["VmHWM"]}


def held() -> dict:
    """At rest. Without a page, what MLX has taken is what is live and what it keeps."""
    gc.collect()
    mx.synchronize()
    page = counters_page.of_process()
    live, retained = mx.get_active_memory(), mx.get_cache_memory()
    backed = page["backed"] if page and page["backed"] else live + retained
    return {"live": live, "retained": page["retained"] if page else retained, "backed": backed,
            "footprint": resident()["footprint"]}


def answer(workload, index: int) -> dict:
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    start = time.perf_counter()
    result = workload.request(index)
    seconds = time.perf_counter() - start
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    digest = hashlib.sha256(json.dumps(result).encode()).hexdigest()[:16]
    return {"seconds": seconds, "faults": faults, "digest": digest, **held()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--weights", type=pathlib.Path)
    parser.add_argument("--cache-limit", type=int)
    parser.add_argument("--longest", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    if options.cache_limit is not None:
        mx.set_cache_limit(options.cache_limit)
    workload = WORKLOADS[options.workload](options)
    page = counters_page.of_process()
    print(json.dumps({"event": "ready", "allocator": page and page["allocator"], **held()}), flush=True)
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(json.dumps(answer(workload, int(line))), flush=True)
    page = counters_page.of_process()
    print(json.dumps({"live_peak": mx.get_peak_memory(), "page": page, **resident()}), flush=True)


if __name__ == "__main__":
    main()
