"""Events fed to an import, and what it acknowledged."""

import json
import os
import select
import signal
import time

from harness.command import TIMEOUT
from harness.report import Fault

# Without an answer for so long an import hangs, however little of the processor it gets.
STALL_SECONDS = 60.0


class Acknowledgements:
    """What an import said on its standard output."""

    def __init__(self, first_index):
        self.first_index = first_index
        self.buffer = b""
        self.sequences = {}
        self.count = 0

    def take(self, data):
        self.buffer += data
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            answer = json.loads(line)
            if "outcome" not in answer:
                continue
            self.count += 1
            if answer["outcome"] not in ("appended", "duplicate"):
                raise Fault("an event was answered %s" % answer)
            self.sequences[self.first_index + answer["line"] - 1] = answer["sequence"]


def feed(process, history, first, last, acknowledged, random_source, deadline=None, window=24,
         first_deadline=None):
    """Feeds events in small batches and reads what is acknowledged.

    Ends at the last event's acknowledgement, at the end of the process, or when the deadline is
    reached: `deadline` seconds after the first acknowledgement, or `first_deadline` seconds after
    the start.
    """
    next_index = first
    pending = b""
    start = time.monotonic()
    end = None if first_deadline is None else start + first_deadline
    output, entry = process.stdout.fileno(), process.stdin.fileno()
    os.set_blocking(entry, False)
    while acknowledged.count < last - first:
        if end is not None and time.monotonic() >= end:
            return
        if not pending and next_index < last and \
                next_index - first - acknowledged.count < window:
            size = min(random_source.randint(1, 8), last - next_index)
            pending = history.lines(range(next_index, next_index + size))
            next_index += size
        wait = STALL_SECONDS if end is None else max(0.0, end - time.monotonic())
        readable, writable, _ = select.select([output], [entry] if pending else [], [], wait)
        if writable:
            try:
                pending = pending[os.write(entry, pending):]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                pending = b""
                next_index = last
        if readable:
            data = os.read(output, 1 << 16)
            if not data:
                return
            had = acknowledged.count
            acknowledged.take(data)
            if not had and acknowledged.count and deadline is not None:
                end = time.monotonic() + deadline
        elif not writable and end is None:
            raise Fault("an import does not go on")


def finish(process, acknowledged, kill=False):
    """Ends an import, reads the rest of its answers; its exit code and standard error."""
    if kill:
        process.send_signal(signal.SIGKILL)
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    rest = process.stdout.read()
    errors = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    code = process.wait(timeout=TIMEOUT)
    acknowledged.take(rest or b"")
    return code, errors.decode(errors="replace")
