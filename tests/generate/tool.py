"""Runs the built tool in a clean, private environment for the end-to-end tests."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

WEIR = None


class ToolTest(unittest.TestCase):
    """Each test gets an empty home; the tool's variables of the caller do not reach it."""

    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name

    def environment(self, **variables):
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "OPENBLAS_CORETYPE")}
        return {**kept, "HOME": self.home, "WEIR_RUNTIME_DIR": os.path.join(self.home, "runtime"), "LC_ALL": "C",
                **variables}

    def run_weir(self, *words, stdin=b"", **variables):
        return subprocess.run(
            [WEIR, *words],
            input=stdin,
            capture_output=True,
            env=self.environment(**variables),
            cwd=self.home,
            timeout=250,
            check=False,
        )

    def run_json(self, *words, **variables):
        done = self.run_weir(*words, "--json", **variables)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return json.loads(done.stdout)

    def assert_refused(self, done, code, *fragments):
        text = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, text)
        self.assertEqual(done.stdout, b"", text)
        for fragment in fragments:
            self.assertIn(fragment, text)


def main():
    global WEIR
    WEIR = sys.argv.pop(1)
    unittest.main()
