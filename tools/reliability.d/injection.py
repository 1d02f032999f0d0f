"""Kills and errors at each write and sync call of a short import, injected by strace."""

import os
import random
import shutil

from harness.feeding import Acknowledgements, feed, finish
from harness.history import History
from harness.ledgers import checked_audit, checked_log, checked_replay, copy_ledger
from harness.report import Fault, Missing, in_parallel, say
from harness.tracing import KILLED, counted, injected, positions_of, require_strace, strace

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


def count_calls(tool, base, history):
    """How often one thread makes each call at most."""
    trace = os.path.join(tool.scratch, "calls")
    # Untraced it has to work: what fails then is no matter of tracing.
    for prefix, kind in (([], Fault), (strace(trace, ",".join(CALLS)), Missing)):
        ledger = copy_ledger(base, tool.directory("counted"))
        code, errors, answered = scripted(tool, ledger, history, prefix)
        if code != 0 or answered.count != EVENTS:
            raise kind("an import %sends with %d: %s" % (
                "that is traced " if prefix else "", code, errors.strip()[-200:]))
    return counted(trace, CALLS)


def trial(tool, base, history, call, fault, position):
    """One import with one fault; what it ended with."""
    ledger = copy_ledger(base, tool.directory("injected"))
    code = None
    try:
        code, errors, answered = scripted(tool, ledger, history, injected(call, fault, position))
        if fault != "kill":
            if code not in CLEAR_CODES:
                raise Fault("it ended with %d: %s" % (code, errors.strip()[-300:]))
            # Where nothing can be written any more, nor can standard error.
            is_mute = call == "write" and fault == "ENOSPC+"
            if code != 0 and not is_mute and not errors.strip():
                raise Fault("it ended with %d without a word" % code)
        elif code not in (0, *KILLED):
            raise Fault("it ended with %d: %s" % (code, errors.strip()[-300:]))
        checked_log(tool, ledger, history, answered.sequences)
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


def run(tool, report, seed, positions):
    require_strace()
    source = random.Random("injection/%d" % seed)
    history = History(seed + 1)
    base = tool.make("base")
    counts = count_calls(tool, base, history)
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
    report.figures["injection"] = {
        "calls": counts, "trials": len(trials), "exitCodes": codes}
    for fault in FAULTS:
        if all(code == 0 for (_, each, _), (code, _) in zip(trials, results) if each == fault):
            report.fail("injection", "no %s reached the command" % fault)
