#!/usr/bin/env python3
"""bench/generate.py: weir's runner beside mlx-lm, on the same weights, the same tokens and the same BLAS.

Every round starts each runner afresh, in an order that a seeded coin decides, once for each prompt length: load, one
short warm request, one measured one. The first process, which is not counted, brings the model's file into the page
cache. Figures are ratios weir / mlx-lm of one round: their median, smallest and largest, and n. Above 1 is faster,
or larger.

Both processes are watched alike, from outside (/proc/PID/status every 10 ms, from start to end): resident is the
kernel's VmHWM; footprint is the largest RssAnon + RssShmem + VmSwap that was seen.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_WEIR = _ROOT / "build/release/bin/weir"
_PYTHON = _ROOT / ".venv/bin/python"
_PEER = _ROOT / "bench/mlx_lm_peer.py"
_METRICS = {"prefill": "prefill_tokens_per_second", "decode": "decode_tokens_per_second",
            "footprint": "footprint_peak_bytes", "resident": "resident_peak_bytes"}
_WARM = {"prompt_tokens": 24, "generate_tokens": 3}


class Watched(threading.Thread):
    """The peaks of one process, by its /proc status."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self._path = f"/proc/{pid}/status"
        self._ended = threading.Event()
        self.resident_bytes = self.footprint_bytes = 0

    def look(self) -> None:
        try:
            status = pathlib.Path(self._path).read_text()
        except OSError:
            return
        kib = {name: int(rest.split()[0]) for name, _, rest in
               (line.partition(":") for line in status.splitlines()) if rest.strip().endswith("kB")}
        self.resident_bytes = max(self.resident_bytes, 1024 * kib.get("VmHWM", 0))
        own = kib.get("RssAnon", 0) + kib.get("RssShmem", 0) + kib.get("VmSwap", 0)
        self.footprint_bytes = max(self.footprint_bytes, 1024 * own)

    def run(self) -> None:
        while not self._ended.wait(0.01):
            self.look()

    def stop(self) -> None:
        self.look()
        self._ended.set()
        self.join()


class Runner:
    """A child that speaks the worker's protocol: one JSON line in, one out."""

    def __init__(self, command: list[str], environment: dict[str, str]):
        self._log = tempfile.TemporaryFile("w+")
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
                                       text=True, env=os.environ | environment)
        self.watched = Watched(self._child.pid)
        self.watched.start()
        self.ready = self._read("ready")

    def _read(self, wanted: str) -> dict:
        line = self._child.stdout.readline()
        event = json.loads(line) if line else {"event": "ended"}
        if event["event"] != wanted:
            self._log.seek(0)
            sys.exit(f"bench: {self._child.args[0]} said {event} instead of {wanted}:\n{self._log.read()[-2000:]}")
        return event

    def variable(self, name: str) -> str | None:
        """As it stands in the child, which may have set it and executed itself again."""
        words = pathlib.Path(f"/proc/{self._child.pid}/environ").read_bytes().split(b"\0")
        return next((word.decode().split("=", 1)[1] for word in words if word.startswith(name.encode() + b"=")), None)

    def generate(self, request: dict) -> dict:
        self._child.stdin.write(json.dumps({"op": "generate", "name": "bench"} | request) + "\n")
        self._child.stdin.flush()
        event = self._read("generated")
        asked, done = ([each[key] for key in ("prompt_tokens", "generate_tokens")] for each in
                       (request, {**event, "generate_tokens": event["generated_tokens"]}))
        if asked != done:
            sys.exit(f"bench: {self._child.args[0]} ran {done} tokens instead of {asked}")
        return event

    def quit(self) -> None:
        self.watched.stop()
        self._child.stdin.write('{"op":"quit"}\n')
        self._child.stdin.close()
        self._child.wait()


def measure(command, environment, text, prompt_tokens, generate_tokens) -> dict:
    runner = Runner(command, environment)
    runner.generate({"text": text, **_WARM})
    event = runner.generate({"text": text, "prompt_tokens": prompt_tokens, "generate_tokens": generate_tokens})
    runner.quit()
    return {"prefill_tokens_per_second": prompt_tokens / event["prefill_seconds"],
            "decode_tokens_per_second": (generate_tokens - 1) / event["decode_seconds"],
            "footprint_peak_bytes": runner.watched.footprint_bytes,
            "resident_peak_bytes": runner.watched.resident_bytes,
            "ids_hash": event["ids_hash"], "blas": runner.ready["blas"], "library": runner.ready["library"]}


def ratios(runs: list[dict], peer: str, metric: str) -> dict:
    """Of the rounds of one prompt length: weir / peer."""
    values = [run["weir"][metric] / run[peer][metric] for run in runs]
    return {"median": statistics.median(values), "least": min(values), "most": max(values), "n": len(values),
            "weir_median": statistics.median(run["weir"][metric] for run in runs),
            "peer_median": statistics.median(run[peer][metric] for run in runs)}


