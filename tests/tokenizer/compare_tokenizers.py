"""Compares weir's token ids and decoded bytes with those of the PyPI package `tokenizers`.

usage: compare_tokenizers.py WEIR_TOKENIZE MODEL [--pre NAME] [--count N]
The reference is built from the same model file's vocabulary and merges. Exit 0 only if all texts are equal,
once with special tokens parsed and once without.
"""
import argparse
import struct
import subprocess
import sys

from make_strings import make_strings
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
CONTROL, USER_DEFINED = 3, 4
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


class Header:
    """Reads a GGUF file's metadata by itself, so that weir's reader is compared too."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read(64 << 20)
        self.at = 4
        _version, _tensors, pairs = self.scalar("I"), self.scalar("Q"), self.scalar("Q")
        self.values = {}
        for _ in range(pairs):
            key = self.string()
            self.values[key] = self.value(self.scalar("I"))

    def scalar(self, code):
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def string(self):
        length = self.scalar("Q")
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, length = self.scalar("I"), self.scalar("Q")
            return [self.value(element) for _ in range(length)]
        return self.scalar(SCALARS[kind])


def pre_tokenizer(name):
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    if name == "gpt-2":
        return gpt2
    if name == "smollm":
        return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), gpt2])
    if name == "llama-bpe":
        return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    raise SystemExit(f"no reference for pre-tokenizer {name!r}")


def reference(values, pre):
    tokens = values["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in values["tokenizer.ggml.merges"]]
    model = models.BPE({token: i for i, token in enumerate(tokens)}, merges, ignore_merges=pre == "llama-bpe")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer(pre)
    tokenizer.decoder = decoders.ByteLevel()
    for token, kind in zip(tokens, values["tokenizer.ggml.token_type"]):
        if kind in (CONTROL, USER_DEFINED):
            tokenizer.add_tokens([AddedToken(token, special=kind == CONTROL, normalized=False)])
    return tokenizer


def missing_bytes(tokens):
    """Byte values without a token: they are left out on both sides."""
    own = [b for b in range(256) if 0x20 < b < 0x7F or (b > 0xA0 and b != 0xAD)]
    letters = {b: chr(b) for b in own}
    letters.update((b, chr(256 + i)) for i, b in enumerate(b for b in range(256) if b not in letters))
    known = set(tokens)
    return bytes(b for b in range(256) if letters[b] not in known)


def ask_weir(arguments, texts, mode):
    request = b"".join(b"%s %d\n%s" % (mode.encode(), len(text.encode()), text.encode()) for text in texts)
    lines = subprocess.run(arguments, input=request, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")
    assert len(lines) == 2 * len(texts) + 1, f"{len(lines)} lines for {len(texts)} texts"
    return [([int(i) for i in ids.split()], bytes.fromhex(back)) for ids, back in zip(lines[::2], lines[1::2])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir_tokenize")
    parser.add_argument("model")
    parser.add_argument("--pre", help="in the place of the model file's own")
    parser.add_argument("--count", type=int, default=2400)
    options = parser.parse_args()
    values = Header(options.model).values
    pre = options.pre or values["tokenizer.ggml.pre"]
    tokenizer = reference(values, pre)
    texts = make_strings(options.count)
    command = [options.weir_tokenize, options.model] + ([options.pre] if options.pre else [])
    missing = missing_bytes(values["tokenizer.ggml.tokens"])
    different = 0
    for mode in ("special", "plain"):
        tokenizer.encode_special_tokens = mode == "plain"
        for text, (ids, back) in zip(texts, ask_weir(command, texts, mode)):
            expected = tokenizer.encode(text, add_special_tokens=False).ids
            decoded = tokenizer.decode(expected, skip_special_tokens=False)
            whole = back == text.encode().translate(None, missing)
            # The reference shows ill-formed bytes as U+FFFD; they come from characters with missing bytes.
            if ids != expected or not whole or back.decode(errors="replace") != decoded:
                different += 1
                if different <= 10:
                    print(f"{mode} {text[:80]!a}\n  tokenizers {expected[:40]} {decoded[:60]!a}\n"
                          f"  weir       {ids[:40]} {back[:60]!a}")
    print(f"{pre}: {len(texts)} texts, with and without special tokens: {different} different")
    return 1 if different or len(texts) < 2000 else 0


if __name__ == "__main__":
    sys.exit(main())
