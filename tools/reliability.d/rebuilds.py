"""Rebuilds of the views killed at each call that writes, and locked against other writers."""

import os
import random
import shutil
import subprocess
import time

from harness.command import TIMEOUT
from harness.history import History
from harness.ledgers import answers, checked_audit, checked_replay, copy_ledger
from harness.report import Fault, in_parallel
from harness.tracing import KILLED, injected, positions_of, require_strace, require_traced, strace

EVENTS = 400
CALLS = ["pwrite64", "write", "ftruncate", "rename", "unlink", "unlinkat"]
# How long a rebuild is held before it switches, while others write and read.
HOLD_MICROSECONDS = 4_000_000


def count_calls(tool, base):
    """How often a rebuild makes each call."""
    trace = os.path.join(tool.scratch, "rebuild-calls")
    ledger = copy_ledger(base, tool.directory("counted"))
    done = tool.run(ledger, "rebuild", prefix=strace(trace, ",".join(CALLS)))
    if done.returncode != 0:
        # Untraced it has to work: what fails then is no matter of tracing.
        tool.ask(ledger, "rebuild")
    shutil.rmtree(ledger)
    return require_traced(done, trace, CALLS)


def trial(tool, base, expected, customers, call, position):
    """One rebuild that is killed; whether it was reached, and what did not hold."""
    ledger = copy_ledger(base, tool.directory("rebuilt"))
    try:
        done = tool.run(ledger, "rebuild", prefix=injected(call, "kill", position))
        if done.returncode not in (0, *KILLED):
            raise Fault("it ended with %d" % done.returncode)
        if answers(tool, ledger, customers) != expected:
            raise Fault("a reader answers otherwise after it")
        # The next one ends what this one began.
        tool.ask(ledger, "rebuild")
        if answers(tool, ledger, customers) != expected:
            raise Fault("the next rebuild answers otherwise")
        checked_audit(tool, ledger)
        checked_replay(tool, ledger)
        names = os.listdir(os.path.join(ledger, "views"))
        if sum(name.isdigit() for name in names) != 1:
            raise Fault("generations are left behind: %s" % sorted(names))
        return done.returncode != 0, None
    except Fault as fault:
        return True, "killed at %s %d: %s" % (call, position, fault)
    finally:
        shutil.rmtree(ledger)


def locked_out(tool, base, expected, customers, last_rename):
    """While a rebuild runs: readers read, writers are told why they cannot write (row 8.4)."""
    ledger = copy_ledger(base, tool.directory("held"))
    held = subprocess.Popen(
        [*strace("/dev/null", "rename", "-e", "inject=rename:delay_enter=%d:when=%d" % (
            HOLD_MICROSECONDS, last_rename)), *tool.arguments(ledger, "rebuild")],
        env=tool.environment, cwd=tool.scratch, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    codes = set()
    grant = ("grant", customers[0], "--tier", "pro", "--grant-id", "held", "--json")
    try:
        lock = os.path.join(ledger, "writer.lock")
        while held.poll() is None and open(lock).read() != "rebuild":
            time.sleep(0.01)
        while held.poll() is None:
            done = tool.run(ledger, *grant)
            codes.add((done.returncode, b'"code":"recovering"' in done.stderr))
            if done.returncode == 0 or (75, True) in codes:
                break
            time.sleep(0.05)
        if answers(tool, ledger, customers) != expected:
            raise Fault("a reader answers otherwise beside it")
        if (75, True) not in codes:
            raise Fault("no writer was told of the rebuild: %s" % sorted(codes))
    finally:
        held.communicate(timeout=TIMEOUT)
    if held.returncode != 0:
        raise Fault("the rebuild ended with %d" % held.returncode)
    # The control: the same writer, now that nothing is being recovered.
    tool.ask(ledger, *grant)
    if answers(tool, ledger, customers[:1]) == expected[:1]:
        raise Fault("the control's grant changed nothing")
    shutil.rmtree(ledger)


def damaged_control(tool, base):
    """A finished rebuild of which a part is overwritten: the audit must say so."""
    ledger = copy_ledger(base, tool.directory("damaged"))
    tool.ask(ledger, "rebuild")
    views = os.path.join(ledger, "views")
    generation = os.path.join(views, open(os.path.join(views, "current")).read().strip())
    name = next(name for name in sorted(os.listdir(generation)) if name.startswith("streams-"))
    with open(os.path.join(generation, name), "r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 64)
    try:
        checked_audit(tool, ledger)
    except Fault:
        return
    finally:
        shutil.rmtree(ledger)
    raise Fault("views that were overwritten were not found")


def run(tool, report, seed, positions):
    require_strace()
    source = random.Random("rebuild/%d" % seed)
    history = History(seed + 7)
    base = tool.make("base")
    tool.ask(base, "import", "--format", "events", "-", data=history.lines(range(EVENTS)))
    customers = [history.customer(number) for number in range(history.customers)]
    expected = answers(tool, base, customers)
    counts = count_calls(tool, base)
    trials = positions_of(counts, positions, source)
    results = in_parallel(
        lambda each: trial(tool, base, expected, customers, *each), trials)
    killed = sum(was_killed for was_killed, _ in results)
    for _, failure in results:
        if failure:
            report.fail("rebuild", failure)
    if not killed:
        report.fail("rebuild", "no kill reached a rebuild")
    for part, check in (
            ("rebuild lock", lambda: locked_out(
                tool, base, expected, customers, counts["rename"])),
            ("rebuild control", lambda: damaged_control(tool, base))):
        report.guard(part, check)
    report.figures["rebuild"] = {"calls": counts, "trials": len(trials), "killed": killed}
