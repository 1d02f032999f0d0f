"""Webhooks (row Z19): signatures by the reference library of Standard Webhooks, chains of changes, the command
beside a server, and speed; addresses and what is not taken have modules of their own."""

import base64
import contextlib
import json
import os
import random
import subprocess
import tempfile
import time

from standardwebhooks import Webhook, WebhookVerificationError

import addresses
import undelivered
from changes import (
    Customer, Writer, check_control, check_events_control, complete, latencies, logged, milliseconds,
    require_events, seconds_of)
from harness.command import Tool
from harness.report import Fault, in_parallel
from harness.server import Server, expect
from receiver import LATE_SECONDS, PRIVATE, Receiver, answering, read, settled, take, until

# Within which a running server takes over what the command changes.
TAKEN_OVER_SECONDS = 2
NOT_FOUND = 4
# Changes a second, for how long, and what all but one of a hundred may take; then receivers, and changes for each.
PACE, PACED_SECONDS, P99_SECONDS = 50, 5, 2
RECEIVERS, CHANGES = 20, 60


def customers(seed, count, name="c", short=0.0):
    source = random.Random("webhooks/%s/%d" % (name, seed))
    return [Customer("%s%d" % (name, number), source, short) for number in range(count)]


def check_begin(tool, *_):
    """Somebody is told of what happens from the answer on that added them."""
    with Server(tool, tool.make(), environment=PRIVATE) as server, Receiver() as receiver:
        time.sleep(1)
        receiver.add_to(server)
        server.grant("at-once", 0)
        until(receiver.taken, LATE_SECONDS, "a change right after the first webhook was added")
        receiver.require_good()
    return {"messages": 1}


def check_content(tool, _, seed):
    """Signatures, what is told, everything by `*`, grants that end, a new secret, and what is resent."""
    ledger = tool.make()
    with Server(tool, ledger, words=["--log-level", "trace"], environment=PRIVATE) as server, \
            Receiver() as receiver, Receiver() as everything:
        settled(server, receiver)
        everything.add_to(server, types=["*"])
        begin = int(server.ask("GET", "/v1/events?limit=1")[1]["Ledger-Sequence"])
        writer = Writer(server, customers(seed, 12, short=0.3))
        time.sleep(3)
        writer.end()
        # So that every grant has ended that does.
        time.sleep(2)
        expected, now = complete(tool, ledger, server, receiver, LATE_SECONDS)
        secrets = [receiver.secrets[0], everything.secrets[0]]
        figures = {
            "messages": len(receiver.taken()), **check_ends(receiver),
            "events": require_events(everything.taken(changes=False), logged(tool, ledger, begin)),
            "changedMessages": check_signatures(receiver.taken()[0], secrets[0])}
        everything.require_good()
        planted = check_control(receiver.taken(), expected, now) + check_events_control(
            everything.taken(changes=False), logged(tool, ledger, begin))
        secrets.append(check_rotation(server, receiver))
        figures["resent"] = check_resent(server, receiver)
        check_erased(server, receiver)
        figures["filesWithoutSecrets"] = require_secrets_kept(ledger, server, secrets)
        figures["plantedAndFound"] = planted + check_secrets_control(ledger, server, secrets)
    return figures


def check_ends(receiver):
    """How many grants ended by themselves, and how late that was told."""
    late = [message.at - seconds_of(message.data["at"])
            for message in receiver.taken() if message.data["cause"] == "time"]
    if not late or min(late) < 0 or max(late) > LATE_SECONDS:
        raise Fault("of grants that end it is told after %s s" % late)
    return {"ends": len(late), "endsToldMilliseconds": milliseconds(late, 1)}


def check_signatures(message, secret):
    """Whatever is changed in a message, it does not verify, nor by another secret; how many were tried."""
    known, headers = Webhook(secret), message.headers
    bad = [(Webhook(os.urandom(32)), headers, message.body)]
    for place in range(0, len(message.body), 7):
        body = bytearray(message.body)
        body[place] ^= 1
        bad.append((known, headers, bytes(body)))
    for name, value in (("webhook-id", message.id + "0"), ("webhook-signature", "v1," + 43 * "A" + "="),
                        ("webhook-timestamp", str(int(headers["webhook-timestamp"]) - 1))):
        bad.append((known, {**headers, name: value}, message.body))
    for by, above, body in bad:
        try:
            by.verify(body, above)
        except WebhookVerificationError:
            continue
        raise Fault("control: a message that was changed verifies: %s %s" % (above, body))
    return len(bad)


def check_rotation(server, receiver):
    """After a change of secrets the new one signs, and the former one too; the new one."""
    former = receiver.secrets[0]
    secret = receiver.ask(server, "POST", "/secrets")["secret"]
    if secret == former or "secret" in receiver.ask(server):
        raise Fault("a new secret is the former one, or is shown twice")
    receiver.secrets, count = [secret, former], len(receiver.messages)
    server.grant("rotated", 0)
    until(lambda: len(receiver.messages) > count or receiver.problems, LATE_SECONDS, "after a rotation")
    receiver.require_good()
    message = receiver.messages[-1]
    for secrets in ([secret], [former], [former, secret]):
        try:
            read(secrets, message.headers, message.body)
        except Fault:
            continue
        raise Fault("control: a signature too many, or another order, was not found")
    return secret


