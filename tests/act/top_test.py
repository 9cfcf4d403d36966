"""`weir top` on a terminal and without one: what it draws, its keys, sizes, signals, and what it leaves behind."""

import json
import os
import signal
import subprocess
import termios
import time
import unittest

from holding import WEIR, HoldingTest
from terminal_screen import Terminal


class Top(HoldingTest):
    def terminal(self, *words, columns=80, rows=24, command=None, **more):
        environment = self.environment() | {"TERM": "xterm-256color", "LC_ALL": "C.utf8"} | more
        words = words if "--delay" in words else ("--delay", "0.1", *words)
        opened = Terminal(command or [WEIR, "top", *words], environment, columns, rows)
        self.addCleanup(opened.close)
        return opened

    def test_it_draws_a_live_table_with_its_keys_below(self):
        holder = self.hold(150, "--cache-limit", "64MiB")
        top = self.terminal()
        top.shows("weir top", "1 process in 1 run", "machine ", "footprint", "resident", "layers", "reused",
                  "alloc/s", "faults/s", str(holder.governed_pid), "cache limit", "67.1 MB", "q quit")
        self.assertTrue(top.screen.rows()[-1].startswith("q quit"), top.screen.text())
        self.tell(holder, 400)
        top.shows("live 4", "htop: RES")
        self.release(holder)
        top.shows("no governed process lives")

    def test_a_wide_terminal_shows_every_column(self):
        self.hold(50)
        top = self.terminal(columns=200, rows=50)
        top.shows("allocator", "phase", "retained", "cache lim", "mem lim", "history", "since")
        self.assertEqual(len(top.screen.rows()), 50)

    def test_keys_open_panels_and_sort_and_quit(self):
        holder = self.hold(50, "--allocator", "mlx-policy")
        self.tell(holder, "churn")
        top = self.terminal()
        top.shows("by footprint")
        top.type("s")
        top.shows("by retained")
        top.type("w")
        top.shows("why freed buffers are not reused", "fresh/1,000", "last asked")
        top.type("?")
        top.shows("select a process", "quit; Escape closes a panel")
        top.type("\x1b")
        top.shows("cache limit")
        top.type("q")
        self.assertEqual(top.end(), 0)
        self.assertTrue(top.is_restored())

    def test_arrows_select(self):
        first, second = self.hold(200), self.hold(20)
        top = self.terminal()
        top.shows(f"pid {first.governed_pid} ·")
        top.type("\x1b[B")
        top.shows(f"pid {second.governed_pid} ·")
        top.type("\x1bOA")
        top.shows(f"pid {first.governed_pid} ·")

    def test_a_new_size_is_taken_over(self):
        self.hold(50)
        top = self.terminal()
        top.shows("weir top", "q quit")
        top.set_size(200, 40)
        top.shows("allocator", "mem lim")
        self.assertTrue(top.screen.rows()[39].startswith("q quit"), top.screen.text())
        for columns, rows in ((20, 5), (1, 1), (80, 24)):
            top.set_size(columns, rows)
            time.sleep(0.3)
        top.shows("weir top", "q quit")
        self.assertTrue(top.screen.rows()[23].startswith("q quit"), top.screen.text())

    def test_signals_end_it_and_restore_the_terminal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number):
                top = self.terminal("--delay", "3600")
                top.shows("weir top")
                os.kill(top.pid, number)
                self.assertIn(top.end(), (128 + number, -number))
                self.assertTrue(top.is_restored())

    def test_control_c_ends_it_with_130(self):
        top = self.terminal()
        top.shows("weir top")
        top.type("\x03")
        self.assertEqual(top.end(), 130)
        self.assertTrue(top.is_restored())

    def test_control_z_gives_the_terminal_to_the_shell_until_it_goes_on(self):
        script = f"set -m; {WEIR} top --delay 0.1; echo stopped $?; read -r line; fg >/dev/null; echo ended $?"
        top = self.terminal(command=["/bin/bash", "-c", script])
        top.shows("weir top", "q quit")
        top.type("\x1a")
        top.shows("stopped 148")
        self.assertTrue(termios.tcgetattr(top.descriptor)[3] & termios.ICANON, "the shell has its line editing")
        self.assertGreater(top.raw.rfind(b"\x1b[?1049l"), top.raw.rfind(b"\x1b[?1049h"))
        top.set_size(100, 30)  # a stopped job is not told
        top.type("\n")
        top.until(lambda terminal: terminal.screen.rows()[29].startswith("q quit"))
        top.type("q")
        top.shows("ended 0")
        self.assertEqual(top.end(), 0)

    def test_a_stop_that_nobody_saw_coming_is_mended(self):
        top = self.terminal()
        top.shows("weir top", "q quit")
        os.kill(top.pid, signal.SIGSTOP)
        os.waitpid(top.pid, os.WUNTRACED)
        termios.tcsetattr(top.descriptor, termios.TCSANOW, top.modes)  # what a shell does
        top.screen.resize(80, 24)
        os.kill(top.pid, signal.SIGCONT)
        top.shows("weir top", "q quit")
        self.assertFalse(termios.tcgetattr(top.descriptor)[3] & termios.ICANON)

    def test_it_ends_with_its_terminal(self):
        top = self.terminal("--delay", "3600")
        top.shows("weir top")
        os.close(top.descriptor)
        top.descriptor = -1
        end = time.monotonic() + 20
        while True:
            pid, status = os.waitpid(top.pid, os.WNOHANG)
            if pid:
                break
            self.assertLess(time.monotonic(), end, "it goes on without a terminal")
            time.sleep(0.05)
        top.code = os.waitstatus_to_exitcode(status)

    def test_colours_are_left_out_where_nobody_wants_them(self):
        self.hold(50)
        coloured = self.terminal("--count", "2")
        self.assertEqual(coloured.end(), 0)
        self.assertRegex(coloured.raw, rb"\x1b\[[\d;]*3[1-7]")
        plain = self.terminal("--count", "2", NO_COLOR="1")
        self.assertEqual(plain.end(), 0)
        self.assertNotRegex(plain.raw, rb"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|[349]8;5)[;m]")

    def test_bars_are_ascii_where_the_locale_is(self):
        self.hold(50)
        top = self.terminal(LC_ALL="C")
        top.shows("####", "q quit")
        self.assertTrue(top.raw.isascii())
        self.terminal().shows("████", "q quit")

    def test_it_is_plain_lines_without_a_terminal(self):
        holder = self.hold(150)
        done = self.plain([WEIR, "top", "--delay", "0.1", "--count", "3"], TERM="xterm")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stdout)
        head, *lines = done.stdout.splitlines()
        names = head.split()
        self.assertEqual(len(lines), 3)
        rows = [dict(zip(names, line.split(), strict=True)) for line in lines]
        self.assertEqual({row["pid"] for row in rows}, {str(holder.governed_pid)})
        self.assertEqual(rows[0]["alloc/s"], "?")
        self.assertEqual(rows[1]["alloc/s"], "0")
        self.assertRegex(rows[1]["live"], r"^15\d")

    def test_it_is_plain_lines_on_a_dumb_terminal(self):
        self.hold(50)
        for term in ("dumb", "", "no-such-terminal"):
            with self.subTest(term=term):
                top = self.terminal(command=["/usr/bin/env", f"TERM={term}", WEIR, "top", "--delay", "0.1", "--count", "2"])
                self.assertEqual(top.end(), 0)
                self.assertNotIn(b"\x1b", top.raw)
                self.assertIn(b"alloc/s", top.raw)

    def test_json_is_one_line_for_each_look(self):
        holder = self.hold(150)
        done = self.plain([WEIR, "top", "--json", "--delay", "0.1", "--count", "2"])
        first, second = (json.loads(line) for line in done.stdout.splitlines())
        self.assertIsNone(first["processes"][0]["allocations_per_second"])
        self.assertEqual(second["processes"][0]["allocations_per_second"], 0)
        self.assertEqual(second["processes"][0]["pid"], holder.governed_pid)
        self.assertGreater(second["time"], first["time"])

    def test_plain_lines_end_at_a_signal_and_with_their_reader(self):
        running = subprocess.Popen([WEIR, "top", "--json", "--delay", "3600"], env=self.environment(), cwd=self.root,
                                   stdout=subprocess.PIPE)
        self.assertIn(b"processes", running.stdout.readline())
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(20), 143)
        running.stdout.close()
        piped = self.plain(["/bin/bash", "-c", f"{WEIR} top --json --delay 0.1 | head -n 2 | wc -l; exit ${{PIPESTATUS[0]}}"])
        self.assertEqual((piped.stdout.strip(), piped.returncode), ("2", 141))

    def test_keys_are_no_loss_where_stdin_is_no_terminal(self):
        top = self.terminal(command=["/bin/sh", "-c", f"exec {WEIR} top --delay 0.1 --count 3 </dev/null"])
        self.assertEqual(top.end(), 0)
        self.assertIn(b"weir top", top.raw)
        self.assertTrue(top.is_restored())

    def test_words_that_make_no_sense_are_usage_errors(self):
        for words in (["--delay", "0.01"], ["--delay", "-1"], ["--delay", "nan"], ["--delay", "inf"], ["--delay", "x"],
                      ["--count", "0"], ["--count", "-1"], ["--count", "1.5"], ["extra"]):
            with self.subTest(words=words):
                self.assertEqual(self.plain([WEIR, "top", *words]).returncode, 64)


if __name__ == "__main__":
    unittest.main()
