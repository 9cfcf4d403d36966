#!/usr/bin/env python3
"""bench/agent.py: what the agent costs a process: at start-up without MLX, and for each pair of allocate and free.

Start-up: /bin/true with and without the shim preloaded, in turn; the median of the differences, its 95 % interval
from order statistics. Pairs: weir_agent_pairs under MLX's own allocator and under each of weir's, fresh processes in
an order that a seeded coin decides; ratios stock / weir of one round, so above 1 weir is faster. Instructions:
callgrind's count for more pairs minus fewer, by event (a pair is two), where valgrind is installed.
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_ALLOCATORS = ("mlx", "mlx-policy", "weir")
_PATTERNS = ("64", "1024", "4096", "65536", "1048576", "mix", "token")


def agent_environment(build: pathlib.Path, allocator: str, pages: str) -> dict[str, str]:
    """What `weir run` sets, so that nothing of `weir run` itself is measured."""
    return {"LD_PRELOAD": str(build / "lib/libweir_agent.so"), "WEIR_AGENT_PAGES": pages,
            "WEIR_AGENT": f"v2 allocator={allocator} cache=unset memory=none host_clear=age enforce=0 children=1 "
                          "huge_pages=1 trim_at=0 idle=0 run=1"}


def spawn_ns(environment: dict[str, str]) -> int:
    start = time.perf_counter_ns()
    os.waitpid(os.posix_spawn("/bin/true", ["true"], environment), 0)
    return time.perf_counter_ns() - start


def start_up(build: pathlib.Path, pages: str, runs: int, order: random.Random) -> dict:
    """Milliseconds that the shim adds to /bin/true."""
    plain = {"PATH": os.environ["PATH"]}
    with_agent = plain | agent_environment(build, "weir", pages)
    differences, base = [], []
    for _ in range(runs):
        first = order.random() < 0.5
        one = spawn_ns(with_agent if first else plain)
        two = spawn_ns(plain if first else with_agent)
        differences.append((one - two if first else two - one) / 1e6)
        base.append((two if first else one) / 1e6)
    differences.sort()
    reach = math.ceil(0.98 * math.sqrt(runs))
    middle = runs // 2
    return {"runs": runs, "plain_ms": statistics.median(base), "added_ms": statistics.median(differences),
            "lower_ms": differences[max(0, middle - reach)], "upper_ms": differences[min(runs - 1, middle + reach)]}


def pair_ns(program: pathlib.Path, environment: dict[str, str], pattern: str, threads: int, pairs: int) -> float:
    """The quickest of five: what the machine adds is never negative."""
    done = subprocess.run([str(program), pattern, str(threads), str(pairs), "5"], env=os.environ | environment,
                          capture_output=True, text=True, check=True)
    if done.stderr:
        sys.exit(f"bench: {done.stderr}")
    return min(float(line) for line in done.stdout.split())


def pairs_of(pattern: str) -> int:
    return 20_000 if pattern == "1048576" else 200_000


def measure_pairs(build: pathlib.Path, pages: str, rounds: int, order: random.Random) -> list[dict]:
    program = build / "bin/weir_agent_pairs"
    rows = []
    for threads in (1, 2):
        for pattern in _PATTERNS:
            found: dict[str, list[float]] = {name: [] for name in ("stock", *_ALLOCATORS)}
            for _ in range(rounds):
                for name in order.sample(list(found), len(found)):
                    environment = {} if name == "stock" else agent_environment(build, name, pages)
                    found[name].append(pair_ns(program, environment, pattern, threads, pairs_of(pattern)))
            rows.append({"pattern": pattern, "threads": threads, "rounds": rounds,
                         "ns": {name: statistics.median(values) for name, values in found.items()},
                         "ratios": {name: ratio(found["stock"], found[name]) for name in _ALLOCATORS}})
    return rows


def ratio(stock: list[float], own: list[float]) -> dict:
    values = [one / other for one, other in zip(stock, own)]
    return {"median": statistics.median(values), "least": min(values), "most": max(values), "n": len(values)}


def instructions(program: pathlib.Path, environment: dict[str, str], pattern: str, pairs: int) -> int:
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), pattern, "1",
                           str(pairs), "1"], env=os.environ | environment, capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if counted is None:
        sys.exit(f"bench: callgrind counted nothing:\n{done.stderr[-2000:]}")
    return int(counted[1])


def measure_instructions(build: pathlib.Path, pages: str) -> dict | None:
    if shutil.which("valgrind") is None:
        return None
    program = build / "bin/weir_agent_pairs"
    few, many = 20_000, 60_000
    found = {}
    for pattern in ("4096", "mix", "token"):
        for name in ("stock", *_ALLOCATORS):
            environment = {} if name == "stock" else agent_environment(build, name, pages)
            counts = [instructions(program, environment, pattern, pairs) for pairs in (few, many)]
            found.setdefault(pattern, {})[name] = (counts[1] - counts[0]) / (2 * (many - few))
    return found


def show(found: dict) -> None:
    start = found["start_up"]
    print(f"/bin/true: {start['plain_ms']:.3f} ms; the shim adds {start['added_ms']:.3f} ms "
          f"({start['lower_ms']:.3f} to {start['upper_ms']:.3f}), {start['runs']} pairs of runs")
    print(f"\n{'ns a pair':<10}{'threads':>8}{'stock':>9}" + "".join(f"{name:>12}{'stock/it':>18}" for name in _ALLOCATORS))
    for row in found["pairs"]:
        line = f"{row['pattern']:<10}{row['threads']:>8}{row['ns']['stock']:>9.1f}"
        for name in _ALLOCATORS:
            of = row["ratios"][name]
            spread = f"{of['median']:.2f} ({of['least']:.2f}-{of['most']:.2f})"
            line += f"{row['ns'][name]:>12.1f}{spread:>18}"
        print(line)
    if found["instructions"] is None:
        print("\ninstructions: valgrind is not installed")
        return
    print(f"\n{'instructions an event':<24}{'stock':>8}" + "".join(f"{name:>12}" for name in _ALLOCATORS))
    for pattern, counts in found["instructions"].items():
        print(f"{pattern:<24}{counts['stock']:>8.0f}" + "".join(f"{counts[name]:>12.0f}" for name in _ALLOCATORS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=_ROOT / "build/release")
    parser.add_argument("--starts", type=int, default=1000, help="pairs of runs of /bin/true (1000)")
    parser.add_argument("--rounds", type=int, default=7, help="processes for each pattern and allocator (7)")
    parser.add_argument("--no-instructions", action="store_true", help="leave callgrind out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    for needed in ("lib/libweir_agent.so", "bin/weir_agent_pairs"):
        if not (options.build / needed).exists():
            sys.exit(f"bench: {options.build / needed} is missing; run scripts/build release")
    order = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as pages:
        os.chmod(pages, 0o700)
        found = {"start_up": start_up(options.build, pages, options.starts, order),
                 "pairs": measure_pairs(options.build, pages, options.rounds, order),
                 "instructions": None if options.no_instructions else measure_instructions(options.build, pages)}
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)


if __name__ == "__main__":
    main()