def check_resent(server, receiver):
    """What was taken comes once more, marked, with its id and its body; how many messages."""
    every = [message.id for message in receiver.taken()]
    if any(message.is_resent for message in receiver.messages):
        raise Fault("what is sent the first time is marked as resent")
    for wish, ids in (({"ids": every[2:5]}, every[2:5]), ({"from": 0, "to": 1 << 40}, every)):
        count = len(receiver.messages)
        answer = receiver.ask(server, "POST", "/deliveries/resend", wish)
        if answer != {"resent": len(ids), "next": None}:
            raise Fault("%s are resent, of %d" % (answer, len(ids)))
        until(lambda: len(receiver.messages) >= count + len(ids), 5 * LATE_SECONDS, lambda: "%d of %d once more" % (
            len(receiver.messages) - count, len(ids)))
        time.sleep(0.5)
        receiver.require_good()
        again = receiver.messages[count:]
        if sorted(message.id for message in again) != sorted(ids) or not all(m.is_resent for m in again):
            raise Fault("%d messages come again, of %d, or are not marked" % (len(again), len(ids)))
    return len(every) + 3


def check_erased(server, receiver):
    """Of whom is erased nothing is told any more, not even once more."""
    customer = receiver.taken()[0].customer
    expect(server.ask("DELETE", "/v1/customers/" + customer), 200, "erased")
    count = len(receiver.messages)
    others = {message.id for message in receiver.taken() if message.customer != customer}
    receiver.ask(server, "POST", "/deliveries/resend", {"from": 0, "to": 1 << 40})
    until(lambda: len(receiver.messages) >= count + len(others), 5 * LATE_SECONDS, "others once more")
    until(lambda: not receiver.ask(server)["waiting"], LATE_SECONDS, "what is told of who is erased is forgotten")
    if {message.id for message in receiver.messages[count:]} != others:
        raise Fault("somebody is told of a customer who is erased")


def require_secrets_kept(ledger, server, secrets):
    """No secret stands in a file of the ledger, nor in what the server says; how many files."""
    needles = [form for secret in secrets for form in (
        secret[len("whsec_"):].encode(), base64.b64decode(secret[len("whsec_"):]))]
    paths = [os.path.join(at, name) for at, _, names in os.walk(ledger) for name in names]
    # A socket holds nothing.
    paths = [server.log_path, *filter(os.path.isfile, paths)]
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        if any(needle in content for needle in needles):
            raise Fault("a webhook's secret stands in %s" % os.path.basename(path))
    return len(paths)


def check_secrets_control(ledger, server, secrets):
    """A secret that is written down must be found; how many were planted."""
    path = os.path.join(ledger, "planted")
    for planted in (secrets[-1].encode(), base64.b64decode(secrets[0][len("whsec_"):])):
        with open(path, "wb") as file:
            file.write(5000 * b"x" + planted)
        try:
            require_secrets_kept(ledger, server, secrets)
        except Fault:
            continue
        raise Fault("control: a secret in a file was not found")
    os.remove(path)
    return 2


def check_command(tool, *_):
    """What the command changes beside a server is taken over; and what it sends by itself."""
    ledger = tool.make()
    with Server(tool, ledger) as server, Receiver() as receiver:
        def command(*words, code=0):
            done = tool.run(ledger, "webhooks", *words, "--json")
            if done.returncode != code:
                raise Fault("webhooks %s: %d: %s" % (words[0], done.returncode, done.stderr[-300:].decode()))
            return json.loads(done.stdout) if done.stdout else None

        def told(customer, *words, count=1):
            """What comes of a change, once the server knows what the command did."""
            time.sleep(TAKEN_OVER_SECONDS)
            before = len(receiver.messages)
            server.grant(customer, 0)
            if not count:
                time.sleep(1)
            until(lambda: len(receiver.messages) >= before + count, LATE_SECONDS, "%s: told" % customer)
            receiver.require_good()
            found = receiver.messages[before:]
            if len(found) != count:
                raise Fault("%s: %d messages instead of %d" % (customer, len(found), count))
            return found

        webhook = command("add", receiver.url, "--private-address")
        receiver.id, receiver.secrets = webhook["id"], [webhook["secret"]]
        message = told("added")[0]
        shown = command("list")["webhooks"]
        if [one["id"] for one in shown] != [receiver.id] or "secret" in shown[0]:
            raise Fault("listed: %s" % shown)
        if command("test", receiver.id)["status"] != 200 or receiver.messages[-1].type != "webhook.tested":
            raise Fault("a test is not taken")
        command("disable", receiver.id)
        told("disabled", count=0)
        command("enable", receiver.id)
        until(lambda: receiver.messages[-1].customer == "disabled", LATE_SECONDS, "what was missed is told")
        receiver.secrets = [command("rotate", receiver.id)["secret"], *receiver.secrets]
        told("rotated")
        receiver.answer = answering(500)
        told("failed")
        receiver.answer = take
        waiting = until(lambda: command("deliveries", receiver.id)["deliveries"], LATE_SECONDS, "deliveries")
        if waiting[0]["status"] != 500 or command("deliveries", receiver.id, "--state", "dead")["deliveries"]:
            raise Fault("deliveries: %s" % waiting)
        until(lambda: receiver.messages[-1].status == 200, 10, "what failed is sent again")
        for words in ((message.id,), ("--from", "0", "--to", "1")):
            count = len(receiver.messages)
            if command("resend", receiver.id, *words) != {"resent": 1, "next": None}:
                raise Fault("resend %s" % (words,))
            until(lambda: len(receiver.messages) > count, LATE_SECONDS, "once more")
            if receiver.messages[-1].id != message.id or not receiver.messages[-1].is_resent:
                raise Fault("resend %s: %s" % (words, receiver.messages[-1].headers))
        command("remove", receiver.id)
        told("removed", count=0)
        for words in (("test", receiver.id), ("remove", receiver.id), ("enable", "wh_0")):
            command(*words, code=NOT_FOUND)
        return {"forwarded": check_listen(tool, ledger, server)}


