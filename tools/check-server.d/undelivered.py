"""Webhooks that are not taken: receivers of every bad kind beside a good one, and kill -9."""

import collections
import contextlib
import json
import random
import threading
import time
import urllib.request

import receiver as answers
from changes import (
    Customer, Writer, check_control, complete, latencies, logged, milliseconds, require_events, require_order,
    seconds_of, text_of, told, wanted)
from harness.report import Fault
from harness.server import Server
from hostile import flood_limit
from receiver import (
    LATE_SECONDS, PRIVATE, Receiver, answering, at_first, redirecting, settled, take, until)

# What the server waits for an answer; when it tries again, first and second, at the soonest and at the latest.
TIMEOUT_SECONDS, RETRY, SECOND_RETRY, ASKED_RETRY = 15, (4.5, 5.5), (270, 330), (8, 8)
# Within which the server ends beside a receiver that hangs.
STOP_SECONDS = 5
# MiB that all bad receivers together may take.
MEMORY_LIMIT = 128
CUSTOMERS, PAUSE, BAD_SECONDS = 4, 0.2, 30
# Seconds between a start and a kill; the share that a receiver fails; how long it may take to answer.
KILL_SECONDS, FAILURES, BUSY_SECONDS = (0.05, 1.0), 0.05, 0.03
KILL_CUSTOMERS, WRITERS, REST_SECONDS = 12, 4, 90
# Cycles after which others are changed: of whom there is much, each change takes long to look at.
GENERATION = 5
# Events that are to be looked at after a start, of few customers.
BEHIND, OF_FEW = 800, 2

# How the first messages are answered, what is listed of it, what passes before, and until the next attempt.
Bad = collections.namedtuple("Bad", "answer shown passed retry")


def spoiled(bad):
    """How many customers' first messages are answered so: where that takes long, a second one would have to
    wait for the first."""
    return 1 if bad.passed else CUSTOMERS


def kinds(elsewhere):
    """What is not taken, by what a receiver does."""
    return {
        "hangs": Bad(answers.hang, {"timeout"}, TIMEOUT_SECONDS, RETRY),
        "trickles its head": Bad(answers.trickle_head, {"timeout"}, TIMEOUT_SECONDS, RETRY),
        "sends a line without an end": Bad(answers.endless_head, {"connection"}, 0, RETRY),
        "sends a head without an end": Bad(answers.endless_heads, {"connection"}, 0, RETRY),
        "sends hints without an end": Bad(answers.endless_hints, {"timeout"}, TIMEOUT_SECONDS, RETRY),
        "closes": Bad(answers.close, {"connection"}, 0, RETRY),
        "closes in the middle": Bad(answers.close_in_the_middle, {"connection"}, 0, RETRY),
        "answers noise": Bad(answers.noise, {"connection"}, 0, RETRY),
        "answers 500": Bad(answering(500), {500}, 0, RETRY),
        "answers 429": Bad(answering(429, Retry_After="8"), {429}, 0, ASKED_RETRY),
        "answers 503": Bad(answering(503, Retry_After="8"), {503}, 0, ASKED_RETRY),
        "redirects": Bad(redirecting(elsewhere), {301, 302, 303, 307, 308}, 0, RETRY),
    }


def is_listed(server, one, bad, attempts=1):
    """Whether what was not taken is listed with why and its next attempt, and what waits behind it."""
    receipts = one.receipts()
    deliveries = one.ask(server, path="/deliveries")["deliveries"]
    heads = [d for d in deliveries if d["attempts"] == attempts]
    behind = [d for d in deliveries if not d["attempts"]]
    for delivery in heads:
        if {delivery["status"], delivery["fault"]} - bad.shown != {None} or not delivery["nextAttemptAt"]:
            raise Fault("%s is listed as %s" % (bad.shown, delivery))
        came = receipts[delivery["id"]]
        ahead = seconds_of(delivery["nextAttemptAt"]) - came[attempts - 1] if came else bad.retry[0]
        if not bad.passed + bad.retry[0] - 0.1 <= ahead <= bad.passed + bad.retry[1] + LATE_SECONDS:
            raise Fault("the next attempt is %.1f s ahead: %s" % (ahead, delivery))
    if any(d["nextAttemptAt"] or d["status"] or d["fault"] for d in behind):
        raise Fault("what waits behind another is listed as tried: %s" % behind[:2])
    return bool(heads) and bool(behind)


