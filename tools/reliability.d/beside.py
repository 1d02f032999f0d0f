"""Two writers, readers beside a writer, and ^C."""

import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time

from harness.feeding import Acknowledgements, feed, finish
from harness.history import History
from harness.ledgers import answers, checked_audit, checked_log, checked_replay
from harness.report import Fault, in_parallel

# Readers that ask at once beside the writer.
READERS = 4
# Imports interrupted while their input is silent.
IDLE_INTERRUPTS = 5


class Feeding(threading.Thread):
    """Feeds an import from a thread of its own."""

    def __init__(self, *arguments):
        super().__init__()
        self.arguments = arguments
        self.fault = None
        self.start()

    def run(self):
        try:
            feed(*self.arguments)
        except Fault as fault:
            self.fault = fault

    @property
    def is_done(self):
        return not self.is_alive()

    def until(self, condition):
        while not condition() and not self.is_done:
            time.sleep(0.001)

    def end(self):
        self.join()
        if self.fault:
            raise self.fault


def two_writers(tool, history):
    ledger = tool.make("two")
    first = tool.start_import(ledger)
    answered = Acknowledgements(0)
    refused = 0
    feed(first, history, 0, 20, answered, random.Random(1))
    for words in (["import", "--format", "events", "-"], ["rebuild"], ["checkpoint"]):
        done = tool.run(ledger, *words, data=history.line(0))
        if done.returncode != 75 or b"hint" not in done.stderr:
            raise Fault("a second writer (%s) ended with %d: %s" % (
                words[0], done.returncode, done.stderr[-200:]))
        refused += 1
    code, errors = finish(first, answered)
    if code != 0 or checked_log(tool, ledger, history, answered.sequences) != 20:
        raise Fault("the first writer was disturbed: %d %s" % (code, errors[-200:]))
    # The lock goes with its holder, however that ends.
    held = tool.start_import(ledger)
    feed(held, history, 20, 24, Acknowledgements(20), random.Random(1))
    finish(held, Acknowledgements(20), kill=True)
    tool.ask(ledger, "rebuild")
    return refused


def without_lock_file(tool, history):
    """Who takes the lock's file away lets nobody in; who replaces the log's stops its writer."""
    ledger = tool.make("unlocked")
    first = tool.start_import(ledger)
    answered = Acknowledgements(0)
    feed(first, history, 0, 20, answered, random.Random(1))
    os.remove(os.path.join(ledger, "writer.lock"))
    for words in (["import", "--format", "events", "-"], ["rebuild"]):
        done = tool.run(ledger, *words, data=history.line(0))
        if done.returncode != 75:
            raise Fault("without its file the lock let %s in: %d" % (words[0], done.returncode))
    more = Acknowledgements(0)
    feed(first, history, 20, 24, more, random.Random(1))
    # The control: another file has no lock, so a second writer gets in; the first one writes no more.
    log = os.path.join(ledger, "log", "data.mdb")
    shutil.copyfile(log, log + ".copy")
    os.rename(log + ".copy", log)
    tool.ask(ledger, "rebuild")
    os.write(first.stdin.fileno(), history.line(24))
    code, errors = finish(first, more)
    if code != 74 or "replaced" not in errors:
        raise Fault("a writer whose log was replaced ended with %d: %s" % (code, errors[-200:]))
    if checked_log(tool, ledger, history, {**answered.sequences, **more.sequences}) != 24:
        raise Fault("what was acknowledged before the log was replaced is not there")
    checked_audit(tool, ledger)
    return 2


def foreign_log(tool, history):
    """Another ledger's log, in the place of a ledger's own, is refused by whoever opens it."""
    ledger, other = tool.make("bound"), tool.make("foreign")
    for each, start in ((ledger, 0), (other, 50)):
        tool.ask(each, "import", "--format", "events", "-",
                 data=history.lines(range(start, start + 50)))
    log, own = os.path.join(ledger, "log"), os.path.join(tool.scratch, "own-log")
    os.rename(log, own)
    shutil.copytree(os.path.join(other, "log"), log)
    commands = (["show", history.customer(1)], ["audit"], ["import", "--format", "events", "-"])
    for words in commands:
        done = tool.run(ledger, *words, "--json", data=history.line(0))
        if done.returncode != 3 or b"foreign_log" not in done.stderr + done.stdout:
            raise Fault("another ledger's log: %s ended with %d: %s" % (
                words[0], done.returncode, done.stderr[-200:].decode(errors="replace")))
    # The control: its own log is taken, and as it was.
    shutil.rmtree(log)
    os.rename(own, log)
    if checked_log(tool, ledger, history, {}) != 50:
        raise Fault("a ledger whose log was put back has lost events")
    checked_audit(tool, ledger)
    return len(commands)


