"""`weir ctl` and `weir limits --pid`: verbs act on a running process at once, and say what they did.

The process that is acted on is a small program that allocates what it is told to, and mlx_lm.server.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

from control_client import ControlClient
from holding import WEIR, GoverningTest, children_of
from ledger_test import GOVERN, HERE, Served
from real_server_model import find_model

import counters_page

MIB = 1 << 20
LAYERS = ("live", "retained", "heap_idle", "identified", "unexplained")
# A number of MiB to hold, "churn N": N lengths that never repeat, freed; "try N": one allocation of N MiB, freed.
# One line out for each line in.
WORKER = """
import sys
import mlx.core as mx
mx.set_default_device(mx.cpu)
held, length = None, 1000
print("ready", flush=True)
for line in sys.stdin:
    word, number = line.split()
    number = int(number)
    said = "ok"
    if word == "hold":
        held = None
        held = mx.full((number << 18,), 2.0)
        mx.eval(held)
    elif word == "churn":
        kept = [mx.ones(((length := (length * 7 + 13) % 60000 + 100000),)) + 1 for _ in range(number)]
        mx.eval(kept)
        del kept
    elif word == "try":
        try:
            mx.eval(mx.ones((number << 18,)) + 1)
        except MemoryError as refusal:
            said = str(refusal)
    print(said, flush=True)