def require_listed(server, receivers, known):
    """Each is listed once it was tried; the unreachable one is reached from then on."""
    unseen = dict(receivers)
    end = time.monotonic() + BAD_SECONDS
    while unseen:
        for name, one in list(unseen.items()):
            try:
                if not is_listed(server, one, known[name]):
                    continue
            except Fault as fault:
                raise Fault("who %s: %s" % (name, fault)) from fault
            del unseen[name]
            if not one.thread:
                one.listen()
        if time.monotonic() > end:
            raise Fault("not listed: %s" % {
                name: one.ask(server, path="/deliveries")["deliveries"][:2] for name, one in unseen.items()})
        time.sleep(0.1)


def require_retries(name, one, bad):
    """What was answered badly came twice, and not too soon."""
    waited = [came[1] - came[0] for came in one.receipts().values() if len(came) > 1]
    if len(waited) != spoiled(bad) or min(waited) < bad.passed + bad.retry[0] - 0.1 \
            or max(waited) > bad.passed + bad.retry[1] + LATE_SECONDS:
        raise Fault("who %s is asked again after %s s" % (name, waited))


def check_retries_control(one, bad):
    """Who is asked again too soon or not at all must be found."""
    for planted in (bad._replace(retry=ASKED_RETRY), bad._replace(passed=TIMEOUT_SECONDS)):
        try:
            require_retries("is the control", one, planted)
        except Fault:
            continue
        raise Fault("control: who is asked again too soon was not found")


def check_gone(server, one):
    """Who says 410 is disabled and asked no more; enabled again, they take what they missed."""
    until(lambda: one.ask(server)["state"] == "disabled", LATE_SECONDS, "who is gone is disabled")
    count = len(one.messages)
    time.sleep(2)
    if one.ask(server)["disabledBecause"] != "gone" or not 0 < len(one.messages) == count <= CUSTOMERS:
        raise Fault("who is gone: %d and %d messages, %s" % (count, len(one.messages), one.ask(server)))
    one.answer = take
    one.ask(server, "POST", "/enable")


def picky(handler, message):
    """Never takes what is told of one customer."""
    (answering(500) if message.customer == "bad0" else take)(handler, message)


def require_picky(server, one, expected):
    """Behind what is not taken its customer waits, and nobody else."""
    others = {customer: theirs for customer, theirs in expected.items() if customer != "bad0"}
    until(lambda: told(one.taken()) == others, LATE_SECONDS, "other customers of one that is waited for")
    require_order(one.taken(), others)
    one.require_good()
    listed = Bad(None, {500}, 0, SECOND_RETRY)
    until(lambda: is_listed(server, one, listed, attempts=2), 2 * LATE_SECONDS, "a second attempt")
    if len({message.id for message in one.messages if message.customer == "bad0"}) != 1:
        raise Fault("what waits behind another was sent")


def require_bounded(server, before, elsewhere, floods):
    """What has no end was not read, and what leads elsewhere not followed."""
    limit = CUSTOMERS * flood_limit()
    sent = {name: one.sent for name, one in floods.items() if one.sent > limit}
    if sent or elsewhere.connections or server.memory("VmHWM") - before > MEMORY_LIMIT:
        raise Fault("%d connections elsewhere, %s bytes, from %d to %d MiB" % (
            elsewhere.connections, sent, before, server.memory("VmHWM")))


def check_bounded_control(server, elsewhere):
    """Who reads to the end, follows or grows must be found; how many were planted."""
    with Receiver() as one, Receiver() as untouched:
        for answer in [answers.endless_body] * CUSTOMERS + [redirecting(elsewhere.url)]:
            one.answer = answer
            with urllib.request.urlopen(one.url, timeout=60) as response:
                while response.read(len(answers.PIECE)):
                    pass
        memory = server.memory("VmHWM")
        plans = ((memory, elsewhere, {}), (memory, untouched, {"control": one}),
                 (memory - MEMORY_LIMIT - 1, untouched, {}))
        for planted in plans:
            try:
                require_bounded(server, *planted)
            except Fault:
                continue
            raise Fault("control: neither a flood, a redirection nor growth was found")
    return len(plans)


