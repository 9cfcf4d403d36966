"""What happens above a memory limit, one case a process: prints JSON.

    cap_cases.py CASE

Every case holds a little, asks for too much, and goes on with less. Without a limit nothing is refused.
"""

import gc
import json
import os
import sys
import tempfile
import threading

import mlx.core as mx
import numpy as np

import ballast
import counters_page

MIB = 1 << 20
# Of the test that runs these cases; every case but `churning` expects it.
LIMIT = 256 * MIB


def live() -> int:
    gc.collect()
    mx.synchronize()
    return mx.get_active_memory()


def block(mebibytes: int) -> mx.array:
    """Not yet allocated."""
    return mx.full((mebibytes * MIB // 4,), 3.0)


def refused(work) -> str | None:
    """The text of the MemoryError that `work` ends with."""
    try:
        work()
    except MemoryError as error:
        return str(error)
    return None


def all_are(array: mx.array, value: float) -> bool:
    return mx.all(array == value).item()


def small_request_works() -> bool:
    return all_are(block(16), 3)


def refusal() -> dict:
    held = block(100)
    mx.eval(held)
    text = refused(lambda: mx.eval(block(320)))
    return {"text": text, "held_is_right": all_are(held, 3), "small_works": small_request_works()}


def two_hundred() -> dict:
    held = block(100)
    mx.eval(held)
    refused(lambda: mx.eval(block(320) + 1))
    before = live()
    refusals = sum(refused(lambda: mx.eval(block(320) + 1)) is not None for _ in range(200))
    return {"refusals": refusals, "before": before, "after": live(), "small_works": small_request_works()}


def in_the_middle() -> dict:
    """A graph that is refused half way: its first parts are granted."""
    before = live()
    parts = [block(100), block(100), block(100)]
    total = parts[0] + parts[1] * parts[2]
    text = refused(lambda: mx.eval(total))
    del parts, total
    return {"text": text, "before": before, "after": live(), "small_works": small_request_works()}


def asynchronous() -> dict:
    before = live()
    big, small = block(320), block(8)
    text = refused(lambda: mx.async_eval(big + 1, small))
    del big
    mx.synchronize()
    right = all_are(small, 3)
    del small
    return {"text": text, "small_is_right": right, "before": before, "after": live(), "small_works": small_request_works()}


def second_thread() -> dict:
    found = {}

    def work() -> None:
        with mx.stream(mx.new_stream(mx.cpu)):
            found["text"] = refused(lambda: mx.eval(block(320) * 2))
            found["small_works_there"] = all_are(block(16), 3)

    thread = threading.Thread(target=work)
    thread.start()
    own = [all_are(block(4) * number, 3 * number) for number in range(50)]
    thread.join()
    return {**found, "own_are_right": all(own), "small_works": small_request_works()}


def worker() -> dict:
    """SVD allocates on MLX's own thread, where a refusal would leave a wrong value behind."""
    matrix = np.random.default_rng(5).standard_normal((480, 480)).astype(np.float32)
    given = mx.array(matrix)
    mx.eval(given)
    attempts = [_decompose(given, matrix, room * MIB) for room in (0, 1, 2, 3, 20)]
    works = small_request_works()
    page = counters_page.of_process()
    return {"attempts": attempts, "small_works": works, "overdraw_after": page and page["overdraw"]}


def _decompose(given: mx.array, matrix: np.ndarray, room: int) -> dict:
    """Beside a ballast: with little room the caller is refused, with a little more the worker overdraws."""
    mx.clear_cache()
    held = ballast.leaving(LIMIT, room)
    parts = mx.linalg.svd(given, stream=mx.cpu)
    text = refused(lambda: mx.eval(parts))
    page = counters_page.of_process()
    del held
    u, s, vt = (np.array(part) for part in parts)
    right = np.allclose(s, np.linalg.svd(matrix)[1], rtol=1e-3, atol=1e-3) and np.allclose(u * s @ vt, matrix, atol=1e-2)
    return {"text": text, "right": bool(right), "overdraws": page and page["overdraws"],
            "overdraw_peak": page and page["overdraw_peak"]}


def loading() -> dict:
    """A weights file larger than the limit, then one that fits."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = os.path.join(folder, "large.safetensors"), os.path.join(folder, "small.safetensors")
        _write_safetensors(large, 8, 40)
        _write_safetensors(small, 2, 10)
        before = live()
        text = refused(lambda: mx.eval(mx.load(large)))
        after = live()
        weights = mx.load(small)
        mx.eval(weights)
        right = all(all_are(weight, 1) for weight in weights.values()) and len(weights) == 2
    return {"text": text, "before": before, "after": after, "small_is_right": right, "small_works": small_request_works()}


def _write_safetensors(path: str, count: int, mebibytes: int) -> None:
    """Without MLX, which the limit would stop."""
    size = mebibytes * MIB
    header = {f"w{number}": {"dtype": "F32", "shape": [size // 4], "data_offsets": [number * size, (number + 1) * size]}
              for number in range(count)}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _ in range(count):
            file.write(np.ones(size // 4, dtype=np.float32).tobytes())


def churning() -> dict:
    """Short and long prompts in turn, refused or answered one by one."""
    import churn  # mlx-lm takes a second to import, which the other cases need not wait for

    model = churn.tiny_model()
    answers, texts, lives = [], [], []
    for number, length in enumerate((150, 600, 220, 640, 180, 300)):
        try:
            answers.append(churn.respond(model, churn.prompt_ids(length, model.args.vocab_size, number), tokens=8))
        except MemoryError as error:
            answers.append(None)
            texts.append(str(error))
        lives.append(live())
    return {"ids": answers, "texts": texts, "lives": lives, "live_peak": mx.get_peak_memory()}


CASES = {case.__name__: case for case in (
    refusal, two_hundred, in_the_middle, asynchronous, second_thread, worker, loading, churning)}


if __name__ == "__main__":
    mx.set_default_device(mx.cpu)
    answer = CASES[sys.argv[1]]()
    print(json.dumps({**answer, "page": counters_page.of_process()}))
