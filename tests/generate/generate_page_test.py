"""What `weir generate` shows of itself while it runs: its counters page, without a `weir run` around it."""

import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "govern"))
import counters_page  # noqa: E402
import tool  # noqa: E402

WORDS = ["generate", "smollm2", "-p", "Count to one thousand.", "--temperature", "0", "--ignore-eos"]
PHASES = ["unmarked", "load", "prefill", "decode", "unload"]  # in this order, idle between them


class GeneratePage(tool.ToolTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.home, "pages")

    def start(self, *words, **variables):
        child = subprocess.Popen([tool.WEIR, *WORDS, *words], env=self.environment(**variables), cwd=self.home,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, child)
        return child

    def end(self, child):
        child.kill()
        child.wait()

    def pages_until(self, child, done, seconds=120):
        """Readings of the page until `done` says so of one, or the child has ended."""
        path = self.folder / f"0-{child.pid}.page"
        seen = []
        end = time.monotonic() + seconds
        while child.poll() is None and time.monotonic() < end:
            try:
                page = counters_page.read(path)
            except FileNotFoundError:
                page = None
            if page is not None:
                seen.append(page)
                if done(page):
                    break
            time.sleep(0.005)
        return seen

    def test_phases_tokens_and_size_classes_are_seen_while_it_runs(self):
        child = self.start("-n", "40", WEIR_RUNTIME_DIR=str(self.folder))
        seen = self.pages_until(child, lambda page: False)
        self.assertEqual(child.wait(), 0)
        self.assertTrue(seen)
        phases = list(dict.fromkeys(page["phase"] for page in seen if page["phase"] != "idle"))
        for name in ("load", "prefill", "decode"):
            self.assertIn(name, phases)
        self.assertEqual(phases, sorted(phases, key=PHASES.index))
        tokens = [page["tokens"] for page in seen]
        self.assertEqual(tokens, sorted(tokens))
        self.assertGreater(max(tokens), 1)
        self.assertLessEqual(max(tokens), 40)
        for page in seen:
            self.assertEqual(page["run"], 0)
            self.assertEqual(page["backend"], "cpu")
            self.assertEqual(sum(each["allocations"] for each in page["size_classes"]), page["allocations"])
            self.assertEqual(sum(each["hits"] for each in page["size_classes"]), page["hits"])
        self.assertEqual(list(self.folder.glob("*.page")), [])

    def test_the_page_of_a_killed_process_goes_with_the_next_one(self):
        killed = self.start("-n", "400", WEIR_RUNTIME_DIR=str(self.folder))
        self.assertTrue(self.pages_until(killed, lambda page: page["tokens"] > 2))
        self.end(killed)
        left = list(self.folder.glob("*.page"))
        self.assertEqual([path.name for path in left], [f"0-{killed.pid}.page"])
        self.run_json(*WORDS, "-n", "1", WEIR_RUNTIME_DIR=str(self.folder))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_without_a_folder_it_runs_and_says_nothing_of_it(self):
        plain = pathlib.Path(self.home, "file")
        plain.write_text("x")
        open_to_all = pathlib.Path(self.home, "open")
        open_to_all.mkdir()
        os.chmod(open_to_all, 0o755)
        for folder in (plain, open_to_all, pathlib.Path("/proc/nothing")):
            done = self.run_weir(*WORDS, "-n", "1", WEIR_RUNTIME_DIR=str(folder))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(b"page in", done.stderr)
        self.assertEqual(list(open_to_all.iterdir()), [])


if __name__ == "__main__":
    tool.main()
