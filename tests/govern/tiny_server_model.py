"""A model on disk that mlx_lm.server loads: a Llama of random weights and a tokenizer of single bytes.

    tiny_server_model.py FOLDER
"""

import json
import pathlib
import sys

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm.models import llama
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

_CONFIG = {"model_type": "llama", "hidden_size": 128, "num_hidden_layers": 2, "intermediate_size": 256,
           "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "vocab_size": 257,
           "max_position_embeddings": 65536, "tie_word_embeddings": False}


def write(folder: pathlib.Path) -> None:
    mx.random.seed(4)
    model = llama.Model(llama.ModelArgs.from_dict(_CONFIG))
    weights = {name: mx.random.normal(weight.shape) * 0.2 for name, weight in tree_flatten(model.parameters())}
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    (folder / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"], "eos_token_id": 256, **_CONFIG}))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)} | {"<end>": 256}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<end>", "clean_up_tokenization_spaces": False,
        "chat_template": "{% for message in messages %}{{ message.content }}{% endfor %}"}))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