def check_bad(tool, _, seed):
    """All kinds of bad receivers beside a good one, and what becomes of each."""
    ledger = tool.make()
    source = random.Random("undelivered/%d" % seed)
    people = [Customer("bad%d" % number, source) for number in range(CUSTOMERS)]
    with contextlib.ExitStack() as stack:
        def receiving(answer=None, **more):
            return stack.enter_context(Receiver(answer, **more))

        elsewhere, good, gone, one_sided = receiving(), receiving(), receiving(answering(410)), receiving(picky)
        known = kinds(elsewhere.url)
        bad = {"cannot be reached": receiving(listens=False),
               **{name: receiving(at_first(kind.answer, spoiled(kind))) for name, kind in known.items()}}
        known["cannot be reached"] = Bad(None, {"connection"}, 0, RETRY)
        endless = receiving(at_first(answers.endless_body, CUSTOMERS))
        whole = [good, *bad.values(), endless, receiving(at_first(answers.trickle_body, CUSTOMERS))]
        server = stack.enter_context(Server(tool, ledger, environment=PRIVATE))
        settled(server, *whole, gone, one_sided)
        before = server.memory()
        writer = Writer(server, people, PAUSE)
        check_gone(server, gone)
        require_listed(server, bad, known)
        writer.end()
        for one in [*whole, gone]:
            expected, _ = complete(tool, ledger, server, one, BAD_SECONDS)
        require_picky(server, one_sided, expected)
        for name, one in bad.items():
            if name != "cannot be reached":
                require_retries(name, one, known[name])
        check_retries_control(bad["answers 500"], known["answers 500"])
        heard = latencies(good, people)
        if milliseconds(heard, 0.99) > 1000 * LATE_SECONDS:
            raise Fault("beside bad receivers a good one hears after %s ms" % milliseconds(heard, 0.99))
        floods = {**bad, "sends a body without an end": endless}
        require_bounded(server, before, elsewhere, floods)
        return {
            "receivers": len(whole) + 2, "messagesEach": len(good.taken()),
            "p50Milliseconds": milliseconds(heard, 0.5), "p99Milliseconds": milliseconds(heard, 0.99),
            "memoryBefore": round(before), "memoryAtMost": round(server.memory("VmHWM")),
            "mostMiBOfAFlood": max(one.sent for one in floods.values()) >> 20,
            "plantedAndFound": 2 + check_bounded_control(server, elsewhere)}


def check_stop(tool, *_):
    """Who hangs holds up no end of the server, and whoever stops it fails nothing: it is sent again at once."""
    ledger = tool.make()
    with Receiver(answers.hang) as one:
        with Server(tool, ledger, environment=PRIVATE) as server:
            settled(server, one)
            server.grant("stopped", 0)
            until(lambda: one.messages, LATE_SECONDS, "a change")
            seconds = server.stop()
            key = server.key
        one.answer = take
        with Server(tool, ledger, key, environment=PRIVATE) as server:
            complete(tool, ledger, server, one, LATE_SECONDS)
    if seconds > STOP_SECONDS:
        raise Fault("beside a receiver that hangs the server takes %.1f s to end" % seconds)
    return {"seconds": round(seconds, 2)}


def check_slow(tool, _, seed):
    """Who is slow for one customer hears promptly of the others."""
    def slow(handler, message):
        (answers.hang if message.customer == "slow0" else take)(handler, message)

    ledger = tool.make()
    people = [Customer("slow%d" % number, random.Random(seed)) for number in range(CUSTOMERS)]
    with Server(tool, ledger, environment=PRIVATE) as server, Receiver(slow) as one:
        settled(server, one)
        writer = Writer(server, people, PAUSE)
        time.sleep(4)
        writer.end()
        others = {name: causes for name, causes in wanted(tool, ledger).items() if name != "slow0"}
        until(lambda: told(one.taken()) == others, LATE_SECONDS, lambda: "told %s instead of %s" % (
            told(one.taken()), others))
        heard = latencies(one, people)
    return {"messages": len(heard), "p99Milliseconds": milliseconds(heard, 0.99)}


