"""`weir price --arms`: allocators of the pool in one process, and MLX's own against them between processes."""

import json
import re
import signal
import subprocess
import time
import unittest

from pricing import HERE, PricingTest, arm_named

POOL = ("--arms", "weir,weir:64MiB,mlx-policy:64MiB")
MIXED = ("--arms", "mlx:64MiB,weir:64MiB", "--baseline", "mlx:unlimited")


class PoolArms(PricingTest):
    def test_they_are_priced_in_turn_in_one_process(self):
        result = self.priced(*POOL, "--check", code=0)
        self.assertEqual((result["design"], result["baseline"]), ("crossover", "mlx-policy unlimited"))
        arm = arm_named(result, "weir 64 MiB")
        self.assertEqual((arm["allocator"], arm["cache_limit_bytes"], arm["reached"]), ("weir", 64 << 20, True))
        self.assertEqual(arm_named(result, "mlx-policy 64 MiB")["allocator"], "mlx-policy")
        self.assertIsNone(arm_named(result, "weir unset")["cache_limit_bytes"])
        plan = json.loads(self.rows("SELECT canonical_json FROM plans")[0][0])
        self.assertEqual([one["allocator"] for one in plan["question"]["arms"]],
                         ["mlx-policy", "weir", "weir", "mlx-policy"])
        turns = [turn for row in self.blocks() if row[1] == "speed" for turn in json.loads(row[4])["turns"]]
        self.assertEqual({(turn["arm"], turn["allocator"]) for turn in turns},
                         {(0, "mlx-policy"), (1, "weir"), (2, "weir"), (3, "mlx-policy")})

    def test_table_and_report_name_the_allocator_and_the_baseline(self):
        run = self.price(*POOL)
        self.assertRegex(run.stdout, r"(?m)^  mlx-policy unlimited .* baseline$")
        self.assertRegex(run.stdout, r"(?m)^  weir 64 MiB .*SHIP$")
        self.assertIn("baseline mlx-policy unlimited", run.stderr)
        report = next(self.folder.iterdir()).read_text(encoding="utf-8")
        self.assertIn("| weir 64 MiB |", report)
        self.assertIn("--arms weir,weir:64MiB,mlx-policy:64MiB", report)

    def test_an_allocator_that_is_slow_is_closed(self):
        result = self.priced("--arms", "weir:64MiB,mlx-policy:64MiB", "--check", code=1, minutes="0.3",
                             fake={"speed": {"weir:67108864": 0.7, "mlx-policy:67108864": 0.7}})
        self.assertEqual(arm_named(result, "weir 64 MiB")["reason"], "cost")

    def test_a_worker_on_another_allocator_is_refused(self):
        for fake, says in (({"allocator": "mlx"}, "runs on the allocator mlx, asked for mlx-policy"),
                           ({"protocol": 1}, "asked for mlx-policy"), ({"protocol": 3}, "speaks protocol 3")):
            with self.subTest(fake=fake):
                run = self.price(*POOL, fake=fake)
                self.assertEqual(run.returncode, 69, run.stderr)
                self.assertIn(says, run.stderr)
                self.assertEqual(self.rows("SELECT seal FROM plans"), [])

    def test_a_worker_of_the_first_protocol_still_prices_limits(self):
        self.assertEqual(self.priced("--limits", "64MiB", fake={"protocol": 1})["verdict"], "SHIP")

    def test_a_dead_knob_of_the_pool_is_void(self):
        result = self.priced("--arms", "weir:64MiB", "--check", code=3, worker=str(HERE / "dead_knob_worker.py"),
                             WEIR_TEST_DEAD_KNOB="liar")
        self.assertEqual(arm_named(result, "weir 64 MiB")["reason"], "knob")


class MixedArms(PricingTest):
    def test_each_start_runs_one_arm_and_the_result_says_so(self):
        result = self.priced(*MIXED, "--check", code=0)
        self.assertEqual(result["design"], "between")
        self.assertEqual(json.loads(self.rows("SELECT canonical_json FROM plans")[0][0])["design"], "between")
        orders = {}
        for _, kind, start, place, text in self.blocks():
            if kind != "speed":
                continue
            turns = json.loads(text)["turns"]
            self.assertEqual(len({(turn["arm"], turn["second"]) for turn in turns}), 1)
            orders.setdefault(start, []).append((turns[0]["arm"], turns[0]["allocator"]))
        self.assertGreaterEqual(len(orders), 6)
        for order in orders.values():
            self.assertEqual(sorted(order), [(0, "mlx"), (0, "mlx"), (1, "mlx"), (2, "weir")])
        self.assertGreater(len({tuple(order) for order in orders.values()}), 1, "every block has one order")
        self.assertEqual(result["pairs"], 2 * len(orders))

    def test_table_and_report_say_between(self):
        run = self.price(*MIXED)
        self.assertRegex(run.stdout, r"between: (\d+ of )?\d+ blocks × 4 starts")
        self.assertIn("one arm a start", run.stderr)
        report = next(self.folder.iterdir()).read_text(encoding="utf-8")
        for text in ("block of starts 1 (complete)", "cannot be switched in one process", "second start / first"):
            self.assertIn(text, report)

    def test_what_processes_differ_by_decides_nothing_and_the_minutes_are_named(self):
        result = self.priced(*MIXED, "--check", code=2, fake={"process": 0.08})
        self.assertEqual(arm_named(result, "weir 64 MiB")["reason"], "undecided")
        self.assertRegex(result["sentence"], r"\d+ min")

    def test_a_slow_allocator_is_closed_all_the_same(self):
        result = self.priced("--arms", "mlx:64MiB,weir:64MiB", "--check", code=1, minutes="0.3",
                             fake={"process": 0.01, "speed": {"67108864": 0.6, "weir:67108864": 0.6}})
        self.assertEqual(arm_named(result, "weir 64 MiB")["reason"], "cost")

    def test_quick_and_decide_apply(self):
        quick = self.priced(*MIXED, "--quick", "--check", code=2)
        self.assertEqual((quick["design"], arm_named(quick, "weir 64 MiB")["reason"]), ("between", "screen"))
        decided = self.priced(*MIXED, "--decide", "0.3", "--check", code=0)
        self.assertEqual((decided["looks"], decided["design"]), (3, "between"))

    def test_a_killed_run_goes_on_where_it_was(self):
        slow = {"process": 0.5, "sleep": 0.005}
        child = subprocess.Popen(self.command(*MIXED, "--json", minutes="0.2"), env=self.environment(slow),
                                 cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        while sum(row[1] == "speed" for row in self.blocks()) < 6 and time.monotonic() - begin < 120:
            time.sleep(0.02)
        child.send_signal(signal.SIGKILL)
        child.wait()
        before = self.blocks()
        result = self.priced(*MIXED, minutes="0.2", fake=slow)
        after = self.blocks()
        self.assertEqual([row for row in after if row in before], before)
        self.assertEqual({row[0] for row in after}, {result["seal"]})
        self.assertEqual(sum(row[1] == "speed" for row in after), 4 * result["starts_planned"])
        self.assertTrue(re.fullmatch("[0-9a-f]{64}", result["seal"]))


if __name__ == "__main__":
    unittest.main()
