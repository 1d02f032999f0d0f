"""Erasures: killed at each call that writes, then found whole or not begun; every file searched."""

import base64
import json
import os
import random
import shutil
import subprocess

from harness.app_store import AppStore
from harness.feeding import Acknowledgements, finish
from harness.ledgers import checked_audit, checked_replay, copy_ledger
from harness.report import Fault, Missing, in_parallel, say
from harness.tracing import KILLED, injected, positions_of, require_strace, require_traced, strace
from injection import CLEAR_CODES
from people import CODINGS, People, everybody, found, tokens_in

CALLS = ["pwrite64", "fdatasync", "fsync", "write", "rename", "unlink", "ftruncate"]
FAULTS = ["kill", "EIO", "ENOSPC+"]
# Customers who stay, beside those who go.
OTHERS = 12
# Customers of whom the ledger keeps what a store signed.
RECEIPTS = 20
# An import is killed before the vault takes its streams over, which is a moment later: on a machine
# that is busy not at the first attempt.
ATTEMPTS = 20


def erase(tool, ledger, customers, prefix=(), identity="erasure"):
    path = os.path.join(tool.directory("customers"))
    with open(path, "w") as file:
        file.write("".join(customer + "\n" for customer in customers))
    try:
        return tool.run(
            ledger, "erase", "--customers", path, "--confirm", str(len(customers)),
            "--id", identity, "--json", prefix=prefix)
    finally:
        os.remove(path)


def events(tool, ledger):
    return [json.loads(line) for line in tool.ask(ledger, "events", "--json").splitlines()]


def checked_state(tool, ledger, people, gone, must_be=None, but=()):
    """Either all of it is erased, or nothing; whether it is. Faults of an audit in `but` do not
    count."""
    log = events(tool, ledger)
    text = json.dumps(log)
    begun = any(event["type"] == "customer.erased" for event in log)
    if must_be is not None and begun != must_be:
        raise Fault("the erasure is %s" % ("begun" if begun else "not begun"))
    tokens, shown = {people.tokens[number] for number in gone}, tokens_in(text.encode())
    if begun and tokens & shown:
        raise Fault("an erased customer is shown")
    if not begun and not all(i in text for number in gone for i in people.ids(number)):
        raise Fault("what is not erased is not shown")
    stay = [number for number in range(len(people.tokens)) if number not in gone]
    if not all(i in text for number in stay for i in people.ids(number)):
        raise Fault("a customer who stays is not shown")
    for number in (gone[0], stay[0]):
        answer = tool.ask_json(ledger, "show", people.customer(number))
        if bool(answer["purchases"]) != (number in stay or not begun):
            raise Fault("show answers otherwise than the log")
    checked_audit(tool, ledger, but)
    return begun


def checked_end(tool, ledger, people, gone, must_be=None, but=()):
    """What an erasure has left that was stopped: not begun, or begun and finished by the next who
    writes; asked for again it is done, and nothing is left. Whether it was begun."""
    # A reader, before anybody finishes it; then a writer, who does.
    begun = checked_state(tool, ledger, people, gone, must_be, but)
    tool.ask(ledger, "checkpoint")
    checked_state(tool, ledger, people, gone, begun)
    if os.path.exists(os.path.join(ledger, "vault", "erasure")):
        raise Fault("an opening does not finish it")
    # The same request again comes to the same end, begun or not.
    again = erase(tool, ledger, [people.customer(number) for number in gone])
    if again.returncode != 0:
        raise Fault("a second one ended with %d: %s" % (again.returncode, again.stderr[-300:]))
    checked_state(tool, ledger, people, gone, True)
    checked_replay(tool, ledger)
    hits = found(ledger, {people.tokens[number] for number in gone})
    if hits:
        raise Fault("an id stands in %s" % os.path.relpath(hits[0], ledger))
    # Somebody who stays: a line of theirs may stand twice, and is never lost.
    if not kept_lines(tool, ledger):
        raise Fault("the quarantine has lost somebody else's line")
    return begun


def trial(tool, base, people, gone, call, fault, position):
    """One erasure with one fault; its exit code, whether it was begun, what did not hold."""
    ledger = copy_ledger(base, tool.directory("erased"))
    begun, code = None, None
    try:
        done = erase(tool, ledger, [people.customer(number) for number in gone],
                     injected(call, fault, position))
        code = done.returncode
        allowed = (0, *KILLED) if fault == "kill" else CLEAR_CODES
        if code not in allowed:
            raise Fault("it ended with %d: %s" % (code, done.stderr[-300:]))
        begun = checked_end(tool, ledger, people, gone, True if code == 0 else None)
    except Fault as problem:
        return code, begun, "%s at %s %d: %s" % (fault, call, position, problem)
    shutil.rmtree(ledger)
    return code, begun, None


