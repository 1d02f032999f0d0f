"""Archives, backups and restores killed at each call that writes; each can be made whole again."""

import filecmp
import os
import random
import shutil

from harness.history import History
from harness.ledgers import answers, checked_audit
from harness.records import flip_bit
from harness.report import Fault, in_parallel, say
from harness.tracing import KILLED, injected, positions_of, require_strace, require_traced, strace

EVENTS = 300
CALLS = ["pwrite64", "fdatasync", "fsync", "write", "rename", "unlink", "mkdir"]


class Copies:
    """A ledger, and what each command makes of it where nothing stops it."""

    def __init__(self, tool, history):
        self.tool = tool
        self.base = tool.make("base")
        tool.ask(self.base, "import", "--format", "events", "-", data=history.lines(range(EVENTS)))
        self.key = os.path.join(self.base, "key")
        # Whoever copies first signs; all copies are then of the same checkpoint.
        tool.ask(self.base, "checkpoint")
        self.customers = [history.customer(number) for number in range(10)]
        self.expected = answers(tool, self.base, self.customers)
        self.archive = tool.directory("archive")
        self.backup = tool.directory("backup")
        tool.ask(self.base, "archive", "--to", self.archive)
        tool.ask(self.base, "backup", self.backup)

    def words(self, command, target):
        """A command of a ledger that writes a target."""
        if command == "archive":
            return ["archive", "--to", target, "--ledger", self.base]
        if command == "backup":
            return ["backup", target, "--ledger", self.base]
        return ["restore", self.backup, "--into", target, "--key-file", self.key]

    def run(self, command, target, prefix=()):
        return self.tool.run_plain(*self.words(command, target), prefix=prefix)

    def done(self, command, target):
        self.tool.ask_plain(*self.words(command, target))

    def check(self, command, target):
        """Holds what a command made against the ledger that it was made of."""
        if command == "archive":
            self.tool.ask(self.base, "archive", "--check", "--to", target)
            if different(self.archive, target):
                raise Fault("the archive is not the one that nobody stopped")
            return
        if command == "backup":
            restored = self.tool.directory("restored")
            self.tool.ask_plain("restore", target, "--into", restored, "--key-file", self.key)
            target = restored
        shutil.copy(self.key, target)
        if answers(self.tool, target, self.customers) != self.expected:
            raise Fault("it answers otherwise")
        checked_audit(self.tool, target)
        shutil.rmtree(target)


def different(left, right):
    """Whether two folders hold other files; a lock's file does not count."""
    found = filecmp.dircmp(left, right, ignore=[".lock"])
    if found.left_only or found.right_only or found.funny_files:
        return True
    _, unequal, errors = filecmp.cmpfiles(left, right, found.common_files, shallow=False)
    return bool(unequal or errors) or any(
        different(os.path.join(left, name), os.path.join(right, name))
        for name in found.common_dirs)


def trial(copies, command, call, position):
    """One command that is killed; whether it was, and what did not hold."""
    target = copies.tool.directory(command)
    try:
        done = copies.run(command, target, injected(call, "kill", position))
        if done.returncode not in (0, *KILLED):
            raise Fault("it ended with %d" % done.returncode)
        killed = done.returncode != 0
        if command == "restore" and killed:
            # What is half-made is no ledger, unless only its audit was cut short.
            if os.path.exists(os.path.join(target, "ledger.json")):
                copies.check(command, target)
            target = copies.tool.directory(command)
        if killed:
            copies.done(command, target)
        copies.check(command, target)
        return killed, None
    except Fault as fault:
        return True, "%s killed at %s %d: %s" % (command, call, position, fault)


def controls(copies):
    """A byte of an archive or a backup is changed: the check and the restore must refuse."""
    archive, backup = copies.tool.directory("archive"), copies.tool.directory("backup")
    copies.done("archive", archive)
    copies.done("backup", backup)
    for folder in (archive, os.path.join(backup, "log")):
        bundles = os.path.join(folder, "tile", "entries")
        name = next(os.path.join(at, names[0]) for at, _, names in os.walk(bundles) if names)
        flip_bit(name, 200)
    checked = copies.tool.run(copies.base, "archive", "--check", "--to", archive)
    if checked.returncode != 3:
        raise Fault("a changed archive is found sound: %d" % checked.returncode)
    restored = copies.tool.run_plain(
        "restore", backup, "--into", copies.tool.directory("refused"), "--key-file", copies.key)
    if restored.returncode == 0:
        raise Fault("a changed backup is restored")
    taken = copies.tool.run_plain(
        "restore", copies.backup, "--into", copies.base, "--key-file", copies.key)
    if taken.returncode == 0:
        raise Fault("a restore overwrites a ledger")


def run(tool, report, seed, positions):
    require_strace()
    source = random.Random("copies/%d" % seed)
    copies = Copies(tool, History(seed + 11))
    trials, calls = [], {}
    for command in ("archive", "backup", "restore"):
        trace = os.path.join(tool.scratch, command + "-calls")
        done = copies.run(command, tool.directory("counted"), strace(trace, ",".join(CALLS)))
        if done.returncode != 0:
            # Untraced it has to work: what fails then is no matter of tracing.
            copies.done(command, tool.directory("untraced"))
        calls[command] = require_traced(done, trace, CALLS)
        trials += [(command, *each) for each in positions_of(calls[command], positions, source)]
    say("copies: %d trials, calls %s" % (len(trials), calls))
    results = in_parallel(lambda each: trial(copies, *each), trials)
    killed = sum(was_killed for was_killed, _ in results)
    for _, failure in results:
        if failure:
            report.fail("copies", failure)
    if not killed:
        report.fail("copies", "no kill reached a command")
    report.guard("copies control", lambda: controls(copies))
    report.figures["copies"] = {"calls": calls, "trials": len(trials), "killed": killed}
