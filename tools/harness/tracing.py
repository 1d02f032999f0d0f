"""Kills and errors at single system calls, injected by strace."""

import re

from harness.install import install
from harness.report import Missing

KILLED = (-9, 137)


def require_strace():
    if not install("strace", "strace"):
        raise Missing("strace is not installed")


def strace(target, call, *options):
    """The words before a command whose calls are written to a file."""
    return ["strace", "-f", "-qq", "-o", target, "-e", "trace=" + call, "-e", "signal=none",
            *options]


def injected(call, fault, position):
    """The words before a command that meets a fault at a call: "kill", or an error's name; with "+"
    at all later calls too."""
    what = "signal=KILL" if fault == "kill" else "error=" + fault.rstrip("+")
    when = "%d%s" % (position, "+" if fault.endswith("+") else "")
    return strace("/dev/null", call, "-e", "inject=%s:%s:when=%s" % (call, what, when))


def counted(trace, calls):
    """How often one thread makes each of some calls at most, by what strace wrote down."""
    counts = {}
    with open(trace) as file:
        for line in file:
            match = re.match(r"(\d+)\s+(\w+)\(", line)
            if match and match[2] in calls:
                by_thread = counts.setdefault(match[2], {})
                by_thread[match[1]] = by_thread.get(match[1], 0) + 1
    return {call: max(threads.values()) for call, threads in counts.items()}


def require_traced(done, trace, calls):
    """The counts of a traced command that nothing stopped; else processes cannot be traced here."""
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip()[-200:]
        raise Missing("processes cannot be traced: %s" % reason)
    return counted(trace, calls)


def positions_of(counts, limit, source):
    """Pairs of a call and its position: all, or so many of each call."""
    pairs = []
    for call, count in sorted(counts.items()):
        chosen = range(1, count + 1)
        if count > limit:
            chosen = sorted(source.sample(chosen, limit))
        pairs += [(call, position) for position in chosen]
    return pairs
