"""The counters page of the process that asks, or of another one: src/wire/counters_page.h, read as a stranger would."""

import os
import pathlib
import struct

_MAGIC = 0x3147_5052_4945_57
_WHO = struct.Struct("<QIIIIQQQ256s128s")
_COUNTERS_AT = 448
_COUNTERS = (
    "sequence", "cache_limit", "memory_limit", "live", "retained", "padding", "backed", "overdraw", "live_peak",
    "retained_peak", "backed_peak", "overdraw_peak", "allocations", "frees", "hits", "misses", "refusals", "overdraws",
    "host_clears", "host_limits", "returned", "moved", "troubles", "forks", "pool_start", "pool_end")
_LAYOUT = struct.Struct(f"<{len(_COUNTERS)}Q")
_ALLOCATORS = ("mlx", "mlx-policy", "weir")


def read(path: pathlib.Path) -> dict | None:
    """Every counter, from one update; None where the file is no page."""
    for _ in range(1000):
        content = path.read_bytes()
        if len(content) < _COUNTERS_AT + _LAYOUT.size:
            return None
        magic, _, state, pid, allocator, _, run, _, library, command = _WHO.unpack_from(content)
        if magic != _MAGIC:
            return None
        counters = dict(zip(_COUNTERS, _LAYOUT.unpack_from(content, _COUNTERS_AT)))
        again = dict(zip(_COUNTERS, _LAYOUT.unpack_from(path.read_bytes(), _COUNTERS_AT)))
        if counters["sequence"] % 2 == 0 and counters["sequence"] == again["sequence"]:
            return {"pid": pid, "state": state, "run": run, "allocator": _ALLOCATORS[allocator],
                    "library": library.split(b"\0")[0].decode(), "command": command.split(b"\0")[0].decode(), **counters}
    return None


def of_process(pid: int | None = None) -> dict | None:
    """The page of `pid`, by default of this process; None where nothing governs it."""
    folder = os.environ.get("WEIR_AGENT_PAGES")
    if not folder:
        return None
    pages = list(pathlib.Path(folder).glob(f"*-{pid or os.getpid()}.page"))
    return read(pages[0]) if pages else None
