#!/usr/bin/env -S python3 -S -E
"""A worker that is really slower under one limit: it sleeps, and its reported times say so.

WEIR_TEST_SLOW_LIMIT   the limit: "0", "67108864", "unset", "unlimited" (default 67108864)
WEIR_TEST_SLOW_BY      how much longer everything takes under it (default 0.43: a speed 30 % lower)
WEIR_TEST_SLOW_PROBE   seconds that the timing probe's measured requests take longer, so that a plan of five minutes has
                       few starts (default 0); what is measured afterwards does not know of it
WEIR_TEST_INNER_WORKER is the worker behind it.
"""

import os
import sys
import time

from worker_proxy import InnerWorker, serve, setting_name

SLOW_LIMIT = os.environ.get("WEIR_TEST_SLOW_LIMIT", "67108864")
SLOW_BY = float(os.environ.get("WEIR_TEST_SLOW_BY", str(1 / 0.7 - 1)))
SLOW_PROBE = float(os.environ.get("WEIR_TEST_SLOW_PROBE", "0"))


def main():
    worker = InnerWorker()
    state = {"slow": False}

    def answer(request):
        if request["op"] == "switch":
            state["slow"] = setting_name(request["cache_limit"]) == SLOW_LIMIT
        reply = worker.ask(request)
        if "/probe/measured" in request.get("name", ""):
            time.sleep(SLOW_PROBE)
        if reply and reply.get("event") == "generated" and state["slow"]:
            time.sleep((reply["prefill_seconds"] + reply["decode_seconds"]) * SLOW_BY)
            reply["prefill_seconds"] *= 1 + SLOW_BY
            reply["decode_seconds"] *= 1 + SLOW_BY
        return reply

    return serve(worker, answer)


if __name__ == "__main__":
    sys.exit(main())
