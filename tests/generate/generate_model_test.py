"""`weir generate` on the embedded model."""

import tool

KEYS = [
    "text", "prompt_tokens", "generated_tokens", "finish_reason", "prefill_tokens_per_second",
    "decode_tokens_per_second", "footprint_peak_bytes", "footprint_peak_low_bytes", "live_peak_bytes",
    "retained_bytes", "page_faults", "limits", "layers", "footprint_peak_source", "blas", "allocator",
]
ALLOCATORS = ["mlx", "mlx-policy", "weir"]
FRANCE = ["generate", "smollm2", "-p", "What is the capital of France?", "--temperature", "0"]


class GenerateModel(tool.ToolTest):
    def test_json_has_the_contracts_keys_and_layers_that_add_up(self):
        result = self.run_json(*FRANCE, "-n", "24")
        for key in KEYS:
            self.assertIn(key, result)
        self.assertIn("Paris", result["text"])
        self.assertEqual(result["allocator"], "weir")
        self.check_layers(result)
        self.assertIn("OpenBLAS", result["blas"])

    def check_layers(self, result):
        layers = {name: value or 0 for name, value in result["layers"].items() if not isinstance(value, (dict, list))}
        self.assertEqual(
            layers["footprint"],
            layers["live"] + layers["retained"] - layers["untouched"] + layers["heap_idle"] + layers["identified"]
            + layers["unexplained"],
        )
        self.assertEqual(layers["footprint"] + layers["file"], layers["resident"] + layers["swap"])
        self.assertEqual(sum(result["layers"]["tags"].values()), layers["live"])
        self.assertGreaterEqual(result["layers"]["untouched"], 0)
        self.assertEqual(result["layers"]["overdraw"], None if result["allocator"] == "mlx" else 0)
        parts = {part["name"]: part["bytes"] for part in result["layers"]["identified_parts"]}
        self.assertEqual("pool padding" in parts, result["allocator"] != "mlx")
        self.assertEqual(sum(parts.values()), layers["identified"])
        self.assertLessEqual(result["footprint_peak_low_bytes"], result["footprint_peak_bytes"])
        self.assertLess(abs(layers["unexplained"]), 0.1 * layers["footprint"])

    def test_every_allocator_gives_the_same_text_and_sums_that_hold(self):
        results = [self.run_json(*FRANCE, "-n", "24", "--allocator", name) for name in ALLOCATORS]
        for name, result in zip(ALLOCATORS, results):
            self.assertEqual(result["allocator"], name)
            self.assertEqual(result["text"], results[0]["text"])
            self.check_layers(result)

    def test_a_memory_limit_that_suffices_is_kept(self):
        for name in ["mlx-policy", "weir"]:
            limit = 150 << 20
            result = self.run_json(*FRANCE, "-n", "4", "--allocator", name, "--memory-limit", str(limit))
            self.assertEqual(result["limits"]["memory_limit"]["bytes"], limit)
            self.assertLessEqual(result["layers"]["live"] + result["layers"]["retained"], limit)
            self.assertLessEqual(result["live_peak_bytes"], limit)

    def test_settings_of_a_surrounding_run_decide(self):
        agent = ("v2 allocator=mlx-policy cache=1048576 memory=none host_clear=age enforce=0 children=1"
                 " huge_pages=1 trim_at=0 idle=0 run=5")
        result = self.run_json(*FRANCE, "-n", "2", "--cache-limit", "unlimited", WEIR_AGENT=agent)
        self.assertEqual(result["allocator"], "mlx-policy")
        self.assertLessEqual(result["retained_bytes"], 1 << 20)
        done = self.run_weir(*FRANCE, "-n", "2", WEIR_AGENT="nonsense")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"WEIR_AGENT", done.stderr)

    def test_text_streams_to_stdout_and_statistics_go_to_stderr(self):
        done = self.run_weir(*FRANCE, "-n", "24")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"Paris", done.stdout)
        self.assertNotIn(b"tok/s", done.stdout)
        self.assertIn(b"tok/s", done.stderr)
        self.assertIn(b"footprint", done.stderr)

    def test_quiet_prints_the_text_alone(self):
        done = self.run_weir("--quiet", *FRANCE, "-n", "4")
        self.assertEqual(done.stderr, b"")

    def test_limits_are_applied_and_said(self):
        done = self.run_weir(*FRANCE, "-n", "2", "--cache-limit", "1MiB", "--allocator", "mlx-policy")
        text = done.stderr.decode()
        self.assertIn("previous 33,554,432 bytes, now 1,048,576 bytes", text)
        self.assertIn("trimmed", text)
        result = self.run_json(*FRANCE, "-n", "2", WEIR_CACHE_LIMIT="0")
        self.assertEqual(result["retained_bytes"], 0)
        self.assertEqual(result["limits"]["cache_limit"]["bytes"], 0)
        result = self.run_json(*FRANCE, "-n", "2", "--cache-limit", "unlimited")
        self.assertGreater(result["retained_bytes"], 1 << 20)

    def test_stop_strings_end_the_answer_before_them(self):
        result = self.run_json(*FRANCE, "-n", "24", "--stop", "Paris")
        self.assertNotIn("Paris", result["text"])
        self.assertEqual(result["finish_reason"], "stop")

    def test_ignore_eos_draws_all_tokens(self):
        result = self.run_json(*FRANCE, "-n", "40", "--ignore-eos")
        self.assertEqual((result["generated_tokens"], result["finish_reason"]), (40, "length"))

    def test_prompt_comes_from_stdin_and_one_token_has_no_decode_speed(self):
        done = self.run_weir("generate", "-p", "-", "--raw", "-n", "1", "--json", stdin=b"The capital of France is")
        result = tool.json.loads(done.stdout)
        self.assertEqual(result["text"], " Paris")
        self.assertIsNone(result["decode_tokens_per_second"])


if __name__ == "__main__":
    tool.main()
