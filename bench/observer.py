#!/usr/bin/env python3
"""bench/observer.py: does a process notice that `weir top` looks at it, ten times a second?

Four questions, each asked with and without a `weir top --delay 0.1` on a terminal of its own, in turn:

idle          system calls (strace -f -c -p), page faults, switches of threads and the footprint of a governed Python
              that holds arrays and rests
active        system calls (strace -f -c), by name, of a fixed number of allocations
instructions  callgrind's count for a fixed number of allocations; unchanged within 0.1 %
many          a thousand `weir ps` at once: all answer, and the process holds what it held

The verdict is PASS where every answer is no. Exit code 1 otherwise.
"""

import argparse
import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import agent

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_HOLDER = """
import sys
import mlx.core as mx
mx.set_default_device(mx.cpu)
held = mx.full((50_000_000,), 2.0)
mx.eval(held)
for length in range(1000, 200000, 997): mx.eval(mx.ones((length,)) + 1)
print("ready", flush=True)
sys.stdin.readline()
"""
_SHARE = 0.001


class Observer:
    """`weir top` on a terminal of its own, while the body of a `with` runs."""

    def __init__(self, build: pathlib.Path, pages: str):
        self._command = [str(build / "bin/weir"), "top", "--delay", "0.1"]
        self._environment = os.environ | {"WEIR_RUNTIME_DIR": pages, "TERM": "xterm-256color", "LC_ALL": "C.utf8"}
        self.drawn = 0

    def _drain(self) -> None:
        with contextlib.suppress(OSError):
            while content := os.read(self._terminal, 65536):
                self.drawn += len(content)

    def __enter__(self):
        self._terminal, program_end = pty.openpty()
        self._top = subprocess.Popen(self._command, env=self._environment, stdin=program_end, stdout=program_end,
                                     stderr=program_end, start_new_session=True)
        os.close(program_end)
        self._reader = threading.Thread(target=self._drain)
        self._reader.start()
        return self

    def __exit__(self, *_):
        if self._top.poll() is not None:
            sys.exit(f"bench: weir top ended with {self._top.returncode} while it should look")
        self._top.terminate()
        self._top.wait()
        self._reader.join()
        os.close(self._terminal)
        if self.drawn == 0:
            sys.exit("bench: weir top has drawn nothing")


def maybe_observed(build: pathlib.Path, pages: str, observed: bool):
    return Observer(build, pages) if observed else contextlib.nullcontext()


def strace_counts(text: str) -> dict[str, int]:
    """Calls by name, from the table of strace -c."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 5 and words[0].replace(".", "").isdigit() and words[-1] != "total":
            found[words[-1]] = int(words[3])
    return found


def state_of(pid: int) -> dict[str, int]:
    """What a look could have changed."""
    lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    kilobytes = sum(int(lines[key].split()[0]) for key in ("RssAnon", "RssShmem", "VmSwap"))
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    switches = sum(int(line.split()[1]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                   for line in (task / "status").read_text().splitlines() if "ctxt_switches" in line)
    return {"footprint_bytes": kilobytes * 1024, "faults": int(stat[7]) + int(stat[9]), "switches": switches}


@contextlib.contextmanager
def holder(build: pathlib.Path, pages: str):
    environment = os.environ | agent.agent_environment(build, "weir", pages)
    process = subprocess.Popen([str(_ROOT / ".venv/bin/python"), "-c", _HOLDER], env=environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if process.stdout.readline() != "ready\n":
            sys.exit("bench: the governed program did not start")
        time.sleep(1)  # its start is over
        yield process.pid
    finally:
        process.stdin.close()
        process.wait()


def idle_once(build: pathlib.Path, pages: str, pid: int, observed: bool, seconds: float) -> dict:
    """Counted by strace for so long; then the same again without strace, which itself wakes threads."""
    with maybe_observed(build, pages, observed):
        time.sleep(1)
        with tempfile.NamedTemporaryFile("r") as table:
            tracer = subprocess.Popen(["strace", "-f", "-c", "-o", table.name, "-p", str(pid)], stderr=subprocess.DEVNULL)
            time.sleep(seconds)
            if tracer.poll() is not None:
                sys.exit("bench: strace could not attach to the governed process")
            tracer.terminate()
            tracer.wait()
            counts = strace_counts(table.read())
        time.sleep(1)
        before = state_of(pid)
        time.sleep(seconds)
        after = state_of(pid)
    return {"observed": observed, "calls": counts, **{key: after[key] - before[key] for key in before}}


def measure_idle(build: pathlib.Path, pages: str, rounds: int, seconds: float) -> list[dict]:
    with holder(build, pages) as pid:
        return [idle_once(build, pages, pid, observed, seconds) for _ in range(rounds) for observed in (False, True)]


def agent_settings(build: pathlib.Path, pages: str) -> dict[str, str]:
    """Without BLAS's threads: they spin at their start, by sched_yield, as long as the machine lets them."""
    return agent.agent_environment(build, "weir", pages) | {"OPENBLAS_NUM_THREADS": "1"}


