#!/usr/bin/env -S python3 -S -E
"""A worker without a model: plausible, seeded figures, so that pricing runs end to end in seconds.

WEIR_TEST_FAKE_WORKER is a JSON object; every key may be left out:
  seed      number behind all noise (default 1); with `counter` each start draws its own noise from it
  counter   path of a file that counts starts, so that runs repeat exactly; without it the process id is used
  noise     sd of the log time of a request (default 0.004)
  speed     {limit: factor}: speed under that limit against the others ("0", "67108864", "unset", "unlimited";
            on an allocator of the pool "weir:0", "mlx-policy:unset")
  process   sd of the log time of a whole process (default 0)
  allocator the one that it runs on, whatever it was asked for (default: as asked)
  protocol  1: speaks the first protocol, which knows no allocators (default 2)
  scale     factor on all simulated times (default 1)
  sleep     seconds really slept in each request (default 0)
  keep      bytes newly retained per prompt token while nothing clips them (default 600000)
  fail_at   the n-th generate request of a start answers an error (default: never)
"""

import fcntl
import hashlib
import json
import math
import os
import random
import sys
import time

CONFIG = json.loads(os.environ.get("WEIR_TEST_FAKE_WORKER", "{}"))
LIBRARY_DEFAULT = 33554432
WEIGHTS = 98_000_000
HOST = 41_000_000
LIVE_PER_TOKEN = 260_000


def start_number():
    path = CONFIG.get("counter")
    if not path:
        return os.getpid()
    with open(path, "a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        number = int(file.read() or 0) + 1
        file.truncate(0)
        file.write(str(number))
    return number


def asked_on_the_command_line():
    return sys.argv[sys.argv.index("--allocator") + 1] if "--allocator" in sys.argv else "mlx"


class FakeModel:
    def __init__(self):
        self.random = random.Random(f"{CONFIG.get('seed', 1)}/{start_number()}")
        self.pace = math.exp(self.random.gauss(0, CONFIG["process"])) if CONFIG.get("process") else 1
        self.allocator = self.asked_allocator(asked_on_the_command_line())
        self.set_limit("unset", None)
        self.retained = 0
        self.requests = 0
        self.faults = 0
        self.reset_peaks()

    @staticmethod
    def asked_allocator(name):
        return CONFIG.get("allocator", "mlx" if CONFIG.get("protocol") == 1 else name)

    def set_limit(self, mode, limit):
        own_default = None if self.allocator == "weir" else LIBRARY_DEFAULT
        self.mode = mode
        self.limit = {"unlimited": None, "unset": own_default}.get(mode, limit)

    def reset_peaks(self):
        self.live_peak = WEIGHTS
        self.retained_peak = self.retained
        self.total_peak = WEIGHTS + self.retained
        self.fault_mark = self.faults

    def keep(self, extra_bytes):
        self.retained += extra_bytes
        if self.limit is not None:
            self.retained = min(self.retained, self.limit)

    def setting_name(self):
        limit = str(self.limit) if self.mode == "bytes" else self.mode
        return limit if self.allocator == "mlx" else f"{self.allocator}:{limit}"

    def noisy(self, seconds):
        factor = CONFIG.get("speed", {}).get(self.setting_name(), 1.0)
        return CONFIG.get("scale", 1.0) * self.pace * seconds / factor * math.exp(self.random.gauss(0, CONFIG.get("noise", 0.004)))

    def layers(self):
        footprint = WEIGHTS + self.retained + HOST
        return {
            "footprint": footprint, "live": WEIGHTS, "retained": self.retained, "untouched": None,
            "heap_idle": 1_000_000, "identified": HOST - 3_000_000, "unexplained": 2_000_000,
            "file": 150_000_000, "resident": footprint + 150_000_000, "swap": 0, "overdraw": 0,
            "weights_file": 0, "age_seconds": 0.0,
            "tags": {"weights": WEIGHTS, "kv": 0, "workspace": 0, "other": 0},
        }

    def switch(self, request):
        asked = request["cache_limit"]
        previous = self.limit
        trimmed, self.retained = self.retained, 0
        self.allocator = self.asked_allocator(request.get("allocator", "mlx"))
        self.set_limit(asked["mode"], asked.get("bytes"))
        return self.named({"event": "switched", "previous_bytes": previous, "in_force_bytes": self.limit,
                           "trimmed_bytes": trimmed, "seconds": 0.01})

    def generate(self, request):
        self.requests += 1
        if self.requests == CONFIG.get("fail_at"):
            return {"event": "error", "kind": "no_room", "message": "asked to fail at this request"}
        time.sleep(CONFIG.get("sleep", 0))
        prompt, generated = request["prompt_tokens"], request["generate_tokens"]
        live = WEIGHTS + prompt * LIVE_PER_TOKEN
        self.live_peak = max(self.live_peak, live)
        before = self.retained
        self.keep(prompt * CONFIG.get("keep", 600_000))
        self.retained_peak = max(self.retained_peak, self.retained)
        self.total_peak = max(self.total_peak, live + max(before, self.retained))
        missed = 1 if self.limit is None else 1 + 1 / (1 + self.limit / 50e6)
        faults = int(prompt * 40 * missed)
        self.faults += faults
        ids = hashlib.sha256(f"{request['text']}/{prompt}/{generated}".encode()).hexdigest()[:16]
        return {"event": "generated", "name": request["name"], "prompt_tokens": prompt,
                "generated_tokens": generated, "finish_reason": "length", "ids_hash": ids,
                "prefill_seconds": self.noisy(prompt / 150.0),
                "decode_seconds": self.noisy(max(generated - 1, 0) / 10.0),
                "live_peak_bytes": live, "retained_peak_bytes": self.retained_peak,
                "retained_bytes": self.retained, "live_bytes": WEIGHTS,
                "minor_faults": faults, "major_faults": 0}

    def measure(self, request):
        reply = {"event": "measured", "layers": self.layers(),
                 "footprint_peak_high_bytes": self.total_peak + HOST + 2_000_000,
                 "footprint_peak_low_bytes": self.total_peak + HOST,
                 "footprint_peak_source": "simulated", "live_peak_bytes": self.live_peak,
                 "retained_peak_bytes": self.retained_peak,
                 "minor_faults": self.faults - self.fault_mark, "major_faults": 0}
        if request.get("reset"):
            self.reset_peaks()
        return reply

    def named(self, reply):
        """With the allocator in force, where the protocol has it."""
        return reply if CONFIG.get("protocol") == 1 else {**reply, "allocator": self.allocator}

    def ready(self):
        return self.named({
            "event": "ready", "protocol": CONFIG.get("protocol", 2), "pid": os.getpid(),
            "model": {"name": "fake-model", "path_sha256": hashlib.sha256(b"fake-model").hexdigest(),
                      "bytes": WEIGHTS},
            "backend": "mlx-cpu", "library": "mlx 0.0.0", "blas": "none", "threads": 2,
            "machine": "a simulated machine", "layers": self.layers()})


def main():
    model = FakeModel()
    say(model.ready())
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "quit":
            return 0
        answer = {"switch": model.switch, "generate": model.generate, "measure": model.measure}[request["op"]]
        say(answer(request))
    return 0


def say(reply):
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
