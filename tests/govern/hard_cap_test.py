"""Above the memory limit of `weir run` one request fails with a sum that adds up, and the process goes on."""

import re
import unittest

from governing import MIB, GoverningTest

LIMIT = 256 * MIB
ALLOCATORS = ("weir", "mlx-policy")


class HardCap(GoverningTest):
    def case(self, name, allocator="weir", limit=LIMIT):
        run = self.governed(["--memory-limit", str(limit), "--allocator", allocator], self.script("cap_cases.py", name))
        found = self.json_of(run)
        self.assertEqual(found["page"]["memory_limit"], limit)
        self.assertEqual(found["page"]["troubles"], 0)
        self.assertLessEqual(found["page"]["backed_peak"], limit + found["page"]["overdraw_peak"])
        self.assertEqual(self.summary()["refusals"], found["page"]["refusals"])
        return found

    def assert_sum(self, text, limit=LIMIT):
        """The figures of a refusal: the parts make the total, which is over the limit."""
        self.assertIsNotNone(text, "nothing was refused")
        figures = {name: int(figure.replace(",", "")) for name, figure in re.findall(
            r"(live|retained|padding|overdraw|request =|limit of|weir:) ([\d,]+)", text)}
        self.assertEqual(figures["limit of"], limit, text)
        parts = sum(figures.get(name, 0) for name in ("weir:", "live", "retained", "padding", "overdraw"))
        self.assertEqual(parts, figures["request ="], text)
        self.assertGreater(figures["request ="], limit, text)

    def in_both(self, name):
        return [self.case(name, allocator) for allocator in ALLOCATORS]

    def test_a_refusal_is_a_memory_error_with_the_sum(self):
        for found in self.in_both("refusal"):
            self.assert_sum(found["text"])
            self.assertTrue(found["held_is_right"] and found["small_works"])
            self.assertGreaterEqual(found["page"]["refusals"], 1)

    def test_two_hundred_refusals_leave_live_where_it_began(self):
        for found in self.in_both("two_hundred"):
            self.assertEqual(found["refusals"], 200)
            self.assertEqual(found["after"], found["before"])
            self.assertTrue(found["small_works"])

    def test_a_graph_refused_half_way_leaves_nothing(self):
        for found in self.in_both("in_the_middle"):
            self.assert_sum(found["text"])
            self.assertEqual(found["after"], found["before"])
            self.assertTrue(found["small_works"])

    def test_async_eval_fails_on_its_caller(self):
        for found in self.in_both("asynchronous"):
            self.assert_sum(found["text"])
            self.assertEqual(found["after"], found["before"])
            self.assertTrue(found["small_is_right"] and found["small_works"])

    def test_a_second_thread_fails_alone(self):
        for found in self.in_both("second_thread"):
            self.assert_sum(found["text"])
            self.assertTrue(found["small_works_there"] and found["own_are_right"] and found["small_works"])

    def test_a_worker_overdraws_and_its_value_is_right(self):
        for found in self.in_both("worker"):
            self.assertTrue(all(attempt["right"] for attempt in found["attempts"]))
            self.assertIsNone(found["attempts"][-1]["text"])
            # Some attempt went on above the limit on the worker, and it was the caller's next request that paid.
            self.assertTrue(any(attempt["overdraws"] and not attempt["text"] for attempt in found["attempts"]), found)
            self.assertGreater(found["page"]["overdraw_peak"], 0)
            self.assertEqual(found["overdraw_after"], 0)
            self.assertTrue(found["small_works"])

    def test_a_model_that_does_not_fit_fails_to_load_and_a_smaller_one_loads(self):
        for found in self.in_both("loading"):
            self.assert_sum(found["text"])
            self.assertEqual(found["after"], found["before"])
            self.assertTrue(found["small_is_right"] and found["small_works"])

    def test_a_cap_a_fifth_below_need_refuses_the_longest_prompts_alone(self):
        plain = self.json_of(self.plain(self.script("cap_cases.py", "churning")))
        self.assertEqual(plain["texts"], [])
        limit = plain["live_peak"] * 4 // 5
        for allocator in ALLOCATORS:
            with self.subTest(allocator=allocator):
                found = self.case("churning", allocator, limit)
                refused = [number for number, ids in enumerate(found["ids"]) if ids is None]
                answered = [number for number, ids in enumerate(found["ids"]) if ids is not None]
                self.assertTrue(refused and answered, found["ids"])
                self.assertGreater(max(answered), min(refused), "nothing was asked after a refusal")
                for number in answered:
                    self.assertEqual(found["ids"][number], plain["ids"][number])
                self.assertEqual(len(set(found["lives"])), 1, found["lives"])
                for text in found["texts"]:
                    self.assert_sum(text, limit)

    def test_each_allocation_refused_in_turn_leaves_no_leak_and_no_wrong_value(self):
        for allocator in ALLOCATORS:
            with self.subTest(allocator=allocator):
                limit = 128 * MIB
                run = self.governed(["--memory-limit", str(limit), "--allocator", allocator],
                                    self.script("fault_sweep.py", limit, 12 if allocator == "weir" else 6))
                found = self.json_of(run)
                for name in ("mixed", "gradient", "linear_algebra"):
                    for wrong in ("wrong", "wrong_after", "inputs_changed", "leaks"):
                        self.assertEqual(found[name][wrong], 0, (name, wrong))
                for name in ("mixed", "gradient"):
                    self.assertGreater(found[name]["refused"], 2, name)
                    self.assertLess(found[name]["refused"], found[name]["attempts"], name)
                    self.assertGreater(found[name]["places"], 1, name)


if __name__ == "__main__":
    unittest.main()