"""


class Ctl(GoverningTest):
    def weir(self, *words, **more):
        return self.plain([WEIR, *map(str, words)], **more)

    def ctl(self, process, *words, code=0):
        """What `weir ctl --json` says of itself; its sums hold."""
        done = self.weir("ctl", process, *words, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        told = json.loads(done.stdout)
        for layers in (told["before"], told["after"]):
            total = sum(layers[name] or 0 for name in LAYERS) - (layers["untouched"] or 0)
            self.assertEqual(layers["footprint"], total)
        for amount in ("released", "heap_released", "driver_released", "driver_kept"):
            self.assertGreaterEqual(told[amount], 0)
        return told

    def refused(self, code, *words):
        done = self.weir(*words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def limits_of(self, process):
        return self.json_of(self.weir("limits", "--pid", process, "--json"))

    def start(self, *words):
        run = subprocess.Popen([WEIR, "run", "--quiet", *words, "--", sys.executable, "-c", WORKER],
                               env=self.environment(), cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
        self.addCleanup(self.end, run)
        self.assertEqual(run.stdout.readline(), "ready\n")
        run.governed_pid = children_of(run.pid)[0]
        self.assertEqual(self.tell(run, "hold", 64), "ok")
        return run

    def end(self, run):
        if run.poll() is None:
            run.stdin.close()
            run.wait(30)
        run.stdout.close()

    def tell(self, run, word, number):
        run.stdin.write(f"{word} {number}\n")
        run.stdin.flush()
        return run.stdout.readline().rstrip("\n")


class Verbs(Ctl):
    def test_return_gives_back_what_is_retained_and_says_so(self):
        for allocator in ("weir", "mlx-policy"):
            with self.subTest(allocator=allocator):
                run = self.start("--allocator", allocator, "--cache-limit", "unlimited", "--trim-at", "none")
                self.assertEqual(self.tell(run, "churn", 200), "ok")
                told = self.ctl(run.governed_pid, "return")
                self.assertGreater(told["before"]["retained"], 32 * MIB)
                self.assertEqual(told["after"]["retained"], 0)
                self.assertEqual(told["after"]["live"], told["before"]["live"])
                self.assertIs(told["settled"], True)
                self.assertIs(told["pending"], False)
                self.assertEqual(told["status"], "done")
                self.assertGreater(told["released"], 32 * MIB)
                fall = told["before"]["footprint"] - told["after"]["footprint"]
                self.assertGreater(fall, told["before"]["retained"] * 0.9)
                again = self.ctl(run.governed_pid, "return")
                self.assertEqual(again["released"], 0)
                self.end(run)

    def test_trim_drops_what_is_retained(self):
        run = self.start("--cache-limit", "unlimited", "--trim-at", "none")
        self.tell(run, "churn", 200)
        told = self.ctl(run.governed_pid, "trim")
        self.assertGreater(told["before"]["retained"], 32 * MIB)
        self.assertEqual(told["after"]["retained"], 0)

    def test_a_lower_limit_acts_at_once_on_an_idle_process_and_a_higher_one_holds_again(self):
        for allocator in ("weir", "mlx-policy"):
            with self.subTest(allocator=allocator):
                run = self.start("--allocator", allocator, "--cache-limit", "unlimited", "--trim-at", "none")
                self.tell(run, "churn", 200)
                told = self.ctl(run.governed_pid, "set", "--cache-limit", "8MiB")
                self.assertGreater(told["before"]["retained"], 32 * MIB)
                self.assertLessEqual(told["after"]["retained"], 8 * MIB)
                self.assertLess(told["after"]["footprint"], told["before"]["footprint"] - 16 * MIB)
                self.assertEqual(told["limits"], {"before": {"cache_limit": None, "memory_limit": None},
                                                  "after": {"cache_limit": 8 * MIB, "memory_limit": None}})
                told = self.ctl(run.governed_pid, "set", "--cache-limit", "unlimited")
                self.assertIsNone(told["limits"]["after"]["cache_limit"])
                self.tell(run, "churn", 200)
                with ControlClient(self.pages, run.governed_pid) as client:
                    self.assertGreater(client.sample()["retained"], 32 * MIB)
                self.end(run)

    def test_a_memory_limit_refuses_from_now_on_and_can_be_lifted(self):
        run = self.start()
        self.assertEqual(self.tell(run, "try", 128), "ok")
        self.ctl(run.governed_pid, "set", "--memory-limit", "100MiB")
        self.assertIn("over the memory limit", self.tell(run, "try", 128))
        self.ctl(run.governed_pid, "set", "--memory-limit", "unlimited")
        self.assertEqual(self.tell(run, "try", 128), "ok")

    def test_a_memory_limit_below_what_lives_cannot_be_met_and_says_so(self):
        run = self.start()
        self.ctl(run.governed_pid, "set", "--memory-limit", "16MiB", code=75)
        told = self.weir("ctl", run.governed_pid, "set", "--memory-limit", "16MiB")
        self.assertEqual(told.returncode, 75)
        self.assertIn("cannot be met", told.stderr)
        self.assertIn("over the memory limit", self.tell(run, "try", 8))
        self.ctl(run.governed_pid, "set", "--memory-limit", "unset")
        self.assertEqual(self.tell(run, "try", 8), "ok")

    def test_peaks_begin_anew(self):
        run = self.start()
        self.tell(run, "try", 256)
        self.tell(run, "hold", 16)
        told = self.ctl(run.governed_pid, "reset-peak")
        self.assertEqual(told["status"], "done")
        peak = next(self.pages.glob(f"*-{run.governed_pid}.page"))
        self.assertLess(counters_page.read(peak)["live_peak"], 64 * MIB)

    def test_a_sample_tells_whether_the_process_is_at_rest(self):
        run = self.start()
        told = self.ctl(run.governed_pid, "sample")
        self.assertIs(told["settled"], True)
        self.assertEqual(told["before"]["live"], told["after"]["live"])
        self.assertIn("at rest", told["sentence"])
        self.assertEqual(sum(part["bytes"] for part in told["after"]["identified_parts"]), told["after"]["identified"])

    def test_people_get_rows_and_one_sentence(self):
        run = self.start("--cache-limit", "unlimited", "--trim-at", "none")
        self.tell(run, "churn", 200)
        told = self.weir("ctl", run.governed_pid, "return", "--parts")
        self.assertEqual(told.returncode, 0, told.stderr)
        lines = told.stdout.splitlines()
        self.assertRegex(lines[0], rf"^python3\S* \(pid {run.governed_pid}\) · weir · return$")
        self.assertRegex(lines[2], r"^  layer +before +after +change$")
        self.assertRegex(told.stdout, r"\n  \+ retained +[\d.]+ MB +→ +0 B +−[\d.]+ MB\n")
        self.assertRegex(lines[-1], r"^returned [\d.]+ MB to the kernel.*; footprint [\d.]+ → [\d.]+ MB, settled after [\d.]+ s$")
        self.assertNotIn("-", re.sub(r"[a-zA-Z]-[a-zA-Z]", "", told.stdout), "a minus is a sign of its own")

    def test_under_mlxs_own_allocator_what_must_wait_is_pending_and_happens_at_the_next_allocation(self):
        run = self.start("--allocator", "mlx", "--cache-limit", "unlimited", "--trim-at", "none")
        self.tell(run, "churn", 200)
        told = self.ctl(run.governed_pid, "trim")
        self.assertIs(told["pending"], True)
        self.assertEqual(told["status"], "pending")
        self.assertGreater(told["after"]["retained"], 32 * MIB)
        words = self.weir("ctl", run.governed_pid, "trim")
        self.assertEqual(words.returncode, 0)
        self.assertIn("trim is pending: MLX's own allocator: done on the program's own thread at its next allocation",
                      words.stdout)
        self.tell(run, "try", 1)
        self.assertLess(self.ctl(run.governed_pid, "sample")["after"]["retained"], 16 * MIB)
        told = self.ctl(run.governed_pid, "set", "--cache-limit", "4MiB")
        self.assertIs(told["pending"], True)
        self.tell(run, "try", 1)
        self.assertEqual(self.limits_of(run.governed_pid)["cache_limit"]["effective_bytes"], 4 * MIB)
        self.refused(64, "ctl", run.governed_pid, "set", "--memory-limit", "8GiB")


class Words(Ctl):
    def test_wrong_words_are_64(self):
        run = self.start()
        pid = run.governed_pid
        self.assertIn("did you mean return?", self.refused(64, "ctl", pid, "retrurn"))
        self.assertIn("process stands before", self.refused(64, "ctl", "return", pid))
        self.assertIn("VERB", self.refused(64, "ctl", pid))
        self.assertIn("set needs a limit", self.refused(64, "ctl", pid, "set"))
        self.assertIn("auto", self.refused(64, "ctl", pid, "set", "--cache-limit", "auto"))
        self.assertIn("not a size", self.refused(64, "ctl", pid, "set", "--cache-limit", "8G B"))
        self.refused(64, "ctl", pid, "set", "--memory-limit", "0")
        self.refused(64, "ctl", pid, "trim", "--cache-limit", "0")
        self.refused(64, "ctl", pid, "trim", "--timeout", "0")
        self.refused(64, "ctl", "no-such-program", "trim")
        self.refused(64, "limits", "smollm2", "--pid", pid)
        self.refused(64, "limits", "--pid", pid, "--cache-limit", "0")

    def test_a_process_that_is_not_there_is_69(self):
        self.refused(69, "ctl", os.getpid(), "trim")
        self.refused(69, "limits", "--pid", os.getpid())
        run = self.start()
        pid = run.governed_pid
        self.end(run)
        self.refused(69, "ctl", pid, "trim")

    def test_a_name_that_several_have_lists_them(self):
        first, second = self.start(), self.start()
        name = pathlib.Path(sys.executable).resolve().name
        told = self.refused(64, "ctl", name, "trim")
        self.assertIn(str(first.governed_pid), told)
        self.assertIn(str(second.governed_pid), told)
        self.end(second)
        self.assertEqual(self.ctl(name, "trim")["pid"], first.governed_pid)

    def test_a_stopped_process_is_waited_for_so_long_and_no_longer(self):
        run = self.start()
        os.kill(run.governed_pid, signal.SIGSTOP)
        self.addCleanup(os.kill, run.governed_pid, signal.SIGCONT)
        self.assertIn("did not answer", self.refused(69, "ctl", run.governed_pid, "trim", "--timeout", "0.3"))
        os.kill(run.governed_pid, signal.SIGCONT)
        self.assertEqual(self.ctl(run.governed_pid, "trim")["status"], "done")

    def test_a_process_killed_meanwhile_is_69(self):
        run = self.start()
        os.kill(run.governed_pid, signal.SIGSTOP)
        asked = subprocess.Popen([WEIR, "ctl", str(run.governed_pid), "return", "--timeout", "30"], cwd=self.root,
                                 env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.3)
        os.kill(run.governed_pid, signal.SIGKILL)
        out, words = asked.communicate(timeout=30)
        self.assertEqual((asked.returncode, out), (69, ""), words)
        self.assertIn("ended", words)

    def test_a_limit_tells_who_set_it(self):
        run = self.start("--cache-limit", "32MiB")
        told = self.limits_of(run.governed_pid)
        self.assertEqual(told["cache_limit"]["effective_bytes"], 32 * MIB)
        self.assertEqual(told["cache_limit"]["source"], f"process {run.governed_pid}: weir run")
        self.assertEqual(told["memory_limit"]["mode"], "unset")
        self.ctl(run.governed_pid, "set", "--cache-limit", "16MiB")
        told = self.limits_of(run.governed_pid)
        self.assertEqual(told["cache_limit"]["bytes"], 16 * MIB)
        self.assertEqual(told["cache_limit"]["source"], f"process {run.governed_pid}: ctl")
        text = self.weir("limits", "--pid", run.governed_pid).stdout
        self.assertRegex(text, r"cache limit +16,777,216 bytes +process \d+: ctl ")


class ActedOnServer(Served, Ctl):
    start = Served.start

    def loaded(self, pid):
        """The layers once nothing is loaded any more: the server answers /health while its weights still arrive."""
        last = None
        for _ in range(60):
            now = self.ctl(pid, "sample")["after"]
            if last and now["live"] == last["live"] and abs(now["footprint"] - last["footprint"]) < MIB:
                return now
            last = now
            time.sleep(1)
        self.fail("it loads without end")

    @unittest.skipUnless(find_model(), "the embedded model is not installed")
    def test_after_a_long_prompt_return_brings_a_real_model_back_to_what_it_held_after_loading(self):
        pid = self.start(self.prepare(HERE / "real_server_model.py"), "--trim-at", "none", "--cache-limit", "unlimited")
        loaded = self.loaded(pid)
        self.complete("all work and no play makes a dull book by the river " * 90, 8)
        time.sleep(0.5)
        told = self.ctl(pid, "return")
        after = told["after"]
        allowed = (loaded["footprint"] + after["live"] - loaded["live"] + max(16 * MIB, after["live"] // 20))
        print(f"  loaded {loaded['footprint'] / 1e6:.1f} MB, before {told['before']['footprint'] / 1e6:.1f}, after "
              f"{after['footprint'] / 1e6:.1f}, allowed {allowed / 1e6:.1f}", file=sys.stderr, flush=True)
        self.assertGreaterEqual(told["before"]["retained"], 16 * MIB, "nothing to return")
        self.assertLessEqual(after["footprint"], allowed)

    def answers(self, count, done=None):
        """The texts of requests whose lengths never repeat; without a count as many as until `done`."""
        texts = []
        while len(texts) < count if done is None else not done.is_set():
            prompt = "a low wall across a river " * (1 + len(texts) % 37) + str(len(texts))
            texts.append(self.complete(prompt, 60))
        return texts

    def test_fifty_returns_under_load_change_no_token(self):
        model = self.prepare(GOVERN / "tiny_server_model.py")
        pid = self.start(model, "--trim-at", "none", "--cache-limit", "unlimited")
        done, texts = threading.Event(), []
        load = threading.Thread(target=lambda: texts.extend(self.answers(None, done)))
        load.start()
        released = 0
        try:
            for _ in range(50):
                told = self.ctl(pid, "return")
                self.assertEqual(told["status"], "done")
                released += told["released"]
        finally:
            done.set()
            load.join()
        self.assertGreater(released, MIB)
        self.assertGreater(len(texts), 10)
        self.doCleanups()
        self.setUp()
        self.start(self.prepare(GOVERN / "tiny_server_model.py"), "--trim-at", "none", "--cache-limit", "unlimited")
        self.assertEqual(texts, self.answers(len(texts)))


if __name__ == "__main__":
    unittest.main()
