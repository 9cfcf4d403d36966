"""`weir run` around mlx-lm's model code: the same tokens, and no more retained than the limit allows."""

import unittest

from governing import MIB, GoverningTest

LIMIT = 64 * MIB


class Govern(GoverningTest):
    def churn(self, *words):
        return self.script("churn.py", *words)

    def test_a_limit_binds_and_changes_no_token(self):
        unlimited = self.json_of(self.plain(self.churn("--unlimited")))
        self.assertGreater(max(rest["retained"] for rest in unlimited["rests"]), LIMIT * 5 // 4, "the limit is out of reach")
        self.assertIsNone(unlimited["page"])
        for allocator in ("mlx", "mlx-policy", "weir"):
            with self.subTest(allocator=allocator):
                run = self.governed(["--cache-limit", "64MiB", "--allocator", allocator], self.churn())
                found = self.json_of(run)
                self.assertEqual(found["ids"], unlimited["ids"])
                for rest in found["rests"]:
                    self.assertLessEqual(rest["retained"], LIMIT)
                    self.assertLessEqual(rest["page_retained"], LIMIT)
                self.assertEqual(found["page"]["allocator"], allocator)
                self.assertEqual(found["page"]["cache_limit"], LIMIT)
                self.assertEqual((found["page"]["refusals"], found["page"]["troubles"]), (0, 0))
                self.governed_summary(allocator)
                self.no_pages_left()

    def governed_summary(self, allocator):
        summary = self.summary()
        self.assertIs(summary["governed"], True)
        self.assertEqual(summary["exit_origin"], "child")
        self.assertEqual(summary["refusals"], 0)
        self.assertEqual(summary["limits"]["cache_limit"]["effective_bytes"], LIMIT)
        (process,) = summary["processes"]
        self.assertEqual(process["allocator"], allocator)
        self.assertGreater(process["live_peak_bytes"], 20 * MIB)
        layers = {name: value or 0 for name, value in summary["layers_peak"].items() if not isinstance(value, (dict, list))}
        self.assertEqual(layers["footprint"], layers["live"] + layers["retained"] - layers["untouched"]
                         + layers["heap_idle"] + layers["identified"] + layers["unexplained"])

    def test_the_mlx_policy_retains_what_mlx_retains(self):
        plain = self.json_of(self.plain(self.churn("--cache-limit", LIMIT)))
        found = self.json_of(self.governed(["--cache-limit", "64MiB", "--allocator", "mlx-policy"], self.churn()))
        # Which thread frees first is a race, so peaks and what is kept differ by little.
        self.assertLess(abs(found["live_peak"] - plain["live_peak"]), plain["live_peak"] // 10)
        for rest, other in zip(found["rests"], plain["rests"]):
            self.assertEqual(rest["live"], other["live"])
            self.assertLess(abs(rest["retained"] - other["retained"]), 8 * MIB)

    def test_the_pool_backs_little_more_than_is_live(self):
        found = self.json_of(self.governed([], self.churn()))
        self.assertEqual(found["page"]["allocator"], "weir")
        self.assertLess(found["page"]["backed_peak"], found["page"]["live_peak"] * 1.05 + 16 * MIB)

    def test_nothing_is_kept_under_a_limit_of_0(self):
        for allocator in ("mlx", "mlx-policy", "weir"):
            with self.subTest(allocator=allocator):
                found = self.json_of(self.governed(["--cache-limit", "0", "--allocator", allocator], self.churn("--prompts", 2)))
                self.assertEqual([rest["retained"] for rest in found["rests"]], [0, 0])

    def test_the_childs_output_and_code_are_its_own(self):
        code = "import mlx.core as mx, sys; print(mx.ones(3).sum().item()); print('told', file=sys.stderr); sys.exit(7)"
        run = self.governed(["--quiet"], self.python(code))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (7, "3.0\n", "told\n"))
        self.assertEqual(self.summary()["exit_origin"], "child")

    def python(self, code):
        return [self.script("")[0], "-c", code]


if __name__ == "__main__":
    unittest.main()
