"""mlx_lm.server as it is, in a process that also does what a signal tells it, to be seen from outside.

    ledger_server.py MARKS --model FOLDER --port PORT

SIGUSR1 plants 200 MB of anonymous memory. SIGUSR2 takes 300 MB from malloc in blocks of 64 KiB, one more that stays,
and frees all but that one. The file MARKS gets a line when it is done.
"""

import ctypes
import mmap
import runpy
import signal
import sys

PLANTED = 200_000_000
FREED = 300_000_000
_BLOCK = 64 << 10
_kept = []


def plant(marks: str) -> None:
    memory = mmap.mmap(-1, PLANTED, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, PLANTED, mmap.PAGESIZE):
        memory[at] = 1
    _kept.append(memory)
    note(marks, "planted")


def free_below_one(marks: str) -> None:
    c = ctypes.CDLL(None)
    c.malloc.restype = ctypes.c_void_p
    c.malloc.argtypes = [ctypes.c_size_t]
    c.free.argtypes = [ctypes.c_void_p]
    blocks = [c.malloc(_BLOCK) for _ in range(FREED // _BLOCK)]
    _kept.append(c.malloc(_BLOCK))
    for block in blocks:
        ctypes.memset(block, 1, _BLOCK)
    for block in blocks:
        c.free(block)
    note(marks, "freed")


def note(marks: str, word: str) -> None:
    with open(marks, "a", encoding="utf-8") as file:
        file.write(word + "\n")


if __name__ == "__main__":
    path = sys.argv.pop(1)
    signal.signal(signal.SIGUSR1, lambda *_: plant(path))
    signal.signal(signal.SIGUSR2, lambda *_: free_below_one(path))
    runpy.run_module("mlx_lm.server", run_name="__main__", alter_sys=True)
