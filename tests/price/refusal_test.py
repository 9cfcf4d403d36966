"""What `weir price` refuses, before any work."""

import os
import pathlib
import subprocess
import unittest

from pricing import WEIR, PricingTest


def can_mount():
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


class Refusals(PricingTest):
    def refused(self, code, *words, says=(), **options):
        run = self.price(*words, **options)
        self.assertEqual(run.returncode, code, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertFalse((self.root / "starts").exists(), "a worker was started")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_words_that_are_wrong_are_64(self):
        for words, says in (
            (("--limits", "abc"), "--limits"),
            (("--limits", "64MiB,67108864"), "64 MiB"),
            (("--limits", "unlimited"), "nothing to compare"),
            (("--limits", ""), "--limits"),
            (("--baseline", "-1"), "--baseline"),
            (("--arms", "cuda:0"), "--arms"),
            (("--arms", ""), "such as weir,mlx-policy:64MiB,mlx:0"),
            (("--arms", "weir:0,weir:0"), "weir 0 and weir 0"),
            (("--arms", "weir,weir:unlimited"), "nothing can tell apart"),
            (("--arms", "weir:8 G B"), "8 G B"),
            (("--arms", "mlx-policy:unlimited"), "nothing to compare"),
            (("--arms", "weir:0", "--baseline", "wier:0"), "--baseline"),
            (("--arms", "weir:0", "--limits", "0"), "--limits"),
            (("--quick", "--decide", "5"), "--quick"),
            (("--decide", "0"), "--decide"),
            (("--seed", "x"), "--seed"),
            (("--workload", "no-such-cell"), "churn"),
            (("--", "python", "x.py"), "not accepted"),
        ):
            with self.subTest(words=words):
                self.refused(64, *words, says=[says])

    def test_a_model_that_is_not_there_is_69(self):
        run = self.price("no-such-model.gguf", worker=WEIR)
        self.assertEqual(run.returncode, 69, run.stderr)

    def test_a_worker_that_is_not_there_is_69(self):
        self.refused(69, worker="/no/such/worker", says=["/no/such/worker"])

    def test_a_bad_limit_in_the_environment_is_64(self):
        self.refused(64, says=["WEIR_CACHE_LIMIT", "8G B"], WEIR_CACHE_LIMIT="8G B")

    def test_a_memory_limit_is_64_because_no_arm_sets_one(self):
        for words in (("--limits", "0"), ("--arms", "weir:0")):
            self.refused(64, *words, says=["WEIR_MEMORY_LIMIT", "no say here"], WEIR_MEMORY_LIMIT="1GiB")

    def test_a_state_folder_that_cannot_be_made_is_69(self):
        blocked = self.root / "blocked"
        blocked.write_text("a file, no folder", encoding="ascii")
        self.refused(69, says=["WEIR_STATE_DIR"], WEIR_STATE_DIR=str(blocked / "state"))

    def test_a_report_that_cannot_be_written_is_refused(self):
        self.refused(69, "-o", str(self.root / "none" / "x.md"), says=["-o FILE"])
        self.refused(64, "-o", "/dev/null", says=["not a regular file"])
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def on_a_disk(self, options, fill, *words):
        """A run in a mount namespace of its own, whose folder `disk` is a small file system."""
        disk = self.root / "disk"
        disk.mkdir(exist_ok=True)
        script = f"mount -t tmpfs -o size=1m tmpfs '{disk}' && {fill} && cd '{disk}' && exec \"$@\""
        return subprocess.run(["unshare", "-m", "sh", "-c", script.replace("{disk}", str(disk)), "sh",
                               *self.command("--limits", "64MiB", *words)],
                              env=self.environment(**options), capture_output=True, text=True, check=False)

    @unittest.skipUnless(can_mount(), "needs the right to mount")
    def test_a_full_disk_is_75_and_a_read_only_one_69_before_any_work(self):
        full = "(dd if=/dev/zero of='{disk}/fill' bs=64k 2>/dev/null || true)"
        sealed = "mount -o remount,ro '{disk}'"
        state = {"WEIR_STATE_DIR": str(self.root / "disk" / "state")}
        mine = ("-o", str(self.root / "mine.md"))
        for code, fill, options, words, says in ((75, full, {}, (), "-o FILE"), (75, full, state, mine, "WEIR_STATE_DIR"),
                                                 (69, sealed, {}, (), "-o FILE"),
                                                 (69, sealed, state, mine, "WEIR_STATE_DIR")):
            with self.subTest(code=code, says=says):
                run = self.on_a_disk(options, fill, *words)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertIn(says, run.stderr)
                self.assertFalse((self.root / "starts").exists(), "a worker was started")
                self.assertFalse((self.root / "mine.md").exists())

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_result_that_cannot_be_printed_is_no_result(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            run = subprocess.run(self.command("--limits", "64MiB", "--quick", "--quiet"), env=self.environment(),
                                 cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(run.returncode, 75, run.stderr)


if __name__ == "__main__":
    unittest.main()
