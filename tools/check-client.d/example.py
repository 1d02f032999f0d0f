"""What the page shows: bought, closed, away, back, restored on another device, given back."""

from app import AWAY, FEATURE, PRODUCT, converse
from harness.report import Fault


def expect(what, printed, wanted):
    if printed != wanted:
        raise Fault("%s: %s instead of %s" % (what, printed, wanted))


def run_story(tool, app, demo):
    folder = tool.directory("example")
    thanks = "Thank you."
    printed = converse(app, demo, folder, "alice", "open " + FEATURE, "restore", "buy " + PRODUCT,
                  "open " + FEATURE, "offline", "open " + FEATURE)
    if not printed[0].startswith("Sold as ") or PRODUCT not in printed[0]:
        raise Fault("before: %s" % printed[0])
    expect("bought", printed[1:], ["There is nothing to restore.", thanks,
                                   "Open, as the server says.", "Open, as the server says."])
    # The program begins anew, and nobody is reached.
    expect("away", converse(app, demo, folder, "alice", "open " + FEATURE, server=AWAY),
           ["Open, as the snapshot says."])
    # Bought while the server is away: open at once, handed in when it is back.
    away = tool.directory("away")
    printed = converse(app, demo, away, "bert", "offline", "buy " + PRODUCT, "open " + FEATURE, "online",
                  "open " + FEATURE)
    expect("bought while away", printed[:2] + printed[3:],
           [thanks, "Open, as the provisional says.", "Open, as the server says."])
    if demo.purchases("bert") != ["app_store/" + demo.device("bert")["held"][0]["originalId"]]:
        raise Fault("the ledger has not recorded what was bought while it was away")
    # Another device of the same account and customer.
    expect("restored", converse(app, demo, tool.directory("second"), "alice", "restore"), ["Restored: 1."])
    # Given back: seen by the next refresh, on both.
    demo.refund("alice", demo.device("alice")["held"][0]["id"])
    printed = converse(app, demo, folder, "alice", "open " + FEATURE)
    if not printed[0].startswith("Sold as "):
        raise Fault("after a refund: %s" % printed)
    # The control: what nobody gave back is open still.
    expect("another's", converse(app, demo, away, "bert", "open " + FEATURE), ["Open, as the server says."])


def run(tool, app, demo, report, _seed):
    run_story(tool, app, demo)
    report.figures["example"] = {"stories": 1}