def workload(build: pathlib.Path, pairs: int) -> list[str]:
    return [str(build / "bin/weir_agent_pairs"), "token", "1", str(pairs), "1"]


def timed(command: list[str], environment: dict[str, str]) -> float:
    start = time.monotonic()
    subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)
    return time.monotonic() - start


def pairs_for(seconds: float, prefix: list[str], build: pathlib.Path, environment: dict[str, str]) -> int:
    """How many pairs take about so long behind `prefix`."""
    few, many = 20_000, 220_000
    short, long = (timed([*prefix, *workload(build, pairs)], environment) for pairs in (few, many))
    return max(many, int(seconds / max(long - short, 1e-3) * (many - few)))


def measure_active(build: pathlib.Path, pages: str, rounds: int, seconds: float) -> list[dict]:
    environment = agent_settings(build, pages)
    pairs = pairs_for(seconds, [], build, environment)
    rows = []
    for _ in range(rounds):
        for observed in (False, True):
            with maybe_observed(build, pages, observed), tempfile.NamedTemporaryFile("r") as table:
                subprocess.run(["strace", "-f", "-c", "-o", table.name, *workload(build, pairs)],
                               env=os.environ | environment, capture_output=True, check=True)
                rows.append({"observed": observed, "pairs": pairs, "calls": strace_counts(table.read())})
    return rows


def measure_instructions(build: pathlib.Path, pages: str, rounds: int, seconds: float) -> list[dict]:
    environment = agent_settings(build, pages)
    prefix = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    pairs = pairs_for(seconds, prefix, build, environment)
    rows = []
    for _ in range(rounds):
        for observed in (False, True):
            with maybe_observed(build, pages, observed):
                done = subprocess.run([*prefix, *workload(build, pairs)], env=os.environ | environment,
                                      capture_output=True, text=True, check=True)
            rows.append({"observed": observed, "pairs": pairs,
                         "instructions": int(re.search(r"Collected : (\d+)", done.stderr)[1])})
    return rows


