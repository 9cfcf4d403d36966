"""Memory held only so that little is left below a limit."""

import mlx.core as mx

import counters_page

MIB = 1 << 20


def _charged() -> int:
    """What counts against the limit at rest; without a page MLX's own figure."""
    page = counters_page.of_process()
    return page["backed"] - page["retained"] if page else mx.get_active_memory()


def leaving(limit: int, room: int) -> mx.array:
    """A block that leaves about `room` bytes below the limit. Free pages beside other blocks count as charged,
    and a block takes whole granules: so the largest that is granted."""
    size = max(0, limit - _charged() - room)
    while True:
        block = mx.zeros((size,), dtype=mx.uint8)
        try:
            mx.eval(block)
        except MemoryError:
            size = max(0, size - MIB)
            continue
        return block
