"""Each verdict of `weir price --check`, from workers made for it."""

import json
import unittest

from pricing import HERE, PricingTest, arm_named


class Verdicts(PricingTest):
    def test_a_limit_that_saves_and_costs_nothing_ships(self):
        result = self.priced("--limits", "64MiB", "--check", code=0)
        self.assertEqual(result["verdict"], "SHIP")
        self.assertEqual(result["recommended"], "64 MiB")
        self.assertTrue(arm_named(result, "64 MiB")["reached"])

    def test_a_limit_that_costs_speed_is_closed(self):
        result = self.priced("--limits", "64MiB", "--check", code=1, minutes="0.3",
                             fake={"speed": {"67108864": 0.7}})
        self.assertEqual(arm_named(result, "64 MiB")["reason"], "cost")

    def test_a_worker_that_really_sleeps_is_closed(self):
        result = self.priced("--limits", "64MiB", "--check", code=1, minutes="0.3",
                             worker=str(HERE / "slow_worker.py"))
        arm = arm_named(result, "64 MiB")
        self.assertEqual(arm["reason"], "cost")
        self.assertAlmostEqual(arm["change"]["decode_tokens_per_second"]["ratio"], 0.7, delta=0.03)

    def test_a_limit_that_saves_nothing_is_closed(self):
        result = self.priced("--limits", "16MiB", "--check", code=1, fake={"keep": 30000})
        self.assertEqual(arm_named(result, "16 MiB")["reason"], "no_saving")

    def test_too_much_noise_is_inconclusive(self):
        result = self.priced("--limits", "64MiB", "--check", code=2, fake={"noise": 2.0})
        self.assertEqual(arm_named(result, "64 MiB")["reason"], "undecided")

    def test_a_screen_is_never_a_verdict(self):
        result = self.priced("--limits", "64MiB", "--quick", "--check", code=2)
        self.assertEqual(arm_named(result, "64 MiB")["reason"], "screen")

    def test_a_limit_out_of_reach_is_void_with_both_figures(self):
        result = self.priced("--limits", "4GiB", "--check", code=3)
        arm = arm_named(result, "4 GiB")
        self.assertEqual((arm["reason"], arm["reached"]), ("not_reached", False))
        evidence = json.dumps(result["cells"][0]["checks_failed"]) + arm["sentence"]
        self.assertIn("4,294,967,296", evidence)

    def test_a_dead_knob_that_reads_back_the_old_value_is_void(self):
        result = self.priced("--limits", "64MiB", "--check", code=3, worker=str(HERE / "dead_knob_worker.py"))
        self.assertEqual(arm_named(result, "64 MiB")["reason"], "knob")

    def test_a_dead_knob_that_lies_is_void(self):
        for stuck in ("unlimited", "unset"):
            with self.subTest(stuck=stuck):
                result = self.priced("--limits", "64MiB", "--new", "--check", code=3,
                                     worker=str(HERE / "dead_knob_worker.py"), WEIR_TEST_DEAD_KNOB="liar",
                                     WEIR_TEST_DEAD_KNOB_STUCK=stuck)
                self.assertEqual(arm_named(result, "64 MiB")["verdict"], "VOID")

    def test_without_check_a_completed_result_is_0(self):
        self.assertEqual(self.priced("--limits", "4GiB", code=0)["verdict"], "VOID")


if __name__ == "__main__":
    unittest.main()