def check_behind(tool, *_):
    """After a start what waits is sent in time, however much is still to be looked at."""
    ledger = tool.make()
    with Receiver(answering(500)) as one:
        with Server(tool, ledger, environment=PRIVATE) as server:
            key = server.key
            settled(server, one)
            server.grant("waiting", 0)
            until(lambda: one.messages, LATE_SECONDS, "a change")
            until(lambda: one.ask(server)["waiting"], LATE_SECONDS, "a change that waits")
            server.kill()
        one.answer = take
        lines = "".join(json.dumps({
            "specversion": "1.0", "id": "behind-%d" % number, "source": "support", "type": "grant.given",
            "subject": "customer/behind-%d" % (number % OF_FEW), "time": text_of(time.time()),
            "environment": "production", "data": {"grantId": "g%d" % number, "tier": "pro"}}) + "\n"
            for number in range(BEHIND))
        tool.ask(ledger, "import", "--format", "events", "-", data=lines.encode())
        with Server(tool, ledger, key, environment=PRIVATE) as server:
            until(lambda: any(message.customer == "waiting" for message in one.taken()),
                  RETRY[1] + LATE_SECONDS, lambda: "what waited is sent again: %s, %s" % (
                      one.ask(server), one.ask(server, path="/deliveries")))
        one.require_good()
    return {"events": BEHIND}


class Moody:
    """Takes most messages, after a while; fails some the first time that they come, until it is calm."""

    def __init__(self, source):
        self.source, self.seen, self.is_calm = source, set(), False
        self.lock, self.failed = threading.Lock(), 0

    def __call__(self, handler, message):
        with self.lock:
            chance, pause = self.source.random(), self.source.uniform(0, BUSY_SECONDS)
            fails = chance < FAILURES and message.id not in self.seen and not self.is_calm
            self.seen.add(message.id)
            self.failed += fails
        time.sleep(pause)
        if not fails:
            take(handler, message)
        elif chance < FAILURES / 2:
            answers.close(handler, message)
        else:
            answering(500)(handler, message)


def check_kill(tool, _, seed, cycles):
    """kill -9 while changes are made and told: nothing is lost, and nothing out of a customer's order."""
    source = random.Random("killed/%d" % seed)
    ledger = tool.make()
    people = []
    moods = [Moody(random.Random("moody/%d/%d" % (seed, number))) for number in range(2)]
    with Receiver(moods[0]) as one, Receiver(moods[1]) as everything:
        with Server(tool, ledger, environment=PRIVATE) as server:
            key = server.key
            settled(server, one)
            everything.add_to(server, types=["*"])
        for cycle in range(cycles):
            if cycle % GENERATION == 0:
                people += [Customer("killed%d-%d" % (cycle, number), source, short=0.2)
                           for number in range(KILL_CUSTOMERS)]
            current = people[-KILL_CUSTOMERS:]
            with Server(tool, ledger, key, environment=PRIVATE) as server:
                writers = [Writer(server, current[number::WRITERS], 0.02) for number in range(WRITERS)]
                time.sleep(source.uniform(*KILL_SECONDS))
                server.kill()
                for writer in writers:
                    writer.end()
        for mood in moods:
            mood.is_calm = True
        with Server(tool, ledger, key, environment=PRIVATE) as server:
            begin = time.monotonic()
            for receiver in (one, everything):
                expected, now = complete(tool, ledger, server, receiver, REST_SECONDS + cycles)
                until(lambda: is_at_rest(server, receiver), LATE_SECONDS,
                      lambda: "all is taken, but: %s" % receiver.ask(server))
            rest = time.monotonic() - begin
        changes = {at for causes in expected.values() for at in causes}
        lost = [at for person in people for at in person.acknowledged if at not in changes]
        if lost:
            raise Fault("acknowledged changes are not in the log: %s" % lost[:5])
        messages = one.taken()
        return {"cycles": cycles, "acknowledged": sum(len(person.acknowledged) for person in people),
                "told": len(messages), "lost": 0,
                "events": require_events(everything.taken(changes=False), logged(tool, ledger, 1)),
                "failedByTheReceivers": sum(mood.failed for mood in moods),
                "repeats": sum(m.status == 200 for m in one.messages) - len(messages),
                "restSeconds": round(rest, 1), "plantedAndFound": check_control(messages, expected, now)}


def is_at_rest(server, receiver):
    """Whether nothing is left to be told."""
    webhook = receiver.ask(server)
    return not (webhook["waiting"] or webhook["dead"] or webhook["behind"])
