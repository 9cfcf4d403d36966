"""Ordinary hosts under `weir run` do what they do without it: the same output, the same code, nothing left behind."""

import signal
import subprocess
import sys
import unittest

from governing import GoverningTest

_SUM = "import mlx.core as mx; mx.set_default_device(mx.cpu)\ndef total(n): return mx.sum(mx.arange(n) % 7).item()\n"
_POOL = _SUM + """
import multiprocessing
if __name__ == '__main__':
    with multiprocessing.get_context('{method}').Pool(2) as pool:
        print(pool.map(total, [1000, 20000, 300000]))
"""
_FORK_AFTER_USE = _SUM + """
import os
held = mx.full((1 << 20,), 2.0); mx.eval(held)
child = os.fork()
if child == 0:
    # MLX's own threads are gone here; what is already computed can be read.
    os._exit(int(memoryview(held)[7]) + 40)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), total(1000))
"""
_SUBPROCESS = _SUM + """
import subprocess, sys
mx.eval(mx.ones(10))
inner = 'import mlx.core as mx; print(mx.sum(mx.ones(11)).item())'
print(subprocess.run([sys.executable, '-c', inner], capture_output=True, text=True, check=True).stdout, end='')
print(subprocess.run(['/bin/echo', 'plain'], capture_output=True, text=True, check=True).stdout, end='')
"""
_THREADS = _SUM + """
import threading
answers = {}
def work(number):
    with mx.stream(mx.new_stream(mx.cpu)):
        for turn in range(50):
            answers[number, turn] = mx.sum(mx.full((1000 + 997 * turn,), float(number))).item()
threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
print(sum(answers.values()), len(answers))
"""
_EXEC = _SUM + """
import os, sys
mx.eval(mx.ones(10))
os.execv(sys.executable, [sys.executable, '-c', 'import mlx.core as mx; print(mx.sum(mx.ones(12)).item())'])
"""
_LATE_EXIT = _SUM + """
import atexit
kept = [mx.ones(1000) * number for number in range(100)]; mx.eval(kept)
atexit.register(lambda: print('at exit', kept[3][0].item()))
"""


class Hosts(GoverningTest):
    def same(self, command, *words):
        """Runs it both ways; the summary's `governed` under weir."""
        plain, governed = self.plain(command), self.governed(["--quiet", *words], command)
        self.assertEqual((governed.returncode, governed.stdout, governed.stderr),
                         (plain.returncode, plain.stdout, plain.stderr))
        self.no_pages_left()
        return self.summary()["governed"]

    def same_script(self, code, *words):
        file = self.root / "host.py"
        file.write_text(code)
        return self.same([sys.executable, str(file)], *words)

    def test_programs_without_mlx(self):
        for command in (["/bin/true"], ["/bin/false"], ["git", "--version"], [sys.executable, "-m", "pip", "list"],
                        ["/bin/sh", "-c", "echo out; echo err >&2; exit 9"], ["/bin/sh", "-c", "env | grep -c HOME"]):
            with self.subTest(command=command):
                self.same(command)

    def test_multiprocessing(self):
        for method in ("fork", "spawn"):
            with self.subTest(method=method):
                self.assertIs(self.same_script(_POOL.format(method=method)), True)

    def test_fork_exec_and_subprocess(self):
        for code in (_FORK_AFTER_USE, _SUBPROCESS, _EXEC):
            with self.subTest(code=code):
                self.assertIs(self.same_script(code), True)

    def test_threads_and_arrays_that_live_to_the_end(self):
        for code in (_THREADS, _LATE_EXIT):
            with self.subTest(code=code):
                for allocator in ("mlx", "mlx-policy", "weir"):
                    self.assertIs(self.same_script(code, "--allocator", allocator), True)

    def test_children_are_governed_too_unless_told_otherwise(self):
        code = ("import sys, subprocess; sys.exit(subprocess.run([sys.executable, '-c', "
                "'import mlx.core as mx; mx.eval(mx.ones((64 << 20,)))'], stderr=subprocess.DEVNULL).returncode)")
        command = [sys.executable, "-c", code]
        limit = ["--memory-limit", str(32 << 20)]
        self.assertEqual(self.governed([*limit], command).returncode, 1)
        self.assertEqual(self.governed([*limit, "--children=no"], command).returncode, 0)

    def test_a_killed_host_leaves_no_page(self):
        code = _SUM + "import os, signal; total(100000); os.kill(os.getpid(), signal.SIGKILL)"
        run = self.governed(["--quiet"], [sys.executable, "-c", code])
        self.assertEqual(run.returncode, 128 + signal.SIGKILL)
        self.no_pages_left()

    def test_stdin_reaches_the_host(self):
        code = "import mlx.core as mx; print(mx.array(int(input())).item())"
        done = subprocess.run([*self.weir_run("--quiet"), sys.executable, "-c", code],
                              input="41\n", env=self.environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "41\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
