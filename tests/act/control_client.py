"""A client of one governed process's control socket, from the documented bytes alone: src/wire/control.h.

It shares no code with weir, so a test that uses it checks the bytes as well. One record a message each way.
"""

import os
import pathlib
import socket
import struct

MAGIC = 0x4C54_4357
VERSION = 1
NO_LIMIT = (1 << 64) - 1
UNKNOWN = -(1 << 63)
VERBS = {"sample": 1, "set": 2, "trim": 3, "return": 4, "reset-peak": 5, "need": 6}
STATUSES = ("done", "pending", "refused", "bad request", "busy", "failed")
SETS_CACHE_LIMIT, UNSETS_CACHE_LIMIT, SETS_MEMORY_LIMIT = 1, 2, 4

_REQUEST = struct.Struct("=IHHIIQQQQQQ")
_REPLY = struct.Struct("=IHHHHIQQQQQQ192s")
_PARTS, _PART = 48, struct.Struct("=56sq")
_SAMPLE = struct.Struct("=13qII")
_LAYERS = ("footprint", "live", "retained", "untouched", "heap_idle", "identified", "unexplained", "file", "resident",
           "swap", "overdraw", "weights_file")
REPLY_BYTES = _REPLY.size + _SAMPLE.size + _PARTS * _PART.size


def start_ticks(pid: int) -> int:
    """When the process started, as /proc/PID/stat says; the name in it may hold spaces and brackets."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return int(stat.rsplit(")", 1)[1].split()[19])


def request(verb: str, pid: int, **more) -> bytes:
    return _REQUEST.pack(MAGIC, VERSION, VERBS[verb], more.get("flags", 0), pid, more.get("start_ticks", start_ticks(pid)),
                         more.get("cache_limit", 0), more.get("memory_limit", 0), more.get("bytes", 0), 0, 0)


def parse_sample(content: bytes) -> dict:
    *numbers, tags, parts = _SAMPLE.unpack_from(content)
    layers = {name: None if value == UNKNOWN else value for name, value in zip(_LAYERS, numbers)}
    layers["age_seconds"] = numbers[len(_LAYERS)] / 1e9
    named = [_PART.unpack_from(content, _SAMPLE.size + i * _PART.size) for i in range(tags + parts)]
    named = [(name.split(b"\0")[0].decode(), value) for name, value in named]
    return layers | {"tags": dict(named[:tags]), "identified_parts": named[tags:]}


def parse_reply(content: bytes) -> dict:
    if len(content) != REPLY_BYTES:
        raise ValueError(f"a reply of {len(content)} bytes instead of {REPLY_BYTES}")
    (magic, version, status, verb, has_sample, _, released, heap_released, driver_released, driver_kept, cache_limit,
     memory_limit, text) = _REPLY.unpack_from(content)
    if (magic, version) != (MAGIC, VERSION):
        raise ValueError(f"magic {magic:#x}, version {version}")
    reply = {"status": STATUSES[status], "verb": verb, "released": released, "heap_released": heap_released,
             "driver_released": driver_released, "driver_kept": driver_kept, "cache_limit": cache_limit,
             "memory_limit": memory_limit, "text": text.split(b"\0")[0].decode()}
    if has_sample:
        reply["sample"] = parse_sample(content[_REPLY.size:])
    return reply


class ControlClient:
    """A connection to the process `pid`, whose socket lies in `folder`."""

    def __init__(self, folder: pathlib.Path, pid: int, timeout: float = 30):
        self.pid = pid
        (path,) = pathlib.Path(folder).rglob(f"*-{pid}.sock")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(timeout)
        # A path may be longer than an address has room for.
        here = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            self.socket.connect(f"/proc/self/fd/{here}/{path.name}")
        finally:
            os.close(here)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def ask(self, verb: str, **more) -> dict:
        self.socket.send(request(verb, self.pid, **more))
        return parse_reply(self.socket.recv(1 << 16))

    def sample(self) -> dict:
        reply = self.ask("sample")
        if reply["status"] != "done" or "sample" not in reply:
            raise RuntimeError(f"sample: {reply['status']}: {reply['text']}")
        return reply["sample"]
