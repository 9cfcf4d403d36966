"""Does an idle trim cost the next request anything? One mlx_lm.server under `weir run`, request by request.

    idle.py [--weir BIN] [--rounds N] [--idle SECONDS] [--json FILE]

Three arms in randomised complete blocks: `trimmed` (the server rests until its idle trim has come), `rested` and `again`
(the same rest on a server with --trim-at none). All requests are the same, and each arm's server is warm. `rested`
against `again` is A against A: the floor that a difference has to leave. Prints the ratio of the times (above 1: slower),
n, the spread of the log ratios, and footprints.
"""

import argparse
import http.client
import json
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

_ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT / "tests" / "govern"))

from server_test import free_port  # noqa: E402

_PROMPT = "all work and no play makes a dull day " * 20
_TOKENS = 16


class Server:
    """One arm: its own process, its own settings."""

    def __init__(self, weir: pathlib.Path, model: pathlib.Path, folder: pathlib.Path, trim_at: str):
        self.port, self.summary = free_port(), folder / "summary.json"
        folder.mkdir()
        environment = {**os.environ, "WEIR_RUNTIME_DIR": str(folder / "runtime"), "HF_HUB_OFFLINE": "1",
                       "LD_PRELOAD": "libopenblas.so.0"}
        self.run = subprocess.Popen(
            [str(weir), "run", "--quiet", "--trim-at", trim_at, "--summary", str(self.summary), "--",
             sys.executable, "-m", "mlx_lm", "server", "--model", str(model), "--port", str(self.port)],
            env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while True:
            try:
                self.request()
                break
            except OSError:
                if self.run.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.2)
        (self.pid,) = map(int, pathlib.Path(f"/proc/{self.run.pid}/task/{self.run.pid}/children").read_text().split())

    def request(self) -> tuple[float, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        body = json.dumps({"prompt": _PROMPT, "max_tokens": _TOKENS, "temperature": 0})
        start = time.perf_counter()
        connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        seconds = time.perf_counter() - start
        connection.close()
        return seconds, answer["choices"][0]["text"]

    def footprint(self) -> int:
        lines = pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return sum(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "RssShmem", "VmSwap"))

    def stop(self) -> dict:
        self.run.send_signal(signal.SIGINT)
        try:
            self.run.wait(30)
        except subprocess.TimeoutExpired:
            self.run.kill()
            self.run.wait()
        return json.loads(self.summary.read_text())


def compare(times: dict[str, list[float]], arm: str, base: str) -> dict:
    logs = [math.log(one / two) for one, two in zip(times[arm], times[base])]
    spread = statistics.stdev(logs) if len(logs) > 1 else math.nan
    return {"arm": arm, "against": base, "ratio": math.exp(statistics.fmean(logs)), "n": len(logs), "sd_log": spread,
            "standard_error": spread / math.sqrt(len(logs))}


def measure(options: argparse.Namespace, folder: pathlib.Path) -> dict:
    model = folder / "model"
    model.mkdir()
    subprocess.run([sys.executable, str(_ROOT / "tests" / "act" / "real_server_model.py"), str(model)], check=True)
    arms = {"trimmed": f"idle={options.idle}", "rested": "none", "again": "none"}
    servers = {name: Server(options.weir, model, folder / name, trim_at) for name, trim_at in arms.items()}
    times: dict[str, list[float]] = {name: [] for name in servers}
    idle: dict[str, list[int]] = {name: [] for name in servers}
    texts: set[str] = set()
    order = random.Random(1)
    for server in servers.values():
        server.request()
    for _ in range(options.rounds):
        time.sleep(1.25 * options.idle + 0.5)  # all rest together; nobody works meanwhile
        names = list(servers)
        order.shuffle(names)
        for name in names:
            idle[name].append(servers[name].footprint())
        # Each is asked once after its rest; those that wait for their turn rest on.
        for name in names:
            seconds, text = servers[name].request()
            times[name].append(seconds)
            texts.add(text)
    summaries = {name: server.stop() for name, server in servers.items()}
    return {"rounds": options.rounds, "same_tokens": len(texts) == 1,
            "median_seconds": {name: statistics.median(each) for name, each in times.items()},
            "idle_footprint_bytes": {name: statistics.median(each) for name, each in idle.items()},
            "acts": {name: summary["events"]["acts"] for name, summary in summaries.items()},
            "comparisons": [compare(times, "trimmed", "rested"), compare(times, "again", "rested")]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", type=pathlib.Path, default=_ROOT / "build/release/bin/weir")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--idle", type=float, default=2.0)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.weir = options.weir.resolve()
    with tempfile.TemporaryDirectory(prefix="weir-idle-") as folder:
        result = measure(options, pathlib.Path(folder))
    for one in result["comparisons"]:
        floor = " (A against A)" if one["arm"] == "again" else ""
        print(f"{one['arm']} / {one['against']}{floor}: {one['ratio']:.3f}×, n {one['n']}, sd {100 * one['sd_log']:.1f} %, "
              f"standard error {100 * one['standard_error']:.1f} %")
    for name, footprint in result["idle_footprint_bytes"].items():
        print(f"idle footprint {name}: {footprint / 1e6:.0f} MB, acts {result['acts'][name]}")
    print(f"same tokens: {'yes' if result['same_tokens'] else 'NO'}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
