"""What all fault tests share: a history of events, the command, and the checks of a ledger."""

import concurrent.futures
import fcntl
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMMAND_TIMEOUT = 120

CATALOG = {
    "tiers": ["free", "plus", "pro"],
    "features": [
        {"id": "open", "level": "free"}, {"id": "sync", "level": "plus"},
        {"id": "export", "level": "pro"}, {"id": "archive"}],
    "products": [
        {"id": "month", "kind": "auto_renewable", "unlocks": {"tier": "plus"}},
        {"id": "year", "kind": "auto_renewable", "unlocks": {"all": True}},
        {"id": "life", "kind": "non_consumable", "unlocks": {"features": ["archive"]}}],
    "trials": [{"id": "week", "days": 7, "tier": "pro"}],
}
QUESTION_TIME = "2025-06-15T00:00:00.000Z"


class History:
    """An endless history: event n is a function of the seed and n alone."""

    KINDS = [
        ("customer.claimed", 3), ("purchase.completed", 5), ("purchase.renewed", 5),
        ("verification.passed", 5), ("verification.failed", 1), ("purchase.expired", 2),
        ("revocation.refunded", 1), ("grant.given", 2), ("grant.withdrawn", 1),
        ("trial.started", 1), ("customer.linked", 1), ("usage.recorded", 2),
        ("signal.noted", 1),
    ]

    def __init__(self, seed, customers=40):
        self.seed = seed
        self.customers = customers

    def customer(self, number):
        return "customer-%d-%d" % (self.seed, number)

    def event(self, index):
        r = random.Random("%d/%d" % (self.seed, index))
        kinds, weights = zip(*self.KINDS)
        kind = r.choices(kinds, weights)[0]
        # New names keep coming, so that the vault is written throughout.
        number = r.randrange(self.customers + index // 4)
        product = r.choice(["month", "month", "year", "life"])
        purchase = "app_store/%d-%d" % (self.seed, number)
        transaction = "t%d-%d" % (number, r.randrange(4))
        month = r.randrange(1, 12)
        event = {
            "specversion": "1.0", "id": "event-%d-%d" % (self.seed, index), "source": "faults",
            "type": kind,
            "time": "2025-%02d-%02dT%02d:00:00.000Z" % (
                month, r.randrange(1, 29), r.randrange(24)),
        }
        later = "2025-%02d-28T23:00:00.000Z" % (month + 1)
        if kind.split(".")[0] in ("purchase", "verification", "revocation", "signal"):
            event["subject"] = "purchase/" + purchase
        else:
            event["subject"] = "customer/" + self.customer(number)
        if kind == "customer.claimed":
            data = {"purchase": purchase}
        elif kind in ("purchase.completed", "purchase.renewed"):
            data = {"transactionId": transaction, "productId": product, "productKind":
                    "non_consumable" if product == "life" else "auto_renewable"}
            if product != "life":
                data["expiresAt"] = later
            data.update(priceMicros=4_990_000, currencyCode="EUR")
        elif kind.startswith("verification"):
            data = {"method": "store_api"}
        elif kind == "grant.given":
            data = {"grantId": "g%d" % r.randrange(3), "tier": "pro", "expiresAt": later}
        elif kind == "grant.withdrawn":
            data = {"grantId": "g%d" % r.randrange(3)}
        elif kind == "trial.started":
            data = {"trialId": "week"}
        elif kind == "customer.linked":
            data = {"alias": "anonymous-%d" % index}
        elif kind == "usage.recorded":
            data = {"useId": "u%d" % index, "featureId": "export", "amount": r.randrange(1, 9)}
        elif kind == "signal.noted":
            data = {"name": "test", "detail": "x" * r.randrange(400)}
        else:
            data = {}
        event["data"] = data
        return event

    def line(self, index):
        return (json.dumps(self.event(index), separators=(",", ":")) + "\n").encode()

    def lines(self, indexes):
        return b"".join(self.line(index) for index in indexes)


class Fault(Exception):
    """A check that did not hold."""


def binary(root, configuration="debug"):
    """The command: $ENTITLE_BIN, else the build's, which is made if it is missing."""
    given = os.environ.get("ENTITLE_BIN")
    if given:
        return os.path.abspath(given)
    path = os.path.join(root, ".build", configuration, "entitle")
    if not os.path.exists(path):
        subprocess.run(
            ["swift", "build", "-c", configuration, "--product", "entitle"], cwd=root,
            stdout=sys.stderr, check=True)
    return path


def install(command, *packages):
    """Installs what is missing where apt is there and may be used; whether it is there then."""
    if shutil.which(command):
        return True
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return False
    say("installing %s" % " ".join(packages))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Checks run beside one another; apt takes one at a time.
    with open(os.path.join(tempfile.gettempdir(), "entitle-apt.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for words in (
                ["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", *words], env=environment, stdout=sys.stderr, check=False)
    return shutil.which(command) is not None


class Tool:
    """Runs the command."""

    def __init__(self, binary, scratch):
        self.binary = binary
        self.scratch = scratch
        self.count = 0
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("ENTITLE_")}
        self.environment["SWIFT_BACKTRACE"] = "enable=no"

    def directory(self, name):
        self.count += 1
        path = os.path.join(self.scratch, "%s-%d" % (name, self.count))
        shutil.rmtree(path, ignore_errors=True)
        return path

    def arguments(self, ledger, *words):
        return [self.binary, *words, "--ledger", ledger]

    def run(self, ledger, *words, data=None, timeout=COMMAND_TIMEOUT):
        try:
            return subprocess.run(
                self.arguments(ledger, *words), input=data, capture_output=True,
                env=self.environment, timeout=timeout, cwd=self.scratch,
                stdin=subprocess.DEVNULL if data is None else None)
        except subprocess.TimeoutExpired as error:
            raise Fault("%s does not end" % words[0]) from error

    def run_plain(self, *words):
        """Runs a subcommand that has no ledger."""
        return subprocess.run(
            [self.binary, *words], capture_output=True, env=self.environment,
            timeout=COMMAND_TIMEOUT, cwd=self.scratch, stdin=subprocess.DEVNULL)

    def ask(self, ledger, *words, data=None):
        """The standard output of a command that has to succeed."""
        done = self.run(ledger, *words, data=data)
        if done.returncode != 0:
            raise Fault("%s ended with %d: %s" % (
                words[0], done.returncode, (done.stderr or done.stdout)[-300:].decode(
                    errors="replace").strip()))
        return done.stdout

    def ask_plain(self, *words):
        """The standard output of a subcommand without a ledger that has to succeed."""
        done = self.run_plain(*words)
        if done.returncode != 0:
            raise Fault("%s ended with %d: %s" % (
                words[0], done.returncode, done.stderr[-300:].decode(errors="replace").strip()))
        return done.stdout

    def ask_json(self, ledger, *words):
        return json.loads(self.ask(ledger, *words, "--json"))

    def make(self, name="ledger"):
        ledger = self.directory(name)
        catalog = os.path.join(self.scratch, "catalog.json")
        if not os.path.exists(catalog):
            with open(catalog, "w") as file:
                json.dump(CATALOG, file)
        self.ask(ledger, "init", "--catalog", catalog)
        return ledger

    def start_import(self, ledger, prefix=(), extra_environment=None):
        """An import that acknowledges; unbuffered pipes."""
        return subprocess.Popen(
            [*prefix, *self.arguments(
                ledger, "import", "--format", "events", "--acknowledge", "-")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            env={**self.environment, **(extra_environment or {})}, cwd=self.scratch)


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
        wait = 5.0 if end is None else max(0.0, end - time.monotonic())
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
    code = process.wait(timeout=COMMAND_TIMEOUT)
    acknowledged.take(rest or b"")
    return code, errors.decode(errors="replace")


def checked_log(tool, ledger, history, acknowledged, start=0):
    """Reads the events from one on (catalog first, then the history) and checks that they are a
    gapless piece of the history with everything acknowledged; the number of history events."""
    text = tool.ask(ledger, "events", "--json", "--from", str(start))
    sequence = start
    for line in text.splitlines():
        event = json.loads(line)
        if int(event["sequence"]) != sequence:
            raise Fault("event %d stands where %d is expected" % (int(event["sequence"]), sequence))
        if sequence > 0:
            expected = history.event(sequence - 1)
            for name in ("id", "type", "subject", "time", "source"):
                if event[name] != expected[name]:
                    raise Fault("event %d has another %s" % (sequence, name))
            for name, value in expected["data"].items():
                if event["data"].get(name) != value:
                    raise Fault("event %d has another data.%s" % (sequence, name))
        elif event["type"] != "catalog.published":
            raise Fault("the first event is not the catalog")
        sequence += 1
    lost = [index for index, at in acknowledged.items() if at >= sequence]
    if lost:
        raise Fault("%d acknowledged events are lost, from event %d on" % (
            len(lost), min(acknowledged[index] for index in lost)))
    for index, at in acknowledged.items():
        if at != index + 1:
            raise Fault("event %d was acknowledged as %d" % (index + 1, at))
    return sequence - 1


def checked_audit(tool, ledger, but=()):
    """Audits; kinds of faults in `but` do not count."""
    done = tool.run(ledger, "audit", "--json")
    if done.returncode not in (0, 3):
        raise Fault("audit ended with %d: %s" % (
            done.returncode, done.stderr[-200:].decode(errors="replace").strip()))
    try:
        report = json.loads(done.stdout)
    except ValueError:
        raise Fault("audit: %s" % done.stderr[-200:].decode(errors="replace").strip()) from None
    faults = [fault for fault in report["faults"] if fault["kind"] not in but]
    if faults:
        raise Fault("audit: %s" % faults[0])
    return report


def checked_replay(tool, ledger):
    report = json.loads(tool.ask(ledger, "replay", "--at", QUESTION_TIME, "--json"))
    if not report["ok"]:
        raise Fault("replay: %s" % report["differences"][:1])
    return report


def answers(tool, ledger, customers, size=None):
    """The states of customers, one question each; the catalog is event 0."""
    questions = "".join(
        json.dumps({"customer": customer, "at": QUESTION_TIME, **(
            {"knownSequence": size} if size is not None else {})}) + "\n"
        for customer in customers)
    text = tool.ask(ledger, "show", "--questions", "-", "--json", data=questions.encode())
    return [json.loads(line) for line in text.splitlines()]


def compare_with_rebuilt(tool, ledger, history, count, random_source, sample=40):
    """Compares answers with those of a ledger made anew from the same events."""
    other = tool.make("anew")
    tool.ask(other, "import", "--format", "events", "-", data=history.lines(range(count)))
    numbers = random_source.sample(
        range(history.customers + count // 4), min(sample, history.customers + count // 4))
    customers = [history.customer(number) for number in numbers]
    ours, theirs = answers(tool, ledger, customers), answers(tool, other, customers)
    shutil.rmtree(other)
    for mine, expected in zip(ours, theirs, strict=True):
        if mine != expected:
            raise Fault("a customer's answer differs from a ledger made anew")
    return len(customers)


def copy_ledger(source, target):
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-r", "--sparse=always", source, target], check=True)
    return target


class Report:
    """Figures, and what did not hold."""

    def __init__(self):
        self.figures = {}
        self.failures = []

    def fail(self, part, text):
        self.failures.append("%s: %s" % (part, text))
        print("FAILED %s: %s" % (part, text), file=sys.stderr, flush=True)


def in_parallel(work, items, workers=2):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


def say(text):
    print(text, file=sys.stderr, flush=True)


def compiler_of(tool):
    """A function that compiles a C file of this directory: its path, or None where that fails."""
    here = os.path.dirname(os.path.abspath(__file__))
    found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if not found and install("gcc", "gcc", "libc6-dev"):
        found = "gcc"

    def compile_c(name, words):
        if not found:
            return None
        target = os.path.join(tool.scratch, name + ".out")
        done = subprocess.run(
            [found, "-O2", os.path.join(here, name), "-o", target, *words], capture_output=True)
        return target if done.returncode == 0 else None

    return compile_c