def reader_beside(tool, history, events, source):
    """What a reader was answered at a size is what the finished ledger says of that size."""
    ledger = tool.make("beside")
    process = tool.start_import(ledger)
    answered = Acknowledgements(0)
    shown = []
    customers = [history.customer(n) for n in range(30)]
    asking = random.Random(source.random())
    feeding = Feeding(process, history, 0, events, answered, source)
    while not feeding.is_done:
        known = answered.count
        asked = [asking.sample(customers, 6) for _ in range(READERS)]
        seen = [answer for group in in_parallel(
            lambda group: answers(tool, ledger, group), asked, READERS) for answer in group]
        if any(answer["sequence"] < known + 1 for answer in seen):
            raise Fault("a reader does not see what was acknowledged before it began")
        shown += seen
    feeding.end()
    code, errors = finish(process, answered)
    if code != 0 or answered.count != events:
        raise Fault("the import beside readers ended with %d after %d events: %s" % (
            code, answered.count, errors[-200:]))
    if not shown:
        raise Fault("nobody read beside the import")
    sizes = {}
    for answer in shown:
        sizes.setdefault(answer["sequence"], []).append(answer)
    for size, group in sizes.items():
        later = answers(tool, ledger, [answer["customer"] for answer in group], size)
        for before, after in zip(group, later, strict=True):
            for answer in (before, after):
                answer.pop("known", None)
                answer.pop("token", None)
            if before != after:
                raise Fault("beside the import size %d was answered %s, later %s" % (
                    size, json.dumps(before), json.dumps(after)))
    return len(shown), len(sizes)


def interrupted(tool, history, source):
    """^C and SIGTERM amid an import whose input goes on."""
    signals = [signal.SIGINT, signal.SIGINT, signal.SIGTERM]
    for number in signals:
        ledger = tool.make("interrupted")
        process = tool.start_import(ledger)
        answered = Acknowledgements(0)
        feeding = Feeding(process, history, 0, 40_000, answered, source)
        feeding.until(lambda: answered.count > 20)
        time.sleep(source.uniform(0, 0.3))
        process.send_signal(number)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Fault("an import does not end at a signal") from None
        finally:
            feeding.end()
        code, errors = finish(process, answered)
        if code != 130:
            raise Fault("an interrupted import ended with %d: %s" % (code, errors[-200:]))
        count = checked_log(tool, ledger, history, answered.sequences)
        if count != len(answered.sequences):
            raise Fault("an interrupted import did not say all that it recorded")
        checked_audit(tool, ledger)
        checked_replay(tool, ledger)
    return len(signals)


def interrupted_while_idle(tool, history, source):
    """^C while the input is silent, amid a line: the piece of the line is not taken.

    Where the signal finds the import is chance, so that there are several.
    """
    for _ in range(IDLE_INTERRUPTS):
        interrupt_idle(tool, history, source)
    return IDLE_INTERRUPTS


def interrupt_idle(tool, history, source):
    """One import of twelve events and a piece of a line, and one signal."""
    ledger = tool.make("idle")
    process = tool.start_import(ledger)
    answered = Acknowledgements(0)
    feed(process, history, 0, 12, answered, source)
    os.write(process.stdin.fileno(), history.line(12)[:40])
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Fault("an import whose input is silent does not end at a signal") from None
    code, errors = finish(process, answered)
    if code != 130:
        raise Fault("an idle interrupted import ended with %d: %s" % (code, errors[-200:]))
    if checked_log(tool, ledger, history, answered.sequences) != 12:
        raise Fault("an idle interrupted import did not record what it said")
    checked_audit(tool, ledger)


def run(tool, report, seed, events):
    source = random.Random("beside/%d" % seed)
    history = History(seed + 3)
    refused = two_writers(tool, history) + without_lock_file(tool, history)
    count, sizes = reader_beside(tool, history, events, source)
    report.figures["beside"] = {
        "secondWritersRefused": refused, "foreignLogsRefused": foreign_log(tool, history),
        "answersBesideAnImport": count, "atSizes": sizes,
        "interrupts": interrupted(tool, history, source)
        + interrupted_while_idle(tool, history, source)}
