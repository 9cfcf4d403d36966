"""Prompts whose lengths never repeat, through mlx-lm's model code, never clearing: prints ids and what stayed behind.

    churn.py [--weights FOLDER] [--prompts N] [--cache-limit BYTES | --unlimited]

Without --weights a small Llama of random weights runs; FOLDER is one that bench/mlx_lm_peer.py has prepared. The
limit flags are MLX's own set_cache_limit, for runs without weir.
"""

import argparse
import gc
import json
import pathlib
import random

import mlx.core as mx
from mlx.utils import tree_map
from mlx_lm.models import cache, llama

import counters_page

_TINY = {"model_type": "llama", "hidden_size": 128, "num_hidden_layers": 4, "intermediate_size": 384,
         "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "vocab_size": 4096}


def tiny_model(seed: int = 3) -> llama.Model:
    """Random weights of 6 MB, large enough that the greedy token is no near tie."""
    model = llama.Model(llama.ModelArgs.from_dict(_TINY))
    mx.random.seed(seed)
    model.update(tree_map(lambda weight: mx.random.normal(weight.shape) * 0.2, model.parameters()))
    mx.eval(model.parameters())
    return model


def real_model(folder: pathlib.Path) -> llama.Model:
    config = json.loads((folder / "model.json").read_text())["config"]
    model = llama.Model(llama.ModelArgs.from_dict(config))
    model.load_weights(str(folder / "f32.safetensors"))
    model.eval()
    mx.eval(model.parameters())
    return model


def prompt_lengths(count: int, shortest: int, longest: int, seed: int) -> list[int]:
    """Distinct, in an order that goes up and down."""
    return random.Random(seed).sample(range(shortest, longest + 1), count)


def prompt_ids(length: int, vocabulary: int, seed: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(vocabulary) for _ in range(length)]


def respond(model: llama.Model, ids: list[int], tokens: int, kv: list | None = None) -> list[int]:
    """Greedy tokens after the prompt, which `kv` (by default a new one) goes on from."""
    kv = kv or cache.make_prompt_cache(model)
    token = mx.argmax(model(mx.array([ids]), cache=kv)[:, -1, :], axis=-1)
    drawn = [token.item()]
    while len(drawn) < tokens:
        token = mx.argmax(model(token[None], cache=kv)[:, -1, :], axis=-1)
        drawn.append(token.item())
    return drawn


def at_rest() -> dict:
    """What MLX and the page say once nothing runs."""
    gc.collect()
    mx.synchronize()
    page = counters_page.of_process()
    return {"live": mx.get_active_memory(), "retained": mx.get_cache_memory(),
            "page_retained": page and page["retained"], "page_backed": page and page["backed"]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", type=pathlib.Path)
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--cache-limit", type=int)
    parser.add_argument("--unlimited", action="store_true")
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    if options.unlimited or options.cache_limit is not None:
        mx.set_cache_limit(1 << 62 if options.unlimited else options.cache_limit)
    model = real_model(options.weights) if options.weights else tiny_model()
    ids, rests = [], []
    for number, length in enumerate(prompt_lengths(options.prompts, 100, 600, seed=11)):
        ids.append(respond(model, prompt_ids(length, model.args.vocab_size, number), tokens=8))
        rests.append(at_rest())
    print(json.dumps({"ids": ids, "rests": rests, "live_peak": mx.get_peak_memory(),
                      "page": counters_page.of_process()}))


if __name__ == "__main__":
    main()