def count_calls(tool, base, people, gone):
    """How often one thread makes each call at most."""
    trace = os.path.join(tool.scratch, "erasure-calls")
    ledger = copy_ledger(base, tool.directory("counted"))
    done = erase(tool, ledger, [people.customer(number) for number in gone],
                 strace(trace, ",".join(CALLS)))
    shutil.rmtree(ledger)
    return require_traced(done, trace, CALLS)


def begun_with(tool, people):
    """A ledger that has the first and the last of them in its quarantine, and nobody in its log."""
    ledger = tool.make("people")
    bad = [{"specversion": "1.0", "type": "no.such", "subject": "customer/" + people.customer(number),
            "data": {"customer": people.customer(number)}} for number in (0, len(people.tokens) - 1)]
    tool.run(ledger, "import", "--format", "events", "--on-error", "quarantine", "-",
             data="".join(json.dumps(line) + "\n" for line in bad).encode())
    return ledger


def filled(tool, people):
    """A ledger with all of them."""
    ledger = begun_with(tool, people)
    tool.ask(ledger, "import", "--format", "events", "-", data=everybody(people))
    return ledger


def waiting(tool, people):
    """A ledger with all of them, whose streams wait in its log: who imported them was killed when
    it had acknowledged the last one, before the vault took them over."""
    empty = begun_with(tool, people)
    lines = everybody(people)
    for _ in range(ATTEMPTS):
        ledger = copy_ledger(empty, tool.directory("waiting"))
        vault = vault_of(ledger)
        process, acknowledged = tool.start_import(ledger), Acknowledgements(0)
        process.stdin.write(lines)
        while acknowledged.count < lines.count(b"\n"):
            data = os.read(process.stdout.fileno(), 1 << 16)
            if not data:
                raise Fault("an import ended before it was killed")
            acknowledged.take(data)
        finish(process, acknowledged, kill=True)
        if vault_of(ledger) == vault:
            return ledger
        shutil.rmtree(ledger)
    raise Fault("control: no import is killed before its streams are taken over")


def vault_of(ledger):
    """What the vault's own files hold of streams."""
    def content(name):
        with open(os.path.join(ledger, "vault", name), "rb") as file:
            return file.read()
    return [content(name) for name in ("data.mdb", "journal")]


def kept_lines(tool, ledger):
    """How many lines the quarantine has, whatever is refused of them again."""
    done = tool.run(ledger, "import", "--format", "events", "--retry-quarantine", "--json")
    return json.loads(done.stdout or "{}").get("refused")


def claimed(tool, ledger, people, numbers):
    """Some claim a purchase by what the App Store signed; the signatures, as text and as bytes."""
    folder = tool.directory("signed")
    os.makedirs(folder)
    store, path = AppStore(tool, folder), os.path.join(folder, "transaction")
    words = []
    for number in numbers:
        token = people.tokens[number]
        signed = store.transaction(
            productId="life", transactionId=token, originalTransactionId=token)
        with open(path, "w", encoding="ascii") as file:
            file.write(signed)
        tool.ask(ledger, "claim", people.customer(number), "--stores", store.configuration,
                 "--signed-transaction", path)
        signature = signed.rsplit(".", 1)[1].encode()
        words += [signature, base64.urlsafe_b64decode(signature + b"=" * (-len(signature) % 4))]
    return words