def available_bytes() -> int:
    return int(re.search(r"MemAvailable:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) * 1024


def measure_many(build: pathlib.Path, pages: str, count: int) -> dict:
    environment = os.environ | {"WEIR_RUNTIME_DIR": pages}
    command = [str(build / "bin/weir"), "ps", "--json"]
    with holder(build, pages) as pid:
        before = state_of(pid)
        start = time.monotonic()
        looks = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(count)]
        least = available_bytes()
        answered = 0
        for look in looks:
            out, _ = look.communicate()
            least = min(least, available_bytes())
            answered += look.returncode == 0 and [row["pid"] for row in json.loads(out)] == [pid]
        took = time.monotonic() - start
        after = state_of(pid)
    return {"count": count, "answered": answered, "seconds": took, "least_available_bytes": least,
            **{key: after[key] - before[key] for key in ("footprint_bytes", "faults")}}


def arms(rows: list[dict], key: str) -> tuple[list, list]:
    return tuple([row[key] for row in rows if row["observed"] == observed] for observed in (False, True))


def judge_idle(rows: list[dict]) -> list[str]:
    faults = []
    for key in ("footprint_bytes", "faults"):
        without, observed = arms(rows, key)
        if max(map(abs, observed)) > max(map(abs, without)):
            faults.append(f"idle: {key} changed by {observed} with top, by {without} without")
    for key in ("calls", "switches"):
        without, observed = ([sum(one.values()) if isinstance(one, dict) else one for one in arm] for arm in arms(rows, key))
        if max(observed) > max(without):
            faults.append(f"idle: {key} {observed} with top, {without} without")
    return faults


def judge_active(rows: list[dict]) -> list[str]:
    """Each kind of call as often as without top, as far as two runs without it agree."""
    without, observed = arms(rows, "calls")
    faults = []
    for name in sorted({name for counts in without + observed for name in counts}):
        plain = [counts.get(name, 0) for counts in without]
        watched = [counts.get(name, 0) for counts in observed]
        if max(watched) > max(plain) + (max(plain) - min(plain)):
            faults.append(f"active: {name} {watched} with top, {plain} without")
    return faults


def judge_instructions(rows: list[dict]) -> list[str]:
    without, observed = (statistics.median(arm) for arm in arms(rows, "instructions"))
    change = observed / without - 1
    return [] if abs(change) <= _SHARE else [f"instructions: {change:+.4%} with top"]


def judge_many(found: dict) -> list[str]:
    faults = []
    if found["answered"] != found["count"]:
        faults.append(f"many: {found['answered']} of {found['count']} answered")
    if found["footprint_bytes"] != 0 or found["faults"] != 0:
        faults.append(f"many: the process's footprint changed by {found['footprint_bytes']}, {found['faults']} faults")
    return faults


def show(found: dict) -> None:
    for row in found.get("idle", []):
        print(f"idle          {'top' if row['observed'] else '-':<4} {sum(row['calls'].values())} system calls {row['calls'] or ''}"
              f" · footprint {row['footprint_bytes']:+} · {row['faults']} faults · {row['switches']} switches")
    for row in found.get("active", []):
        print(f"active        {'top' if row['observed'] else '-':<4} {sum(row['calls'].values()):,} system calls,"
              f" {row['pairs']:,} pairs · {row['calls']}")
    for row in found.get("instructions", []):
        print(f"instructions  {'top' if row['observed'] else '-':<4} {row['instructions']:,}")
    if rows := found.get("instructions"):
        without, observed = (statistics.median(arm) for arm in arms(rows, "instructions"))
        print(f"instructions  median with top / without: {observed / without:.6f}")
    if "many" in found:
        many = found["many"]
        print(f"many          {many['answered']} of {many['count']} answered in {many['seconds']:.1f} s ·"
              f" footprint {many['footprint_bytes']:+} · {many['faults']} faults · at least"
              f" {many['least_available_bytes'] / 1e9:.1f} GB stayed available")
    print("PASS: nobody notices" if not found["faults"] else "FAIL: " + "; ".join(found["faults"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=_ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs for each question (3)")
    parser.add_argument("--seconds", type=float, default=60, help="how long each run is looked at (60)")
    parser.add_argument("--looks", type=int, default=1000, help="how many `weir ps` at once (1000)")
    parser.add_argument("--only", choices=("idle", "active", "instructions", "many"), action="append")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    for needed in ("lib/libweir_agent.so", "bin/weir_agent_pairs", "bin/weir"):
        if not (options.build / needed).exists():
            sys.exit(f"bench: {options.build / needed} is missing; run scripts/build release")
    for tool in ("strace", "valgrind"):
        if shutil.which(tool) is None:
            sys.exit(f"bench: {tool} is not installed")
    wanted = options.only or ("idle", "active", "instructions", "many")
    found: dict = {}
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as pages:
        os.chmod(pages, 0o700)
        for name, measure in (("idle", measure_idle), ("active", measure_active), ("instructions", measure_instructions)):
            if name in wanted:
                found[name] = measure(options.build, pages, options.rounds, options.seconds)
        if "many" in wanted:
            found["many"] = measure_many(options.build, pages, options.looks)
    judges = {"idle": judge_idle, "active": judge_active, "instructions": judge_instructions, "many": judge_many}
    found["faults"] = [fault for name in judges if name in found for fault in judges[name](found[name])]
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)
    sys.exit(1 if found["faults"] else 0)


if __name__ == "__main__":
    main()
