"""`weir run` between a terminal and a program: signals, job control, stdin, and no terminal at all."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest

from governing import WEIR, GoverningTest

# Says every SIGINT it gets, and goes at SIGTERM with a code of its own.
_TELLER = """
import os, signal, sys, time
def told(number, frame):
    os.write(1, b"got %d\\n" % number)
    if number == signal.SIGTERM: os._exit(9)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT):
    signal.signal(number, told)
os.write(1, b"ready\\n")
while True: time.sleep(10)
"""

# Says where each SIGINT came from: 128 is the kernel, for the terminal; 0 is a process.
_SOURCE = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
os.write(1, b"ready\\n")
while True:
    told = signal.sigwaitinfo({signal.SIGINT, signal.SIGTERM})
    os.write(1, b"got %d from %d\\n" % (told.si_signo, told.si_code))
    if told.si_signo == signal.SIGTERM: os._exit(9)
"""


class Terminal(GoverningTest):
    def open_terminal(self, command):
        """Starts a shell's job: a process group of its own that owns a new terminal."""
        child, terminal = pty.fork()
        if child == 0:
            try:
                os.chdir(self.root)
                # A thread of BLAS would take the signals that the program itself keeps blocked.
                os.execve(command[0], command, self.environment(OPENBLAS_NUM_THREADS="1"))
            finally:
                os._exit(127)
        self.addCleanup(os.close, terminal)
        self.seen = b""
        return child, terminal

    @staticmethod
    def end_group(leader):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader, signal.SIGKILL)

    def expect(self, terminal, text):
        end = time.monotonic() + 20
        while text not in self.seen:
            self.assertLess(time.monotonic(), end, f"no {text!r} in {self.seen!r}")
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(terminal, 65536)
                except OSError:  # how a terminal says its end
                    break
        self.assertIn(text, self.seen)

    def test_control_c_reaches_the_program_once_and_weir_stays(self):
        child, terminal = self.open_terminal([WEIR, "run", "--quiet", "--", sys.executable, "-c", _SOURCE])
        self.expect(terminal, b"ready")
        os.write(terminal, b"\x03")
        self.expect(terminal, b"got 2 from 128")
        time.sleep(0.2)
        os.kill(child, signal.SIGTERM)
        self.expect(terminal, b"got 15 from 0")
        self.assertEqual(self.seen.count(b"got 2"), 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 9)

    def test_control_z_stops_both_and_a_shell_can_go_on(self):
        script = f"set -m; {WEIR} run --quiet -- {sys.executable} -u -c 'import time; print(\"ready\"); time.sleep(0.5); print(\"done\")'; echo stopped $?; fg >/dev/null; echo ended $?"
        child, terminal = self.open_terminal(["/bin/bash", "-c", script])
        self.expect(terminal, b"ready")
        os.write(terminal, b"\x1a")
        self.expect(terminal, b"stopped 148")
        self.expect(terminal, b"done")
        self.expect(terminal, b"ended 0")
        os.waitpid(child, 0)

    def test_a_program_that_stops_itself_gives_the_shell_its_prompt(self):
        script = f"set -m; {WEIR} run --quiet -- sh -c 'kill -TSTP $$; echo woken'; echo stopped $?; fg >/dev/null; echo ended $?"
        child, terminal = self.open_terminal(["/bin/bash", "-c", script])
        self.expect(terminal, b"stopped")
        self.expect(terminal, b"woken")
        self.expect(terminal, b"ended 0")
        os.waitpid(child, 0)

    def test_signals_sent_to_weir_are_passed_on(self):
        weir = subprocess.Popen([WEIR, "run", "--quiet", "--", sys.executable, "-c", _TELLER], env=self.environment(),
                                stdout=subprocess.PIPE, cwd=self.root, start_new_session=True)
        self.addCleanup(weir.stdout.close)
        self.addCleanup(self.end_group, weir.pid)
        self.seen = b""
        self.expect(weir.stdout.fileno(), b"ready\n")
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT, signal.SIGTERM):
            weir.send_signal(number)
            self.expect(weir.stdout.fileno(), b"got %d\n" % number)
        self.assertEqual(weir.wait(30), 9)

    def test_stdin_is_the_programs_own(self):
        done = subprocess.run([WEIR, "run", "--quiet", "--", "cat"], input=b"a\0b\xff" * 100_000, env=self.environment(),
                              cwd=self.root, capture_output=True, timeout=60, check=True)
        self.assertEqual(done.stdout, b"a\0b\xff" * 100_000)

    def test_it_runs_without_a_terminal_without_stdio_and_in_the_c_locale(self):
        environment = {name: value for name, value in self.environment().items() if name not in ("TERM", "LANG")}
        done = subprocess.run([WEIR, "run", "--summary", "told.json", "--", "true"], env=environment, cwd=self.root,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              start_new_session=True, timeout=60, check=True)
        self.assertIn(b"no MLX was loaded", done.stderr)
        closed = subprocess.run(["/bin/sh", "-c", f"exec {WEIR} run --summary closed.json -- true <&- >&- 2>&-"],
                                env=environment, cwd=self.root, start_new_session=True, timeout=60, check=False)
        self.assertEqual(closed.returncode, 0)
        self.assertTrue((self.root / "closed.json").exists())

    def test_a_reader_of_stderr_that_leaves_changes_neither_the_code_nor_the_summary(self):
        run = f"{WEIR} run --summary told.json -- sh -c 'sleep 0.3; exit 6'"
        done = self.plain(["/bin/bash", "-c", f"({run}; echo $? >code) 2>&1 >/dev/null | true"])
        self.assertEqual(done.returncode, 0)
        self.assertEqual((self.root / "code").read_text(), "6\n")
        self.assertTrue((self.root / "told.json").exists())

    def test_a_program_keeps_the_signals_that_its_starter_ignored(self):
        show = "grep SigIgn /proc/self/status"
        plain = self.plain(["/bin/sh", "-c", f"trap '' INT PIPE USR1; exec {show}"])
        under = self.plain(["/bin/sh", "-c", f"trap '' INT PIPE USR1; exec {WEIR} run --quiet -- {show}"])
        self.assertEqual(under.stdout, plain.stdout)


if __name__ == "__main__":
    unittest.main()
