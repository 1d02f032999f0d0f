"""Faults, figures, and what a tool prints at its end."""

import concurrent.futures
import json
import shutil
import subprocess
import sys
import time


class Fault(Exception):
    """A check that did not hold."""


class Missing(Exception):
    """What a check needs is not there and cannot be installed."""


class Report:
    """Figures, and what did not hold."""

    def __init__(self):
        self.figures = {}
        self.failures = []
        self.begin = time.monotonic()

    def fail(self, part, text):
        self.failures.append("%s: %s" % (part, text))
        print("FAILED %s: %s" % (part, text), file=sys.stderr, flush=True)

    def guard(self, part, work):
        """Does a part's work; what it raises is a failure, what is missing is said. The seconds."""
        begin = time.monotonic()
        try:
            work()
        except Missing as missing:
            self.figures[part] = {"skipped": str(missing)}
            say("%s: skipped, %s" % (part, missing))
        except (Fault, OSError, ValueError, KeyError, subprocess.SubprocessError) as fault:
            self.fail(part, "%s: %s" % (type(fault).__name__, fault))
        return round(time.monotonic() - begin, 1)

    def seconds(self):
        """Seconds since the tool began."""
        return round(time.monotonic() - self.begin, 1)

    def end(self, scratch, **head):
        """Prints one JSON document; the tool's exit code. Without failures its folder goes."""
        if self.failures:
            say("what failed is kept in %s" % scratch)
        else:
            shutil.rmtree(scratch)
        print(json.dumps({
            "ok": not self.failures, **head, **self.figures, "failures": self.failures}, indent=2))
        return 1 if self.failures else 0


def say(text):
    print(text, file=sys.stderr, flush=True)


def in_parallel(work, items, workers=2):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))
