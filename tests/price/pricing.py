"""Runs the built `weir price` with a simulated worker, in folders of its own."""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WEIR = os.environ.get("WEIR", str(HERE.parents[1] / "build/dev/bin/weir"))
FAKE = str(HERE / "fake_worker.py")
TINY = str(HERE / "tiny.toml")

# A plan of the default five minutes takes as many starts as it may; this one is full after three seconds.
MINUTES = "0.05"


class PricingTest(unittest.TestCase):
    """Each test has a state folder and a working folder that nobody else uses."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="weir-price-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.state = self.root / "state"
        self.folder = self.root / "here"
        self.folder.mkdir()

    def command(self, *words, worker=FAKE, minutes=MINUTES):
        cell = [] if "--workload" in words else ["--workload", TINY]
        budget = ["--decide", minutes] if minutes and not {"--quick", "--decide"} & set(words) else []
        return [WEIR, "price", *cell, *budget, "--worker", worker, *words]

    def environment(self, fake=None, **more):
        kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
        # The workers' `python3` is the one that runs this test: no wrapper script slows their sixty starts.
        kept["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        settings = {"scale": 0.001, "counter": str(self.root / "starts"), **(fake or {})}
        return {**kept, "LC_ALL": "C", "WEIR_STATE_DIR": str(self.state),
                "WEIR_TEST_FAKE_WORKER": json.dumps(settings), "WEIR_TEST_INNER_WORKER": FAKE, **more}

    def price(self, *words, fake=None, worker=FAKE, minutes=MINUTES, **more):
        return subprocess.run(self.command(*words, worker=worker, minutes=minutes), env=self.environment(fake, **more),
                              cwd=self.folder, capture_output=True, text=True, timeout=240, check=False)

    def priced(self, *words, code=0, **options):
        """The JSON of a run that must end with this code."""
        run = self.price(*words, "--json", **options)
        self.assertEqual(run.returncode, code, run.stderr)
        return json.loads(run.stdout)

    def rows(self, query):
        """From the store, read as a stranger would: with SQLite alone.

        Opened for writing too: a run killed in a transaction leaves a journal, which a read-only connection may not roll back.
        """
        if not (self.state / "weir.db").exists():
            return []
        with contextlib.closing(sqlite3.connect(f"file:{self.state / 'weir.db'}?mode=rw", uri=True)) as store:
            # A store that was opened a moment ago may have no tables yet.
            if not store.execute("SELECT 1 FROM sqlite_master WHERE name = 'blocks'").fetchall():
                return []
            return store.execute(query).fetchall()

    def blocks(self):
        return self.rows("SELECT seal, kind, start_index, block_index, json FROM blocks ORDER BY 1, 2, 3, 4")


def arm_named(result, name):
    return next(arm for arm in result["cells"][0]["arms"] if arm["name"] == name)
