#!/usr/bin/env python3
"""mlx-lm behind the protocol of `weir worker`, for bench/generate.py: the same weights, one JSON line each way.

    mlx_lm_peer.py prepare MODEL.gguf FOLDER     writes the weights as mlx-lm loads them, and the tokenizer's tables
    mlx_lm_peer.py serve f32|4bit FOLDER         says "ready", then answers generate and quit

`f32` holds every matrix dequantized, mlx-lm's fastest form on a CPU. `4bit` keeps the file's own codes (MLX's affine
form, groups of 32; exact) with f32 scales. Prefill and decode run through mlx_lm.generate.generate_step.
"""

import hashlib
import json
import os
import pathlib
import shutil
import sys
import time

import mlx.core as mx

_GROUP = 32
_NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}


def peer_name(name: str) -> str:
    """"blk.3.attn_q" is model.layers.3.self_attn.q_proj there."""
    if name.startswith("blk."):
        _, layer, part = name.split(".")
        return f"model.layers.{layer}.{_NAMES[part]}"
    return _NAMES[name]


def bits_of(codes: mx.array, scales: mx.array) -> int:
    return codes.shape[-1] * 32 // (scales.shape[-1] * _GROUP)


def model_config(metadata: dict) -> dict:
    def number(key):
        return metadata[f"llama.{key}"].item()
    return {
        "model_type": "llama", "hidden_size": number("embedding_length"), "num_hidden_layers": number("block_count"),
        "intermediate_size": number("feed_forward_length"), "num_attention_heads": number("attention.head_count"),
        "num_key_value_heads": number("attention.head_count_kv"),
        "rms_norm_eps": number("attention.layer_norm_rms_epsilon"),
        "vocab_size": len(metadata["tokenizer.ggml.tokens"]), "rope_theta": number("rope.freq_base"),
        # The file's Q and K rows stand in the order of the interleaved rotary form.
        "rope_traditional": True,
    }


def prepare(gguf: pathlib.Path, folder: pathlib.Path) -> None:
    copy = folder / "model.gguf"  # MLX opens a GGUF for writing
    shutil.copyfile(gguf, copy)
    arrays, metadata = mx.load(str(copy), return_metadata=True)
    full, packed, bits = {}, {}, {}
    for key, value in arrays.items():
        name, kind = key.rsplit(".", 1)
        if kind != "weight":
            continue
        there = peer_name(name)
        if f"{name}.scales" not in arrays:
            full[f"{there}.weight"] = packed[f"{there}.weight"] = value.astype(mx.float32)
            continue
        scales = arrays[f"{name}.scales"].astype(mx.float32)
        biases = arrays[f"{name}.biases"].astype(mx.float32)
        bits[there] = bits_of(value, scales)
        full[f"{there}.weight"] = mx.dequantize(value, scales, biases, group_size=_GROUP, bits=bits[there])
        packed.update({f"{there}.weight": value, f"{there}.scales": scales, f"{there}.biases": biases})
    mx.save_safetensors(str(folder / "f32.safetensors"), full)
    mx.save_safetensors(str(folder / "4bit.safetensors"), packed)
    config = model_config(metadata)
    config["tie_word_embeddings"] = "lm_head.weight" not in full
    (folder / "model.json").write_text(json.dumps({
        "config": config, "bits": bits, "tokens": list(metadata["tokenizer.ggml.tokens"]),
        "merges": list(metadata["tokenizer.ggml.merges"])}))
    copy.unlink()


def tokenizer_of(model: dict):
    from tokenizers import Tokenizer, models, pre_tokenizers
    vocabulary = {token: number for number, token in enumerate(model["tokens"])}
    merges = [tuple(merge.split(" ")) for merge in model["merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tokenizer


def load(form: str, folder: pathlib.Path, model: dict):
    import mlx.nn as nn
    from mlx_lm.models import llama
    built = llama.Model(llama.ModelArgs.from_dict(model["config"]))
    if form == "4bit":
        bits = model["bits"]
        nn.quantize(built, class_predicate=lambda name, _: (
            {"group_size": _GROUP, "bits": bits[name]} if name in bits else False))
    built.load_weights(str(folder / f"{form}.safetensors"))
    built.eval()
    mx.eval(built.parameters())
    return built


def blas_here() -> str:
    """The OpenBLAS in this process with its kernel; what MLX's products then call, because it was preloaded."""
    import ctypes
    whole = ctypes.CDLL(None)
    try:
        whole.openblas_get_corename.restype = ctypes.c_char_p
        return f"OpenBLAS ({whole.openblas_get_corename().decode()}, {whole.openblas_get_num_threads()} threads)"
    except AttributeError:
        return "reference BLAS"


def cut(ids: list[int], count: int) -> list[int]:
    """The text's own tokens from its start, again and again: as `weir worker` does."""
    return (ids * (count // len(ids) + 1))[:count]


def generate(model, tokenizer, request: dict) -> dict:
    from mlx_lm.generate import generate_step
    prompt = mx.array(cut(tokenizer.encode(request["text"]).ids, request["prompt_tokens"]))
    mx.eval(prompt)
    drawn, first, last = [], 0.0, 0.0
    start = time.perf_counter()
    for token, _ in generate_step(prompt, model, max_tokens=request["generate_tokens"]):
        drawn.append(int(token))
        last = time.perf_counter()
        first = first or last
    text = "".join(f"{token}," for token in drawn)
    return {"event": "generated", "prompt_tokens": prompt.size, "generated_tokens": len(drawn),
            "ids_hash": hashlib.sha256(text.encode()).hexdigest()[:16],
            "prefill_seconds": first - start, "decode_seconds": last - first}


def serve(form: str, folder: pathlib.Path) -> None:
    mx.set_default_device(mx.cpu)
    model_file = json.loads((folder / "model.json").read_text())
    tokenizer = tokenizer_of(model_file)
    model = load(form, folder, model_file)
    del model_file
    print(json.dumps({"event": "ready", "protocol": 1, "pid": os.getpid(), "library": f"mlx {mx.__version__}",
                      "blas": blas_here()}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "quit":
            return
        print(json.dumps(generate(model, tokenizer, request)), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        serve(sys.argv[2], pathlib.Path(sys.argv[3]))
