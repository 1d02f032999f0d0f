"""A folder that cannot be written, a disk that takes nothing, two programs in one folder."""

import resource
import signal

from app import AWAY, FEATURE, PRODUCT, App, converse, is_open, settled
from harness.report import Fault


def limit_files():
    """As a full disk: what writes to a file is told that it cannot."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def bought(app, demo, folder, account, **more):
    """What is bought is open, recorded and finished."""
    said = converse(app, demo, folder, account, "buy " + PRODUCT, "open " + FEATURE, **more)
    if said != ["Thank you.", "Open, as the server says."]:
        raise Fault("%s: %s" % (account, said))
    if settled(app, demo, folder, account) != 1:
        raise Fault("%s: the store sold nothing" % account)


def unwritable(tool, app, demo):
    # A file stands where the folder would be: nobody, root included, can make it.
    path = tool.directory("file")
    with open(path, "w", encoding="ascii"):
        pass
    bought(app, demo, path + "/folder", "folders-none")


def full(tool, app, demo):
    folder = tool.directory("full")
    bought(app, demo, folder, "folders-full", preexec_fn=limit_files)
    # Bought while neither disk nor server take anything: open, and handed in by what the store tells again.
    folder, account = tool.directory("full-away"), "folders-full-away"
    said = converse(app, demo, folder, account, "buy " + PRODUCT, "open " + FEATURE, server=AWAY,
                    preexec_fn=limit_files)
    if said != ["Thank you.", "Open, as the provisional says."]:
        raise Fault("%s: %s" % (account, said))
    if not is_open(app, demo, folder, account, server=AWAY, preexec_fn=limit_files):
        raise Fault("%s: closed when the app began anew" % account)
    settled(app, demo, folder, account)


def emptied(tool, app, demo):
    """The system took the folder away, as it may of caches, and the server is away: what the store verifies
    is open all the same."""
    account = "folders-emptied"
    bought(app, demo, tool.directory("before"), account)
    if not is_open(app, demo, tool.directory("after"), account, server=AWAY):
        raise Fault("%s: closed although the store verified it" % account)
    # The control: of an account that bought nothing, nothing is.
    if converse(app, demo, tool.directory("nobody"), "folders-nobody", "open " + FEATURE,
                server=AWAY) != ["Sold as pro.month."]:
        raise Fault("an account that bought nothing has it open")


def shared(tool, app, demo, rounds):
    """Two programs at once: an app and its widget."""
    for number in range(rounds):
        folder, account = tool.directory("shared"), "folders-shared-%d" % number
        apps = [App(app, demo, folder, account) for _ in range(2)]
        # The first is away while both buy, and comes back behind the other's end.
        apps[0].process.stdin.write("offline\n")
        if apps[0].ask("buy " + PRODUCT) != "Thank you.":
            raise Fault("%s: not bought" % account)
        if apps[1].ask("buy pro.life") != "Thank you.":
            raise Fault("%s: not bought beside another" % account)
        code, _ = apps[1].say("restore")
        first, _ = apps[0].say("online", "open " + FEATURE)
        if (code, first) != (0, 0):
            raise Fault("%s: they ended with %d and %d" % (account, first, code))
        # Each program for itself, and the restore of one for all that it hands in.
        settled(app, demo, folder, account, tellers=len(apps) + 1)


def run(tool, app, demo, report, _seed):
    unwritable(tool, app, demo)
    full(tool, app, demo)
    emptied(tool, app, demo)
    shared(tool, app, demo, 3)
    report.figures["folders"] = {"unwritable": 1, "full": 2, "emptied": 1, "shared": 3}