def check_listen(tool, ledger, server):
    """`listen` forwards what happens from its first line on, and ends where it was asked to."""
    with Receiver() as receiver, subprocess.Popen(
            [*tool.arguments(ledger, "listen", "--forward-to", receiver.url, "--limit", "2", "--json")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=tool.environment, cwd=tool.scratch) as process:
        try:
            receiver.secrets = [json.loads(process.stdout.readline())["secret"]]
            for number in range(2):
                server.grant("listened-%d" % number, 0)
            rest, errors = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Fault("listen does not end: %d messages came" % len(receiver.messages)) from None
        lines = [json.loads(line) for line in rest.splitlines()]
        receiver.require_good()
        # Customers have no order among each other.
        ids = sorted(message.id for message in receiver.taken())
        if process.returncode or sorted(line["id"] for line in lines) != ids or len(ids) != 2 \
                or any(line["status"] != 200 for line in lines):
            raise Fault("listen: %d, %s, %s" % (process.returncode, lines, errors[-300:]))
    return len(ids)


def check_speed(tool, _, seed):
    """How soon a change is heard of at a steady pace, and how many deliveries there are a second."""
    ledger = tool.make()
    people = customers(seed, PACE, "paced")
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(tool, ledger, environment=PRIVATE))
        receivers = [stack.enter_context(Receiver()) for _ in range(RECEIVERS)]
        settled(server, receivers[0])
        # Five writers with customers of their own.
        writers = [Writer(server, people[number::5], 5 / PACE) for number in range(5)]
        time.sleep(PACED_SECONDS)
        for writer in writers:
            writer.end()
        complete(tool, ledger, server, receivers[0], LATE_SECONDS)
        heard = latencies(receivers[0], people)
        for receiver in receivers[1:]:
            receiver.add_to(server)
        begin, count = time.monotonic(), len(receivers[0].taken())
        Writer(server, people, times=CHANGES).end()
        for receiver in receivers:
            missing = CHANGES + (count if receiver is receivers[0] else 0)
            until(lambda: len(receiver.taken()) >= missing, 60, "deliveries to many")
            receiver.require_good()
        last = max(receiver.messages[-1].instant for receiver in receivers)
    if milliseconds(heard, 0.99) > 1000 * P99_SECONDS:
        raise Fault("a change is heard of after %s ms" % milliseconds(heard, 0.99))
    return {"binary": os.path.basename(os.path.dirname(tool.binary)), "changes": len(heard),
            "p50Milliseconds": milliseconds(heard, 0.5), "p99Milliseconds": milliseconds(heard, 0.99),
            "receivers": RECEIVERS, "deliveriesPerSecond": round(RECEIVERS * CHANGES / (last - begin))}


def run(tool, material, report, seed, cycles):
    """What waits most goes on beside one another; kill -9 and speed alone."""
    figures = report.figures["webhooks"] = {}

    def checks(works):
        # Each has ledgers in a folder of its own.
        own = Tool(tool.binary, tempfile.mkdtemp(prefix="webhooks-", dir=tool.scratch))
        for name, work, *more in works:
            found = figures[name] = {}
            found["seconds"] = report.guard(
                "webhooks, " + name,
                lambda: found.update(work(own, material, seed, *more)))

    in_parallel(checks, [
        [("notTaken", undelivered.check_bad)],
        [("begin", check_begin), ("content", check_content), ("addresses", addresses.check),
         ("slow", undelivered.check_slow), ("behind", undelivered.check_behind)],
        [("command", check_command), ("stop", undelivered.check_stop)]], workers=3)
    checks([("killed", undelivered.check_kill, cycles), ("speed", check_speed)])
