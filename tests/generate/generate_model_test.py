"""`weir generate` on the embedded model."""

import tool

KEYS = [
    "text", "prompt_tokens", "generated_tokens", "finish_reason", "prefill_tokens_per_second",
    "decode_tokens_per_second", "footprint_peak_bytes", "footprint_peak_low_bytes", "live_peak_bytes",
    "retained_bytes", "page_faults", "limits", "layers", "footprint_peak_source", "blas",
]
FRANCE = ["generate", "smollm2", "-p", "What is the capital of France?", "--temperature", "0"]


class GenerateModel(tool.ToolTest):
    def test_json_has_the_contracts_keys_and_layers_that_add_up(self):
        result = self.run_json(*FRANCE, "-n", "24")
        for key in KEYS:
            self.assertIn(key, result)
        self.assertIn("Paris", result["text"])
        layers = {name: value or 0 for name, value in result["layers"].items() if not isinstance(value, (dict, list))}
        self.assertEqual(
            layers["footprint"],
            layers["live"] + layers["retained"] - layers["untouched"] + layers["heap_idle"] + layers["identified"]
            + layers["unexplained"],
        )
        self.assertEqual(layers["footprint"] + layers["file"], layers["resident"] + layers["swap"])
        self.assertEqual(sum(result["layers"]["tags"].values()), layers["live"])
        self.assertIsNone(result["layers"]["untouched"])
        self.assertLessEqual(result["footprint_peak_low_bytes"], result["footprint_peak_bytes"])
        self.assertLess(abs(layers["unexplained"]), 0.5 * layers["footprint"])
        self.assertIn("OpenBLAS", result["blas"])

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
        done = self.run_weir(*FRANCE, "-n", "2", "--cache-limit", "1MiB")
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
