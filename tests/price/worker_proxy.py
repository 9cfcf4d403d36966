"""What the proxies of this folder share: a child worker, and JSON lines passed through it."""

import json
import os
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class InnerWorker:
    """The worker behind a proxy: WEIR_TEST_INNER_WORKER, else the release build. Started with the proxy's words."""

    def __init__(self):
        program = os.environ.get("WEIR_TEST_INNER_WORKER") or str(REPOSITORY / "build/release/bin/weir")
        self.child = subprocess.Popen(
            [program, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def read(self):
        """The next reply, or None when the worker has closed its output."""
        line = self.child.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, request):
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        return self.read()

    def close(self):
        self.child.stdin.close()
        return self.child.wait()


def say(reply):
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


def serve(worker, answer):
    """Passes the ready line on, then answers each request with answer(request) until stdin or the worker ends."""
    ready = worker.read()
    if ready is None:
        return worker.close() or 70
    say(ready)
    for line in sys.stdin:
        request = json.loads(line)
        reply = answer(request)
        if reply is None:
            break
        say(reply)
        if request.get("op") == "quit":
            break
    return worker.close()


def setting_name(setting):
    """"unlimited", "unset", or the bytes as text: how a limit is named in the proxies' variables."""
    return str(setting["bytes"]) if setting["mode"] == "bytes" else setting["mode"]
