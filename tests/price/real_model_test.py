"""`weir price` with the real model behind proxies: an arm that is really slower, and a knob that is really dead.

The slow arm's times are the real ones times a factor, so the noise of this machine is all that can hide it: starts
are many and turns are short, and ctest runs this file alone.
"""

import unittest

from pricing import HERE, WEIR, PricingTest, arm_named

TINY = str(HERE / "tiny_real.toml")


class RealModel(PricingTest):
    def test_a_limit_that_is_really_slower_is_closed(self):
        # A probe of nine seconds a turn makes nine starts of one block, of which each takes a second or few. They
        # are all looked at once, so that what the limit saves, which is little here, is no earlier reason.
        result = self.priced("--limits", "0", "--workload", TINY, "--check", code=1, minutes=None,
                             worker=str(HERE / "slow_worker.py"), WEIR_TEST_INNER_WORKER=WEIR,
                             WEIR_TEST_SLOW_LIMIT="0", WEIR_TEST_SLOW_PROBE="9")
        arm = arm_named(result, "0")
        self.assertEqual((arm["verdict"], arm["reason"]), ("CLOSE", "cost"), arm["sentence"])
        self.assertGreaterEqual(arm["change"]["decode_tokens_per_second"]["n"], 6)
        self.assertTrue(arm["reached"])
        self.assertEqual(result["recommended"], None)

    def test_a_knob_that_is_really_dead_is_void(self):
        for told in ("honest", "liar"):
            with self.subTest(told=told):
                result = self.priced("--limits", "0", "--workload", TINY, "--check", "--new", code=3,
                                     worker=str(HERE / "dead_knob_worker.py"), WEIR_TEST_INNER_WORKER=WEIR,
                                     WEIR_TEST_DEAD_KNOB=told)
                self.assertEqual(arm_named(result, "0")["reason"], "knob")
                self.assertEqual(result["pairs"], 0, "speed starts were spent on a void arm")

    def test_the_pools_allocators_are_switched_in_one_real_process(self):
        result = self.priced("--arms", "weir,mlx-policy:64MiB", "--quick", "--workload", TINY, worker=WEIR)
        self.assertEqual((result["design"], result["baseline"]), ("crossover", "mlx-policy unlimited"))
        for name, allocator, limit in (("mlx-policy unlimited", "mlx-policy", None), ("weir unset", "weir", None),
                                       ("mlx-policy 64 MiB", "mlx-policy", 64 << 20)):
            arm = arm_named(result, name)
            self.assertEqual((arm["allocator"], arm["cache_limit_bytes"]), (allocator, limit))
            self.assertIsNotNone(arm["measured"]["footprint_peak_bytes"])
        for arm in result["cells"][0]["arms"]:
            self.assertNotIn(arm["reason"], ("knob", "work", "failed_starts"), arm["sentence"])


if __name__ == "__main__":
    unittest.main()