def searched(tool, seed, count):
    """Many go at once; ledger, archive, backup and an old copy of the vault are searched."""
    people = People(seed + 1, count + OTHERS)
    gone = list(range(count))
    ledger = filled(tool, people)
    words = claimed(tool, ledger, people, gone[:RECEIPTS])
    backup = tool.directory("backup")
    tool.ask(ledger, "backup", backup)
    tool.ask(ledger, "archive")
    old = copy_ledger(os.path.join(ledger, "vault"), tool.directory("vault"))
    tokens = {people.tokens[number] for number in gone}
    for coding, coded in CODINGS.items():
        planted = os.path.join(ledger, "views", "planted")
        with open(planted, "wb") as file:
            file.write(b"...%s..." % coded(people.customer(3)))
        if found(ledger, tokens, words) != [planted]:
            raise Fault("the search does not find what was planted as %s, or more" % coding)
        os.remove(planted)
    if people.customer(0) not in json.dumps(events(tool, ledger)):
        raise Fault("control: nobody is shown before the erasure")
    done = erase(tool, ledger, [people.customer(number) for number in gone])
    if done.returncode != 0:
        raise Fault("it ended with %d: %s" % (done.returncode, done.stderr[-300:]))
    receipt = json.loads(done.stdout)["receipt"]
    if tokens & tokens_in(done.stdout):
        raise Fault("the receipt names somebody")
    checked_state(tool, ledger, people, gone, True)
    checked_replay(tool, ledger)
    hits = [hit for place in (ledger, backup) for hit in found(place, tokens, words)]
    if hits:
        raise Fault("an id stands in %s" % hits[0])
    # What was backed up before knows nobody either.
    restored = tool.directory("restored")
    key = os.path.join(ledger, "key")
    made = tool.run_plain("restore", backup, "--into", restored, "--key-file", key)
    if made.returncode != 0:
        raise Fault("the backup cannot be restored: %s" % made.stderr[-300:])
    shutil.copy(key, os.path.join(restored, "key"))
    if tokens & tokens_in(json.dumps(events(tool, restored)).encode()):
        raise Fault("a restored backup shows somebody")
    # An older copy of the vault beside today's keys opens nothing; with its own it does.
    for keys, opens in (("today", False), ("then", True)):
        copy = copy_ledger(ledger, tool.directory("older"))
        for name in ("data.mdb", "journal", *(["epoch-keys"] if keys == "then" else [])):
            shutil.copy(os.path.join(old, name), os.path.join(copy, "vault", name))
        shown = tool.run(copy, "events", "--json").stdout
        if bool(tokens & tokens_in(shown)) != opens:
            raise Fault("an older vault with the keys of %s %s" % (
                keys, "opens nothing" if opens else "shows somebody"))
        shutil.rmtree(copy)
    return {"customers": count, "streams": len(receipt["streams"]), "events": receipt["events"],
            "receiptsSearched": len(words) // 2, "identitiesFound": 0, "backupsReached": len(receipt["backups"]["reached"])}


def read_beside(tool, seed):
    """A reader that stays open while others are erased: it has their names and keys in memory."""
    people = People(seed + 2, OTHERS)
    ledger = filled(tool, people)
    reader = subprocess.Popen(
        tool.arguments(ledger, "show", "--questions", "-", "--json"), env=tool.environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=tool.scratch)

    def shown():
        found = set()
        for number in range(OTHERS):
            question = {"customer": people.customer(number)}
            reader.stdin.write((json.dumps(question) + "\n").encode())
            line = reader.stdout.readline()
            if not line:
                raise Fault("a reader beside an erasure ended")
            if json.loads(line)["purchases"]:
                found.add(number)
        return found

    try:
        left = set(range(OTHERS))
        if shown() != left:
            raise Fault("control: a reader does not show everybody")
        for number, gone in enumerate(([0, 1], [2], [3, 4])):
            done = erase(tool, ledger, [people.customer(n) for n in gone], identity="e%d" % number)
            if done.returncode != 0:
                raise Fault("beside a reader it ended with %d" % done.returncode)
            left -= set(gone)
            if shown() != left:
                raise Fault("a reader beside an erasure shows somebody else than those who stay")
    finally:
        reader.kill()
        reader.wait()
        reader.stdin.close()
        reader.stdout.close()


def run(tool, report, seed, size):
    """`size`: customers who go together; a twelfth of it, positions of each call that is killed."""
    figures = report.figures["erasures"] = searched(tool, seed, size)
    read_beside(tool, seed)
    try:
        require_strace()
        figures.update(stopped(tool, report, seed, size))
    except Missing as missing:
        figures["killed"] = "skipped: %s" % missing
        say("erasures: none is killed, %s" % missing)


def stopped(tool, report, seed, size):
    """Erasures with a fault at each call that writes; the figures."""
    source = random.Random("erasures/%d" % seed)
    people, gone = People(seed, OTHERS), [0, 1]
    settled = filled(tool, people)
    tool.ask(settled, "show", people.customer(0))
    bases = {"settled": settled, "waiting": waiting(tool, people)}
    counts = {name: count_calls(tool, base, people, gone) for name, base in bases.items()}
    trials = [
        (base, call, fault, position) for base in bases for fault in FAULTS
        for call, position in positions_of(
            counts[base], max(2, size // 12) if fault == "kill" else size // 48, source)]
    say("erasures: %d trials, calls %s" % (len(trials), counts))
    results = in_parallel(lambda t: trial(tool, bases[t[0]], people, gone, *t[1:]), trials)
    codes = {}
    states = {base: {True: 0, False: 0, None: 0} for base in bases}
    for (base, _, fault, _), (code, begun, failure) in zip(trials, results):
        codes["%s: %s" % (fault, code)] = codes.get("%s: %s" % (fault, code), 0) + 1
        if code != 0:
            states[base][begun] += 1
        if failure:
            report.fail("erasures", "%s, %s" % (base, failure))
    for base, stopped in states.items():
        if not stopped[True] or not stopped[False]:
            report.fail("erasures", "%s: no stop before, or none after the log said so: %s" % (
                base, stopped))
    return {"calls": counts, "trials": len(trials), "exitCodes": codes, "stopped": {
        base: {"erased": stopped[True], "notBegun": stopped[False]}
        for base, stopped in states.items()}}
