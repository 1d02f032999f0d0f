"""Kills and errors at each write and sync call of a short import, injected by strace."""

import os
import random
import re
import shutil

from harness import (
    Acknowledgements, Fault, History, checked_audit, checked_log, checked_replay, copy_ledger,
    feed, finish, in_parallel, say)

CALLS = ["pwrite64", "fdatasync", "fsync", "writev", "write"]
# "ENOSPC+": a disk that stays full.
FAULTS = ["kill", "EIO", "ENOSPC", "ENOSPC+"]
EVENTS = 60
# 0: the call did not matter (standard error, a sync at the end); else a clear word of what failed.
CLEAR_CODES = {0, 3, 74, 75}


def scripted(tool, ledger, history, prefix):
    """One import of a few small batches; its exit code, errors and acknowledgements."""
    answered = Acknowledgements(0)
    process = tool.start_import(ledger, prefix)
    try:
        # The same batches each time: a batch goes in when the one before it was answered.
        feed(process, history, 0, EVENTS, answered, random.Random(1), window=1)
    finally:
        code, errors = finish(process, answered)
    return code, errors, answered


def strace(target, call, *options):
    return ["strace", "-f", "-qq", "-o", target, "-e", "trace=" + call, "-e", "signal=none",
            *options]


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


def positions_of(counts, limit, source):
    """Pairs of a call and its position: all, or so many of each call."""
    pairs = []
    for call, count in sorted(counts.items()):
        chosen = range(1, count + 1)
        if count > limit:
            chosen = sorted(source.sample(chosen, limit))
        pairs += [(call, position) for position in chosen]
    return pairs


def count_calls(tool, base, history):
    """How often one thread makes each call at most; None where calls cannot be traced."""
    trace = os.path.join(tool.scratch, "calls")
    ledger = copy_ledger(base, tool.directory("counted"))
    code, errors, answered = scripted(tool, ledger, history, strace(trace, ",".join(CALLS)))
    if code != 0 or answered.count != EVENTS:
        return None, errors.strip()[-200:]
    return counted(trace, CALLS), None


def trial(tool, base, history, call, fault, position):
    """One import with one fault; what it ended with."""
    ledger = copy_ledger(base, tool.directory("injected"))
    what = "signal=KILL" if fault == "kill" else "error=" + fault.rstrip("+")
    when = "%d%s" % (position, "+" if fault.endswith("+") else "")
    code = None
    try:
        code, errors, answered = scripted(tool, ledger, history, strace(
            "/dev/null", call, "-e", "inject=%s:%s:when=%s" % (call, what, when)))
        if fault != "kill":
            if code not in CLEAR_CODES:
                raise Fault("it ended with %d: %s" % (code, errors.strip()[-300:]))
            # Where nothing can be written any more, nor can standard error.
            is_mute = call == "write" and fault == "ENOSPC+"
            if code != 0 and not is_mute and not errors.strip():
                raise Fault("it ended with %d without a word" % code)
        elif code not in (0, -9, 137):
            raise Fault("it ended with %d: %s" % (code, errors.strip()[-300:]))
        count = checked_log(tool, ledger, history, answered.sequences)
        checked_replay(tool, ledger)
        checked_audit(tool, ledger)
        # The next run goes on, from the start: what is known is found.
        tool.ask(ledger, "import", "--format", "events", "-", data=history.lines(range(EVENTS)))
        if checked_log(tool, ledger, history, answered.sequences) != EVENTS:
            raise Fault("the next run does not complete the log")
        checked_replay(tool, ledger)
    except Fault as found:
        shutil.rmtree(ledger)
        return code, "%s at %s %d: %s" % (fault, call, position, found)
    shutil.rmtree(ledger)
    return code, None


def run(tool, report, seed, positions, is_installed):
    source = random.Random("injection/%d" % seed)
    if not is_installed:
        report.figures["injection"] = {"skipped": "strace is not installed"}
        say("injection: skipped, strace is not installed")
        return
    history = History(seed + 1)
    base = tool.make("base")
    counts, reason = count_calls(tool, base, history)
    if counts is None:
        report.figures["injection"] = {"skipped": "processes cannot be traced: %s" % reason}
        say("injection: skipped, processes cannot be traced: %s" % reason)
        return
    trials = [(call, fault, position) for fault in FAULTS
              for call, position in positions_of(counts, positions, source)]
    say("injection: %d trials, calls %s" % (len(trials), counts))
    results = in_parallel(lambda t: trial(tool, base, history, *t), trials)
    codes = {}
    for (call, fault, _), (code, failure) in zip(trials, results):
        key = "%s: %s" % (fault, code)
        codes[key] = codes.get(key, 0) + 1
        if failure:
            report.fail("injection", failure)
    # The control: an import that acknowledges, in a ledger that is put back afterwards.
    ledger = copy_ledger(base, tool.directory("control"))
    _, _, answered = scripted(tool, ledger, history, [])
    try:
        checked_log(tool, base, history, answered.sequences)
        report.fail("injection control", "a ledger that was put back was not found")
    except Fault:
        pass
    hit = sum(count for key, count in codes.items() if key.startswith("kill: ") and
              not key.endswith(" 0"))
    report.figures["injection"] = {
        "calls": counts, "trials": len(trials), "exitCodes": codes}
    if hit == 0:
        report.fail("injection", "no kill reached the command")
