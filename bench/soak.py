#!/usr/bin/env python3
"""bench/soak.py: minutes of varying shapes under `weir run`; is what the process holds flat?

The child computes with shapes that never repeat (products, sorts, convolutions, prompts through a small Llama, now
and then a singular value decomposition and a burst of large blocks) and says at rest, about once a second, what it
holds. After the first quarter, footprint and what is backed are cut into twenty equal parts; a line through their
means gives the slope with a two-sided 95 % interval (Student's t, 18 degrees of freedom). What is retained follows
demand, so single samples swing; a leak shows where the peaks go. Flat: the slope's interval reaches down to 0, and the
highest footprint of the last third is at most one hundredth above the highest before it.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_PARTS = 20
_T975_18 = 2.101


def compute(minutes: float, seed: int) -> None:
    """The child: prints a JSON line about once a second."""
    import mlx.core as mx

    import middle_worker
    mx.set_default_device(mx.cpu)
    draw = random.Random(seed)
    model = middle_worker.churn.tiny_model()
    vocabulary = model.args.vocab_size

    def size() -> int:
        return int(2 ** draw.uniform(5, 10))

    def once(turn: int) -> None:
        rows, inner, columns = size(), size(), size()
        product = mx.random.normal((rows, inner)) @ mx.random.normal((inner, columns))
        mx.eval(mx.sort(mx.softmax(product, axis=-1), axis=0), mx.cumsum(product, axis=1))
        mx.eval(mx.conv1d(mx.random.normal((1, rows + 8, 16)), mx.random.normal((32, 5, 16))))
        if turn % 4 == 0:
            ids = middle_worker.churn.prompt_ids(draw.randrange(20, 300), vocabulary, turn)
            middle_worker.churn.respond(model, ids, tokens=4)
        if turn % 16 == 0:
            mx.eval(mx.linalg.svd(mx.random.normal((50 + size() % 100, 80)), stream=mx.cpu))
        if turn % 64 == 0:
            mx.eval([mx.zeros((draw.randrange(1, 12) << 18,)) for _ in range(8)])

    start = said = time.monotonic()
    turn = 0
    while time.monotonic() - start < 60 * minutes:
        once(turn)
        turn += 1
        if time.monotonic() - said >= 1:
            said = time.monotonic()
            print(json.dumps({"seconds": said - start, "turns": turn, **middle_worker.held()}), flush=True)
    print(json.dumps({"page": middle_worker.counters_page.of_process(), "turns": turn, **middle_worker.resident()}))


def slope(samples: list[dict], name: str) -> dict:
    """Bytes per ten minutes, from the means of equal parts."""
    size = len(samples) // _PARTS
    parts = [samples[number * size:(number + 1) * size] for number in range(_PARTS)]
    x = [statistics.mean(sample["seconds"] for sample in part) / 600 for part in parts]
    y = [statistics.mean(sample[name] for sample in part) for part in parts]
    rise, start = statistics.linear_regression(x, y)
    middle = statistics.mean(x)
    square = sum((value - middle) ** 2 for value in x)
    error = (sum((b - start - rise * a) ** 2 for a, b in zip(x, y)) / (_PARTS - 2) / square) ** 0.5
    return {"per_10_minutes": rise, "lower": rise - _T975_18 * error, "upper": rise + _T975_18 * error,
            "mean": statistics.mean(y)}


def is_flat(samples: list[dict], slope_of_footprint: dict) -> tuple[bool, list[int]]:
    """And the highest footprint of each third."""
    third = len(samples) // 3
    peaks = [max(sample["footprint"] for sample in samples[number * third:(number + 1) * third]) for number in range(3)]
    return slope_of_footprint["lower"] <= 0 and peaks[2] <= 1.01 * max(peaks[:2]), peaks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--allocator", default="weir", help="mlx, mlx-policy, weir, or stock: without weir (weir)")
    parser.add_argument("--cache-limit", help="of weir run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weir", type=pathlib.Path, default=_ROOT / "build/release/bin/weir")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        compute(options.minutes, options.seed)
        return
    command = [str(_ROOT / ".venv/bin/python"), __file__, "--child", "--minutes", str(options.minutes), "--seed", str(options.seed)]
    if options.allocator != "stock":
        limit = ["--cache-limit", options.cache_limit] if options.cache_limit else []
        command = [str(options.weir), "run", "--quiet", "--allocator", options.allocator, *limit, "--", *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                          env=os.environ | {"LD_PRELOAD": "libopenblas.so.0", "PYTHONDONTWRITEBYTECODE": "1"})
    *samples, end = map(json.loads, done.stdout.splitlines())
    counted = samples[len(samples) // 4:]
    if len(counted) < 2 * _PARTS:
        sys.exit(f"bench: {len(counted)} samples after the first quarter are too few; use --minutes 1 or more")
    found = {name: slope(counted, name) for name in ("footprint", "backed", "retained")}
    flat, peaks = is_flat(counted, found["footprint"])
    if options.json:
        print(json.dumps({"slopes": found, "peaks": peaks, "flat": flat, "end": end, "samples": samples}))
        return
    print(f"{options.allocator}, {options.minutes:g} minutes, {end['turns']} turns, {len(counted)} samples counted")
    for name, of in found.items():
        print(f"  {name:<10} mean {of['mean'] / 1e6:8.1f} MB, {of['per_10_minutes'] / 1e6:+8.3f} MB in 10 minutes "
              f"({of['lower'] / 1e6:+.3f} to {of['upper'] / 1e6:+.3f})")
    print(f"  highest footprint of each third: {', '.join(f'{peak / 1e6:.1f}' for peak in peaks)} MB")
    page = end["page"]
    if page:
        print(f"  backed peak {page['backed_peak'] / 1e6:.1f} MB, live peak {page['live_peak'] / 1e6:.1f} MB, "
              f"troubles {page['troubles']}")
    print("flat" if flat else "not flat")


if __name__ == "__main__":
    main()
