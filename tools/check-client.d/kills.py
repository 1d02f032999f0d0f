"""SIGKILL at each call of the app that changes a file of its folder (rows 3.4, 3.5, ES5).

After each the app begins anew, once with the server away and once with it: what the store verified is open,
and in the end each transaction is recorded once and finished once.
"""

import os
import random

from app import AWAY, PRODUCT, App, is_open, settled
from harness.install import compiled
from harness.report import Fault, in_parallel

KILLED = -9


def environment(library, folder, at, count=None, half=False):
    given = {"LD_PRELOAD": library, "KILLER_ROOT": folder, "KILLER_AT": str(at)}
    if count:
        given["KILLER_COUNT"] = count
    if half:
        given["KILLER_HALF"] = "1"
    return given


def counted(tool, app, demo, library, account):
    """How many such calls a purchase makes, where nothing ends it."""
    path = os.path.join(tool.scratch, account)
    folder = tool.directory(account)
    code, said = App(app, demo, folder, account, environment=environment(
        library, folder, 0, path)).say("buy " + PRODUCT)
    if code != 0 or said != ["Thank you."]:
        raise Fault("without a kill: %d %s" % (code, said))
    if settled(app, demo, folder, account) != 1:
        raise Fault("without a kill the store sells nothing")
    with open(path, encoding="ascii") as file:
        return int(file.read())


def trial(tool, app, demo, library, number, at, source):
    """One purchase that is killed; whether it was, and whether the store had sold by then."""
    account = "kills-%d" % number
    folder = tool.directory(account)
    server = AWAY if source.random() < 0.3 else demo.url
    code, _ = App(app, demo, folder, account, server=server, environment=environment(
        library, folder, at, half=source.random() < 0.5)).say("buy " + PRODUCT)
    if code not in (0, KILLED):
        raise Fault("%s at %d: it ended with %d" % (account, at, code))
    held = demo.device(account)["held"]
    # Nothing is finished that is not recorded.
    if demo.device(account)["finished"] and not demo.purchases(account):
        raise Fault("%s at %d: finished, and not recorded" % (account, at))
    if held and not is_open(app, demo, folder, account, server=AWAY):
        raise Fault("%s at %d: closed although the store verified it" % (account, at))
    settled(app, demo, folder, account, tellers=2 if code == KILLED else 1)
    if held and not is_open(app, demo, folder, account):
        raise Fault("%s at %d: closed in the end" % (account, at))
    return code == KILLED, bool(held)


def control(tool, app, demo):
    """An app that loses its folder and is told nothing more by its store: it has to be found."""
    account = "kills-control"
    folder = tool.directory(account)
    App(app, demo, folder, account, server=AWAY).say("buy " + PRODUCT)
    for one in demo.device(account)["held"]:
        demo.device(account, "finish", {"transactionId": one["id"]})
    try:
        settled(app, demo, tool.directory(account), account, rounds=1)
    except Fault as fault:
        if "recorded [] of" in str(fault):
            return
        raise
    raise Fault("a planted loss was not found")


def run(tool, app, demo, report, seed, count):
    library = compiled(os.path.join(os.path.dirname(os.path.abspath(__file__)), "killer.c"),
                       tool.scratch, "-shared", "-fPIC", "-ldl")
    calls = counted(tool, app, demo, library, "kills-counted")
    source = random.Random("kills/%d" % seed)
    # Each place at least once where there are enough; then by chance.
    places = [1 + number % calls for number in range(count)] if count >= calls else \
        source.sample(range(1, calls + 1), count)
    done = in_parallel(lambda pair: trial(
        tool, app, demo, library, pair[0], pair[1], random.Random("%d/%d" % (seed, pair[0]))),
        list(enumerate(places)))
    control(tool, app, demo)
    killed = sum(1 for was_killed, _ in done if was_killed)
    if killed < count // 2:
        raise Fault("only %d of %d were killed" % (killed, count))
    # Where nothing was sold, nothing can be lost.
    if not any(was_killed and sold for was_killed, sold in done):
        raise Fault("none of %d was killed behind the sale" % killed)
    report.figures["kills"] = {
        "calls": calls, "trials": count, "killed": killed,
        "soldBefore": sum(1 for _, sold in done if sold)}
