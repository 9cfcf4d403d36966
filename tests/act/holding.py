"""A governed program that holds what it is told to, for tests that look at it from outside."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "govern"))

from governing import WEIR, GoverningTest  # noqa: E402

# A line in is a number of MB to hold from now on, or "churn": lengths that never repeat. "ready" out after each.
HOLDER = """
import sys
import mlx.core as mx
mx.set_default_device(mx.cpu)
held, length = None, 1000
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "churn":
        for _ in range(200):
            length = (length * 7 + 13) % 60000 + 1000
            mx.eval(mx.ones((length,)) + 1)
    else:
        held = None
        held = mx.full((int(line) * 250000,), 2.0)
        mx.eval(held)
    print("ready", flush=True)
"""
__all__ = ["HOLDER", "WEIR", "HoldingTest", "children_of"]


def children_of(pid: int) -> list[int]:
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class HoldingTest(GoverningTest):
    def hold(self, megabytes: int, *words: str, program: str = HOLDER) -> subprocess.Popen:
        """A governed holder; its pid as `governed_pid`."""
        process = subprocess.Popen([WEIR, "run", "--quiet", *words, "--", sys.executable, "-c", program],
                                   env=self.environment(), cwd=self.root, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.release, process)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.governed_pid = children_of(process.pid)[0]
        self.tell(process, megabytes)
        return process

    def tell(self, process: subprocess.Popen, what) -> None:
        process.stdin.write(f"{what}\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "ready\n")

    @staticmethod
    def release(process: subprocess.Popen) -> None:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()
