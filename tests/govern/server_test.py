"""mlx_lm.server under `weir run`: it answers as without weir, and goes on after a request that does not fit.

A request with a seed runs by itself in mlx_lm.server, and its failure stays with it. Without a seed requests run as a
batch, on a thread that ends at its first error, whatever that is.
"""

import http.client
import json
import signal
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from governing import MIB, GoverningTest

LONG = "all work and no play " * 100
SHORT = "a low wall across a river"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server(GoverningTest):
    def setUp(self):
        super().setUp()
        self.model = self.root / "model"
        self.model.mkdir()
        made = self.plain(self.script("tiny_server_model.py", self.model))
        self.assertEqual(made.returncode, 0, made.stderr)

    def start(self, prefix):
        self.port = free_port()
        log = open(self.root / "server.log", "w+", encoding="utf-8")
        self.addCleanup(log.close)
        server = self.script("")[0], "-m", "mlx_lm", "server", "--model", str(self.model), "--port", str(self.port)
        child = subprocess.Popen([*prefix, *server], env=self.environment(), cwd=self.root, stdout=log, stderr=log)
        self.addCleanup(self.stop, child)
        for _ in range(600):
            if child.poll() is not None:
                self.fail(self.log())
            try:
                if self.get("/health") == 200:
                    return child
            except OSError:
                pass
            time.sleep(0.05)
        self.fail(f"the server did not come up: {self.log()}")

    def log(self):
        return (self.root / "server.log").read_text()[-3000:]

    def stop(self, child):
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return answer.status

    def complete(self, prompt, **more):
        body = json.dumps({"prompt": prompt, "max_tokens": 6, "temperature": 0, **more}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/completions", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())["choices"][0]["text"]

    def fails(self, prompt, **more):
        """Its client sees an HTTP error, or a connection that ends without an answer."""
        try:
            self.complete(prompt, **more)
        except (urllib.error.HTTPError, http.client.RemoteDisconnected):
            return True
        return False

    def test_it_answers_as_without_weir(self):
        answers = []
        for prefix in ([], self.weir_run()):
            child = self.start(prefix)
            answers.append([self.complete(prompt, **more) for prompt, more in (
                (SHORT, {}), (LONG, {}), ("once more: " + SHORT, {"seed": 1}), ("again: " + LONG, {"seed": 1}))])
            self.stop(child)
        self.assertEqual(answers[0], answers[1])
        self.assertTrue(all(answers[0]))
        self.assertIs(self.summary()["governed"], True)
        self.no_pages_left()

    def test_a_request_that_does_not_fit_fails_alone(self):
        child = self.start(self.weir_run("--memory-limit", str(64 * MIB)))
        first = self.complete(SHORT, seed=1)
        for _ in range(3):
            self.assertTrue(self.fails(LONG, seed=1), "the long request was answered")
            self.assertEqual(self.complete(SHORT, seed=1), first)
        self.assertEqual(self.get("/health"), 200)
        self.stop(child)
        self.assertGreaterEqual(self.summary()["refusals"], 3)
        self.assertIn("weir:", self.log())
        self.no_pages_left()


if __name__ == "__main__":
    unittest.main()