def summary(rounds: dict[int, list[dict]], peers: list[str]) -> list[dict]:
    return [{"prompt_tokens": length, "peer": peer, "same_tokens":
             sum(run["weir"]["ids_hash"] == run[peer]["ids_hash"] for run in runs), "rounds": len(runs),
             **{name: ratios(runs, peer, metric) for name, metric in _METRICS.items()}}
            for length, runs in rounds.items() for peer in peers]


def shown(value: float, name: str) -> str:
    return f"{value / 1e6:.0f} MB" if name in ("footprint", "resident") else f"{value:.1f} tok/s"


def table(rows: list[dict]) -> str:
    lines = [f"{'prompt':>6}  {'peer':<12} {'metric':<10} {'weir':>12} {'peer':>12} {'ratio':>7}  {'min-max':<13} n"]
    for row in rows:
        for name in _METRICS:
            of = row[name]
            spread = f"{of['least']:.2f}-{of['most']:.2f}"
            lines.append(f"{row['prompt_tokens']:>6}  {row['peer']:<12} {name:<10} {shown(of['weir_median'], name):>12} "
                         f"{shown(of['peer_median'], name):>12} {of['median']:>7.2f}  {spread:<13} {of['n']}")
        lines.append(f"{'':>6}  {'':<12} the same tokens in {row['same_tokens']} of {row['rounds']} rounds")
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prompts", default="128,512", help="prompt lengths in tokens (128,512)")
    parser.add_argument("--tokens", type=int, default=32, help="decoded tokens, the first among them (32)")
    parser.add_argument("--peers", default="f32", help="mlx-lm's weights: f32, 4bit or both, by comma (f32)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="OpenBLAS threads (all CPUs)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the runners (1)")
    parser.add_argument("--model", type=pathlib.Path, help="a llama GGUF of Q4_1 and Q8_0 (the embedded one)")
    parser.add_argument("--json", action="store_true", help="print JSON with every run")
    chosen = parser.parse_args()
    chosen.lengths = [int(length) for length in chosen.prompts.split(",")]
    chosen.peers = chosen.peers.split(",")
    if chosen.rounds < 1 or chosen.tokens < 2 or min(chosen.lengths) < 1 or not {"f32", "4bit"}.issuperset(chosen.peers):
        parser.error("rounds and prompts are 1 or more, tokens 2 or more, peers f32 or 4bit")
    return chosen


def main() -> None:
    options = arguments()
    model = options.model or next((_ROOT / "build/release/share/weir/models").glob("*.gguf"), None)
    for needed, mend in ((_WEIR, "scripts/build release"), (_PYTHON, "scripts/setup --tests")):
        if not needed.exists():
            sys.exit(f"bench: {needed.relative_to(_ROOT)} is missing; run {mend}")
    if model is None:
        sys.exit("bench: no model beside the built tool; run scripts/setup, then scripts/build release")
    text = (_ROOT / "workloads/weir.txt").read_text()
    order = random.Random(options.seed)
    environment = {"OPENBLAS_NUM_THREADS": str(options.threads)}
    weir = [str(_WEIR), "worker", str(model)]
    first = Runner(weir, environment)
    kernel = first.variable("OPENBLAS_CORETYPE")
    first.quit()
    if kernel:
        environment["OPENBLAS_CORETYPE"] = kernel
    rounds = {length: [] for length in options.lengths}
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
        subprocess.run([str(_PYTHON), str(_PEER), "prepare", str(model), folder], check=True)
        started = time.monotonic()
        for number in range(options.rounds):
            for length in options.lengths:
                runners = ["weir", *options.peers]
                order.shuffle(runners)
                run = {}
                for name in runners:
                    command = weir if name == "weir" else [str(_PYTHON), str(_PEER), "serve", name, folder]
                    extra = {} if name == "weir" else {"LD_PRELOAD": "libopenblas.so.0"}
                    run[name] = measure(command, environment | extra, text, length, options.tokens)
                rounds[length].append(run)
                print(f"round {number + 1} of {options.rounds}, {length} tokens: {', '.join(runners)}; "
                      f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    rows = summary(rounds, options.peers)
    if options.json:
        print(json.dumps({"rows": rows, "runs": rounds, "environment": environment, "seed": options.seed}, indent=2))
    else:
        last = rounds[options.lengths[0]][0]
        for name in ("weir", *options.peers):
            print(f"{name}: {last[name]['library']}, {last[name]['blas']}")
        print(table(rows))


if __name__ == "__main__":
    main()
