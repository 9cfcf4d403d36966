"""Runs a program as it is and under the built `weir run`, in folders of its own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WEIR = os.environ.get("WEIR", str(HERE.parents[1] / "build/dev/bin/weir"))
MIB = 1 << 20


class GoverningTest(unittest.TestCase):
    """Each test has a home, a state and a runtime folder that nobody else uses."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="weir-govern-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.pages = self.root / "runtime"

    def environment(self, **more):
        kept = {name: os.environ[name] for name in ("TMPDIR", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE") if name in os.environ}
        kept["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        # The wheel's own BLAS is many times slower; two preloads in a row are a case of their own.
        return {"OPENBLAS_CORETYPE": "SKYLAKEX", **kept, "HOME": str(self.root), "LC_ALL": "C",
                "LD_PRELOAD": "libopenblas.so.0", "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1",
                "WEIR_RUNTIME_DIR": str(self.pages), "WEIR_STATE_DIR": str(self.root / "state"), **more}

    def script(self, name, *words):
        return [sys.executable, str(HERE / name), *map(str, words)]

    def weir_run(self, *words):
        """The command line of `weir run` with a summary that `summary` then reads."""
        return [WEIR, "run", "--summary", str(self.root / "summary.json"), *words, "--"]

    def summary(self):
        return json.loads((self.root / "summary.json").read_text())

    def plain(self, command, **more):
        return subprocess.run(command, env=self.environment(**more), cwd=self.root, capture_output=True, text=True,
                              timeout=120, check=False)

    def governed(self, words, command, **more):
        return self.plain([*self.weir_run(*words), *command], **more)

    def json_of(self, run):
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def no_pages_left(self):
        self.assertEqual([path.name for path in self.pages.rglob("*.page")], [])
