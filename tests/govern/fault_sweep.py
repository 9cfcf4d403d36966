"""One computation under every head-room from none to enough, so that each allocation is refused in turn.

    fault_sweep.py LIMIT_BYTES [STEPS]

A ballast of changing size leaves the head-room. Each attempt ends in the right value or in MemoryError; then, with
the ballast gone, the same graph must give the right value and live must be back where it began. Prints JSON.
"""

import gc
import json
import re
import sys

import mlx.core as mx
import numpy as np

import ballast
import counters_page

MIB = 1 << 20
_RANDOM = np.random.default_rng(7)
_A, _B = (_RANDOM.standard_normal((512, 512)).astype(np.float32) / 23 for _ in range(2))


def mixed(a: mx.array, b: mx.array) -> list[mx.array]:
    """Many kinds of kernels; every large intermediate is 1 to 4 MiB."""
    x = mx.softmax(a @ b, axis=-1)
    x = mx.concatenate([x, mx.exp(a) * x, mx.sin(b)], axis=0)
    y = mx.sort(x[:512].T + 1, axis=-1)
    z = mx.conv2d(mx.reshape(x[:512], (1, 512, 512, 1)), mx.ones((4, 3, 3, 1)), padding=1)
    w = mx.abs(mx.fft.rfft(x[:512], axis=-1))
    g = mx.take(x, mx.argsort(x[:, 0])[:700], axis=0)
    s = mx.cumsum(g, axis=0) + mx.logsumexp(g, axis=-1, keepdims=True)
    m = mx.fast.scaled_dot_product_attention(*[mx.reshape(v[:512], (1, 4, 512, 128)) for v in (x, s, a)], scale=0.1)
    return [mx.sum(y, axis=0), mx.mean(z, axis=(0, 1)), w[:, :5], s[-1], mx.reshape(m, (-1, 128))[::64]]


def gradient(a: mx.array, b: mx.array) -> list[mx.array]:
    def loss(left: mx.array, right: mx.array) -> mx.array:
        hidden = mx.tanh(left @ right)
        return mx.mean(mx.square(mx.softmax(hidden @ left.T, axis=-1) @ right))
    value, grads = mx.value_and_grad(loss, argnums=(0, 1))(a, b)
    return [value, *grads]


def linear_algebra(a: mx.array, _: mx.array) -> list[mx.array]:
    """These also allocate on MLX's own threads."""
    spd = a[:400, :400] @ a[:400, :400].T + mx.eye(400)
    with mx.stream(mx.cpu):
        q, r = mx.linalg.qr(spd)
        return [mx.linalg.inv(spd), mx.abs(mx.diagonal(r)), mx.linalg.svd(spd)[1], q @ r]


COMPUTATIONS = {"mixed": mixed, "gradient": gradient, "linear_algebra": linear_algebra}


def live() -> int:
    gc.collect()
    mx.synchronize()
    return mx.get_active_memory()


def agree(values: list[mx.array], wanted: list[np.ndarray]) -> bool:
    return all(np.allclose(np.array(value), right, rtol=1e-4, atol=1e-5) for value, right in zip(values, wanted))


def attempt(work, inputs: list[mx.array], wanted: list[np.ndarray], holder: list[mx.array], asynchronous: bool) -> dict:
    """One computation beside the held block, which goes before the values are read again."""
    values, text = work(*inputs), None
    try:
        if asynchronous:
            mx.async_eval(values)
        mx.eval(values)
    except MemoryError as error:
        text = str(error)
    if text is not None:
        mx.synchronize()
    right = text is not None or agree(values, wanted)
    holder.clear()
    try:
        right_after = agree(values, wanted)
    except MemoryError:
        right_after = False
    inputs_kept = bool(np.array_equal(np.array(inputs[0]), _A) and np.array_equal(np.array(inputs[1]), _B))
    return {"text": text, "right": right, "right_after": right_after, "inputs_kept": inputs_kept}


def sweep(name: str, limit: int, steps: int) -> dict:
    work = COMPUTATIONS[name]
    inputs = [mx.array(_A), mx.array(_B)]
    mx.eval(inputs)
    base = live()
    mx.reset_peak_memory()
    values = work(*inputs)
    mx.eval(values)
    need = mx.get_peak_memory() - base
    wanted = [np.array(value) for value in values]
    del values
    start = live()
    attempts, leaks = [], 0
    for step in range(steps + 1):
        room = (need + 8 * MIB) * step // steps
        for asynchronous in (False, True):
            holder = [ballast.leaving(limit, room)]
            attempts.append(attempt(work, inputs, wanted, holder, asynchronous))
            leaks += live() != start
    places = {re.sub(r"^.*?: (live.*?) \+ this.*$", r"\1", each["text"]) for each in attempts if each["text"]}
    return {"attempts": len(attempts), "refused": sum(each["text"] is not None for each in attempts),
            "places": len(places), "leaks": leaks, "need": need,
            "wrong": sum(not each["right"] for each in attempts),
            "wrong_after": sum(not each["right_after"] for each in attempts),
            "inputs_changed": sum(not each["inputs_kept"] for each in attempts)}


def main() -> None:
    mx.set_default_device(mx.cpu)
    limit, steps = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 24
    print(json.dumps({name: sweep(name, limit, steps) for name in COMPUTATIONS} | {"page": counters_page.of_process()}))


if __name__ == "__main__":
    main()
