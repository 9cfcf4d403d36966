"""What a priced run prints and leaves behind."""

import unittest

from pricing import PricingTest, arm_named

TOP_KEYS = {"seal", "recommended", "rule", "verdict", "baseline", "pairs", "void_pairs", "cells"}
ARM_KEYS = {"name", "allocator", "cache_limit_bytes", "memory_limit_bytes", "reached", "predicted", "measured",
            "change", "saved_bytes", "verdict", "reason", "sentence"}
MEASURED_KEYS = {"footprint_peak_bytes", "retained_peak_bytes", "prefill_tokens_per_second",
                 "decode_tokens_per_second", "page_faults"}
RATIO_KEYS = {"ratio", "lower", "upper", "n", "mde"}


class Output(PricingTest):
    def test_json_has_every_key_of_the_contract(self):
        result = self.priced("--limits", "64MiB,0")
        self.assertLessEqual(TOP_KEYS, result.keys())
        self.assertRegex(result["seal"], "^[0-9a-f]{64}$")
        self.assertEqual(result["baseline"], "unlimited")
        for arm in result["cells"][0]["arms"]:
            self.assertLessEqual(ARM_KEYS, arm.keys())
            self.assertLessEqual(MEASURED_KEYS, arm["measured"].keys())
            for figure in MEASURED_KEYS:
                self.assertIsNotNone(arm["measured"][figure], figure)
            for ratio in arm["change"].values():
                self.assertLessEqual(RATIO_KEYS, ratio.keys())
        small = arm_named(result, "64 MiB")
        self.assertEqual(small["cache_limit_bytes"], 64 << 20)
        self.assertLessEqual({"value", "lower", "upper"}, small["saved_bytes"].keys())
        self.assertLessEqual({"prefill_tokens_per_second", "decode_tokens_per_second"}, small["change"].keys())
        self.assertIsNone(arm_named(result, "unlimited")["cache_limit_bytes"])
        self.assertIsNone(arm_named(result, "unlimited")["saved_bytes"])

    def test_the_table_is_plain_and_names_floor_and_minutes(self):
        run = self.price("--limits", "64MiB,0", minutes=None)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("\x1b", run.stdout)
        self.assertRegex(run.stdout, r"A against A: .*decode ±.*%; a 2 % question takes .* here")
        self.assertRegex(run.stdout, r"(?m)^  64 MiB .*SHIP$")
        self.assertNotIn("\x1b", run.stderr)
        self.assertNotIn("\r", run.stderr)

    def test_the_report_is_named_after_its_plan_and_private(self):
        result = self.priced("--limits", "64MiB")
        report = self.folder / f"weir-price-{result['seal'][:8]}.md"
        text = report.read_text(encoding="utf-8")
        self.assertEqual(report.stat().st_mode & 0o777, 0o600)
        self.assertTrue(text.startswith("# SHIP: "), text[:80])
        for heading in ("Checks", "A against A", "The rule, as sealed", "Run order", "Environment", "Run it again"):
            self.assertIn(f"\n## {heading}\n", text)
        self.assertIn(result["seal"], text)
        self.assertEqual([path.name for path in self.folder.iterdir()], [report.name])

    def test_o_names_the_report(self):
        self.priced("--limits", "64MiB", "-o", "mine.md")
        self.assertTrue((self.folder / "mine.md").exists())

    def test_quiet_keeps_stderr_empty(self):
        run = self.price("--limits", "64MiB", "--quick", "--quiet")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_progress_is_plain_lines_with_the_time_left(self):
        run = self.price("--limits", "64MiB", "--quick")
        self.assertRegex(run.stderr, r"(?m)^weir: footprint start 1 of \d+ \(.*\) · 0 % · \d+ (s|min) left$")
        self.assertRegex(run.stderr, r"(?m)^weir: start 1 of 3, block 1 of \d+ · 0 % · ")

    def test_the_store_holds_no_prompt(self):
        self.priced("--limits", "64MiB", "--quick")
        stored = "".join(str(row) for row in self.rows("SELECT json FROM blocks") + self.rows("SELECT json FROM results"))
        self.assertNotIn("low wall across", stored)


if __name__ == "__main__":
    unittest.main()
