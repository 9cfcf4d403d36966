"""The counters page of the process that asks, or of another one: src/wire/counters_page.h, read as a stranger would."""

import os
import pathlib
import struct

_MAGIC = 0x3147_5052_4945_57
_VERSION = 2
_WHO = struct.Struct("<QIIIIQQQ256s128s")
_COUNTERS_AT = 448
_COUNTERS = (
    "sequence", "cache_limit", "memory_limit", "live", "retained", "padding", "backed", "overdraw", "live_peak",
    "retained_peak", "backed_peak", "overdraw_peak", "allocations", "frees", "hits", "misses", "refusals", "overdraws",
    "host_clears", "host_limits", "returned", "moved", "troubles", "forks", "pool_start", "pool_end",
    "pid_namespace", "backend", "phase", "tokens", "requests")
_LAYOUT = struct.Struct("<27QII2Q")
_SIZE_CLASSES_AT = 768
_SIZE_CLASSES = 40
_SIZE_CLASS = struct.Struct("<4Q")
_ACTS_AT = 4096
_ACTS = struct.Struct("<3Q4qQ")
_ACT_AT = 4352
_ACT_ROWS = 32
_ACT = struct.Struct("<QIIQQQQQQ")
_DEVICE_AT = 6400
_DEVICE = struct.Struct("<4Q32s")
PAGE_BYTES = 8192
_ALLOCATORS = ("mlx", "mlx-policy", "weir")
_BACKENDS = ("cpu", "cuda", "metal", "none")
_PHASES = ("unmarked", "load", "vision", "prefill", "decode", "idle", "unload")


def _size_classes(content: bytes) -> list[dict]:
    rows = (_SIZE_CLASS.unpack_from(content, _SIZE_CLASSES_AT + row * _SIZE_CLASS.size) for row in range(_SIZE_CLASSES))
    return [dict(zip(("allocations", "hits", "retained", "last_allocation"), row)) for row in rows]


def _acts(content: bytes) -> dict:
    """What weir did, oldest first, its latest sample, and the devices."""
    _, done, taken, *sizes, devices = _ACTS.unpack_from(content, _ACTS_AT)
    names = ("time_ns", "kind", "cause", "argument", "released", "footprint_before", "footprint_after",
             "retained_before", "retained_after")
    acts = [dict(zip(names, _ACT.unpack_from(content, _ACT_AT + number % _ACT_ROWS * _ACT.size)))
            for number in range(max(0, done - _ACT_ROWS), done)]
    sample = dict(zip(("heap_idle", "identified", "untouched", "unexplained"),
                      (None if size == -2**63 else size for size in sizes)), ns=taken)
    rows = [_DEVICE.unpack_from(content, _DEVICE_AT + row * _DEVICE.size) for row in range(devices)]
    return {"acts_done": done, "acts": acts, "sample": sample if taken else None,
            "devices": [dict(zip(("total", "free", "pool_reserved", "pool_used"), row),
                             name=row[4].split(b"\0")[0].decode()) for row in rows]}


def _whole(before: bytes, after: bytes, at: int) -> bool:
    """Whether the section of the sequence at `at` is of one update in `before`."""
    (first,), (second,) = struct.unpack_from("<Q", before, at), struct.unpack_from("<Q", after, at)
    return first % 2 == 0 and first == second


def read(path: pathlib.Path) -> dict | None:
    """Everything on the page, each section from one update; None where the file is no page."""
    for _ in range(1000):
        content = path.read_bytes()
        if len(content) != PAGE_BYTES:
            return None
        magic, version, state, pid, allocator, _, run, _, library, command = _WHO.unpack_from(content)
        if magic != _MAGIC or version != _VERSION:
            return None
        counters = dict(zip(_COUNTERS, _LAYOUT.unpack_from(content, _COUNTERS_AT)))
        again = path.read_bytes()
        if _whole(content, again, _COUNTERS_AT) and _whole(content, again, _ACTS_AT):
            counters["backend"] = _BACKENDS[counters["backend"]]
            counters["phase"] = _PHASES[counters["phase"]]
            return {"pid": pid, "state": state, "run": run, "allocator": _ALLOCATORS[allocator],
                    "library": library.split(b"\0")[0].decode(), "command": command.split(b"\0")[0].decode(), **counters,
                    "size_classes": _size_classes(content), **_acts(content)}
    return None


def of_process(pid: int | None = None) -> dict | None:
    """The page of `pid`, by default of this process; None where nothing governs it."""
    folder = os.environ.get("WEIR_AGENT_PAGES")
    if not folder:
        return None
    pages = list(pathlib.Path(folder).glob(f"*-{pid or os.getpid()}.page"))
    return read(pages[0]) if pages else None
