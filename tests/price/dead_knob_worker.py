#!/usr/bin/env -S python3 -S -E
"""A worker whose knob is dead: it is set once, to DEAD_KNOB_STUCK, and no switch changes it afterwards.

WEIR_TEST_DEAD_KNOB=liar      claims the value that was asked for
WEIR_TEST_DEAD_KNOB=honest    reads back the value that is really in force (default)
WEIR_TEST_DEAD_KNOB_STUCK     "unlimited" (default) or "unset"
WEIR_TEST_INNER_WORKER is the worker behind it.
"""

import os
import sys

from worker_proxy import InnerWorker, serve

LIBRARY_DEFAULT = 33554432
STUCK = os.environ.get("WEIR_TEST_DEAD_KNOB_STUCK", "unlimited")
LIAR = os.environ.get("WEIR_TEST_DEAD_KNOB", "honest") == "liar"


def asked_bytes(setting):
    return {"unlimited": None, "unset": LIBRARY_DEFAULT}.get(setting["mode"], setting["bytes"])


def main():
    worker = InnerWorker()
    state = {"claimed": LIBRARY_DEFAULT}

    def answer(request):
        if request["op"] != "switch":
            return worker.ask(request)
        asked = request["cache_limit"]
        reply = worker.ask({**request, "cache_limit": {"mode": STUCK, "bytes": None}})
        if LIAR and reply and reply.get("event") == "switched":
            reply["previous_bytes"] = state["claimed"]
            reply["in_force_bytes"] = state["claimed"] = asked_bytes(asked)
        return reply

    return serve(worker, answer)


if __name__ == "__main__":
    sys.exit(main())
