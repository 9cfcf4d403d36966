"""Plans that are killed, resumed, begun afresh and seeded."""

import json
import random
import signal
import subprocess
import time
import unittest

from pricing import PricingTest

LIMITS = ("--limits", "64MiB,0")

# Nothing is decided in this noise, so that every start of a plan is run; ten kills must not outlast them.
MINUTES = "0.4"
SLOW = {"noise": 2.0, "sleep": 0.005}


class Resume(PricingTest):
    def kill_after(self, seconds, number=signal.SIGKILL, fake=None):
        """Starts a run and signals it; returns its exit code and stderr."""
        child = subprocess.Popen(self.command(*LIMITS, "--json", minutes=MINUTES), env=self.environment(fake), cwd=self.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(seconds)
        child.send_signal(number)
        _, words = child.communicate(timeout=60)
        return child.returncode, words

    def wait_for_blocks(self, count):
        """How long a run needs here before it has stored blocks: the scale of the random moments."""
        child = subprocess.Popen(self.command(*LIMITS, "--json", minutes=MINUTES), env=self.environment(SLOW),
                                 cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        while len(self.blocks()) < count and child.poll() is None and time.monotonic() - begin < 120:
            time.sleep(0.02)
        child.kill()
        child.wait()
        return time.monotonic() - begin

    def test_ten_kills_lose_no_block_and_count_none_twice(self):
        scale = self.wait_for_blocks(6)
        moments = random.Random(20260)
        before = self.blocks()
        self.assertGreaterEqual(len(before), 6)
        for _ in range(10):
            self.kill_after(moments.uniform(0.1, 1.0) * scale, fake=SLOW)
            after = self.blocks()
            self.assertEqual([row for row in after if row in before], before, "a completed block changed or went")
            before = after
        result = self.priced(*LIMITS, fake=SLOW, minutes=MINUTES)
        after = self.blocks()
        self.assertEqual([row for row in after if row in before], before)
        self.assertEqual({row[0] for row in after}, {result["seal"]}, "one question has one plan")
        keys = [row[:4] for row in after]
        self.assertEqual(len(keys), len(set(keys)))
        plan = json.loads(self.rows("SELECT canonical_json FROM plans")[0][0])
        speed = [row for row in after if row[1] == "speed"]
        sizes = plan["sizes"]
        self.assertEqual(len(speed), sizes["starts"] * sizes["blocks_per_start"])
        self.assertEqual(result["pairs"], 2 * len(speed))
        self.assertEqual(result["void_pairs"], 0)

    def test_an_interrupt_keeps_blocks_and_says_how_to_go_on(self):
        self.wait_for_blocks(4)
        before = self.blocks()
        code, words = self.kill_after(2, signal.SIGINT, fake={**SLOW, "sleep": 0.02})
        self.assertEqual(code, 130, words)
        self.assertIn("the same command goes on", words)
        self.assertEqual(self.blocks()[: len(before)], before)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_new_seals_another_plan(self):
        self.wait_for_blocks(2)
        first = self.rows("SELECT seal FROM plans")[0][0]
        second = self.priced(*LIMITS, "--new", minutes=MINUTES)["seal"]
        self.assertNotEqual(first, second)
        self.assertEqual(dict(self.rows("SELECT seal, state FROM plans")), {first: "void", second: "complete"})

    def orders(self, seed):
        self.priced("--limits", "64MiB,0", "--quick", "--new", "--seed", str(seed))
        newest = self.rows("SELECT seal FROM plans ORDER BY rowid DESC LIMIT 1")[0][0]
        return [[turn["arm"] for turn in json.loads(row[4])["turns"]]
                for row in self.blocks() if row[0] == newest and row[1] == "speed"]

    def test_the_order_follows_the_seed(self):
        first, second, again = self.orders(1), self.orders(2), self.orders(1)
        self.assertEqual(first[: len(again)], again[: len(first)])
        self.assertNotEqual(first, second)

    def test_another_seed_for_an_unfinished_plan_is_refused(self):
        self.wait_for_blocks(2)
        run = self.price(*LIMITS, "--seed", "5", minutes=MINUTES)
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("--new", run.stderr)


if __name__ == "__main__":
    unittest.main()
