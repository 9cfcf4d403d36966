"""`weir ps` beside governed programs: what it shows is what is there, and nobody notices that it looked."""

import json
import pathlib
import subprocess
import time
import unittest

from holding import WEIR, HoldingTest

_KEYS = {"pid", "command", "backend", "allocator", "limits", "layers", "hit_rate", "since"}


def status_bytes(pid: int, key: str) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def switches(pid: int) -> dict[str, list[str]]:
    """How often each thread was scheduled, but for weir's own, which has its own clock."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        if "weir" not in (task / "comm").read_text():
            found[task.name] = [line for line in status.splitlines() if "ctxt_switches" in line]
    return found


def switches_at_rest(pid: int) -> dict[str, list[str]]:
    """Once every thread sleeps."""
    before, now = {}, switches(pid)
    while before != now:
        time.sleep(0.2)
        before, now = now, switches(pid)
    return now


class Ps(HoldingTest):
    def ps(self, *words, **more):
        return self.plain([WEIR, "ps", *words], **more)

    def rows(self):
        return self.json_of(self.ps("--json"))

    def test_it_is_an_empty_list_where_nothing_is_governed(self):
        self.assertEqual(self.rows(), [])
        table = self.ps()
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("no governed process lives", table.stdout)
        self.assertTrue(table.stdout.startswith("machine "), table.stdout)

    def test_it_shows_what_a_governed_process_holds(self):
        holder = self.hold(200, "--cache-limit", "64MiB", "--memory-limit", "1GiB")
        row, = self.rows()
        self.assertLessEqual(_KEYS, row.keys())
        self.assertEqual(row["pid"], holder.governed_pid)
        self.assertEqual(row["run"], holder.pid)
        self.assertEqual((row["backend"], row["allocator"], row["state"]), ("cpu", "weir", "governed"))
        self.assertIn("python3", row["command"])
        self.assertIn("mlx.core", row["command_line"])
        self.assertEqual(row["limits"]["cache_limit"]["effective_bytes"], 64 << 20)
        self.assertEqual(row["limits"]["memory_limit"]["bytes"], 1 << 30)
        self.assertGreaterEqual(row["layers"]["live"], 200_000_000)
        self.assertGreater(row["since"], 0)
        self.assertLess(row["since"], 120)
        self.assertIsNone(row["phase"])
        self.assertIsNone(row["tokens"])

    def test_its_layers_add_up_and_agree_with_proc(self):
        holder = self.hold(300)
        row, = self.rows()
        layers = {name: value or 0 for name, value in row["layers"].items() if not isinstance(value, (dict, list))}
        self.assertEqual(layers["footprint"], layers["live"] + layers["retained"] - layers["untouched"]
                         + layers["heap_idle"] + layers["identified"] + layers["unexplained"])
        self.assertEqual(layers["footprint"] + layers["file"], layers["resident"] + layers["swap"])
        self.assertAlmostEqual(layers["resident"], status_bytes(holder.governed_pid, "VmRSS"), delta=2 << 20)

    def test_it_follows_what_happens(self):
        holder = self.hold(10)
        before, = self.rows()
        self.tell(holder, "churn")
        self.tell(holder, 150)
        after, = self.rows()
        self.assertGreaterEqual(after["layers"]["live"] - before["layers"]["live"], 130_000_000)
        self.assertGreaterEqual(after["events"]["allocations"] - before["events"]["allocations"], 200)
        self.assertGreater(after["hit_rate"], 0)
        self.assertLessEqual(after["hit_rate"], 1)
        self.release(holder)
        self.assertEqual(self.rows(), [])

    def test_unknown_is_null(self):
        self.hold(10, "--allocator", "mlx")
        row, = self.rows()
        self.assertEqual(row["allocator"], "mlx")
        self.assertIsNone(row["backed_bytes"])
        self.assertIsNone(row["layers"]["overdraw"])
        self.assertIsNone(row["layers"]["heap_idle"])
        self.assertIsNone(row["limits"]["memory_limit"]["bytes"])

    def test_one_run_is_one_group_with_a_sum(self):
        both = ("import subprocess, sys, os\n"
                "import mlx.core as mx\nheld = mx.full((2500000,), 1.0); mx.eval(held)\n"
                "if len(sys.argv) < 2:\n"
                "    child = subprocess.Popen([sys.executable, '-c', os.environ['PROGRAM'], 'child'],"
                " stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
                "    child.stdout.readline()\n"
                "print('ready', flush=True)\nsys.stdin.readline()\nprint('ready', flush=True)\nsys.stdin.readline()\n")
        environment = self.environment
        self.environment = lambda **more: environment(PROGRAM=both, **more)
        self.hold(1, program=both)
        self.hold(10)
        rows = self.rows()
        runs = [row["run"] for row in rows]
        self.assertEqual(len(rows), 3)
        self.assertEqual(sorted(runs), runs)
        table = self.ps().stdout
        self.assertEqual(table.count("sum of run"), 1, table)
        shared = max(set(runs), key=runs.count)
        self.assertIn(f"sum of run {shared}", table)

    def test_looking_wakes_nobody_in_the_process(self):
        holder = self.hold(100)
        before, faults = switches_at_rest(holder.governed_pid), self.rows()[0]["faults"]
        for _ in range(20):
            self.rows()
        self.assertEqual(switches(holder.governed_pid), before)
        self.assertEqual(self.rows()[0]["faults"], faults)

    def test_many_at_once_are_all_answered(self):
        holder = self.hold(100)
        looks = [subprocess.Popen([WEIR, "ps", "--json"], env=self.environment(), cwd=self.root, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(40)]
        for look in looks:
            out, err = look.communicate(timeout=120)
            self.assertEqual(look.returncode, 0, err)
            self.assertEqual([row["pid"] for row in json.loads(out)], [holder.governed_pid])
        self.tell(holder, "churn")

    def test_processes_that_come_and_go_meanwhile_are_no_trouble(self):
        quick = [WEIR, "run", "--quiet", "--", "/bin/sh", "-c",
                 f"for i in 1 2 3 4 5 6; do {self.script('x')[0]} -c 'import mlx.core as mx; mx.eval(mx.ones(9))'; done"]
        coming = subprocess.Popen(quick, env=self.environment(), cwd=self.root)
        while coming.poll() is None:
            for row in self.rows():
                self.assertLessEqual(_KEYS, row.keys())
        self.assertEqual(coming.returncode, 0)
        self.assertEqual(self.rows(), [])

    def test_a_folder_that_others_can_read_is_refused(self):
        self.pages.mkdir(mode=0o755)
        self.pages.chmod(0o755)
        done = self.ps()
        self.assertEqual(done.returncode, 69)
        self.assertIn("chmod 700", done.stderr)

    def test_files_that_are_no_pages_are_passed_over(self):
        self.pages.mkdir(mode=0o700)
        for name, content in {"1-1.page": b"", "1-2.page": b"\xff" * 8192, "x.page": b"x", "1-3.page": b"\0" * 8192}.items():
            (self.pages / name).write_bytes(content)
        (self.pages / "1-4.page").symlink_to("/dev/zero")
        self.assertEqual(self.rows(), [])


if __name__ == "__main__":
    unittest.main()
