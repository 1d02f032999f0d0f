"""Every kind of output of the command, on the demonstration's history."""

import contextlib
import datetime
import http.server
import json
import os
import shutil
import threading
import time

from harness.app_store import AppStore
from harness.server import Server
from machines import clustered
from schemas import FOLDER, fail

# Within which a server tells of a grant; and how long the grant is, which time ends.
TOLD_SECONDS = 30
GRANT_SECONDS = 4


class Command:
    """The command on a ledger; what it prints, read."""

    def __init__(self, tool, ledger):
        self.tool, self.ledger = tool, ledger

    def __call__(self, *words, ledger=None, exits=(0,), stream="stdout", data=None):
        """The objects that it prints, a line each; it has to end with one of some codes."""
        return self.plain(*words, "--ledger", ledger or self.ledger, exits=exits, stream=stream,
                          data=data)

    def plain(self, *words, exits=(0,), stream="stdout", data=None):
        """The same of a command without a ledger."""
        done = self.tool.run_plain(*words, data=data)
        if done.returncode not in exits:
            fail(f"entitle {' '.join(words)}: exit {done.returncode}: "
                 f"{done.stderr.decode().strip()[:300]}")
        return [json.loads(line) for line in getattr(done, stream).splitlines()
                if line.startswith(b"{")]


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def outputs(schemas, entitle, history):
    """Output of every command that prints JSON, in each form that it has."""
    file = lambda name: os.path.join(history, name)
    entitle("init")
    schemas.check("event", lines(file("events.ndjson")), "the history's events")
    schemas.check("question", lines(file("questions.ndjson")), "the history's questions")
    imported = entitle("import", file("events.ndjson"), "--preserve-recorded-time", "--json")
    imported += entitle("import", file("events.ndjson"), "--preserve-recorded-time", "--json")
    imported += entitle("import", file("webhooks.ndjson"), "--json")
    bad = b'{"specversion":"1.0"}\nnot json\n'
    imported += entitle("import", "-", "--on-error", "skip", "--json", data=bad)
    schemas.check("import", imported, "import --json")
    receipts = entitle("catalog", "publish", file("catalog-july.json"), "--effective", "2025-07-01", "--json")
    receipts += entitle("claim", "frank", "app_store/1", "--json")
    receipts += entitle("claim", "frank", "app_store/1", "--json")
    receipts += entitle("transfer", "app_store/1", "--to", "gina", "--reason", "asked", "--json")
    receipts += entitle("release", "app_store/1", "--reason", "asked", "--json")
    receipts += entitle("claim", "frank", "app_store/1", "--json")
    receipts += entitle("grant", "frank", "--tier", "basic", "--until", "+30d", "--id", "k1", "--json")
    receipts += entitle("trial", "frank", "week", "--id", "k2", "--json")
    receipts += entitle("link", "frank", "frank-2", "--json")
    receipts += entitle("use", "gina", "record", "--amount", "9", "--unit", "seconds", "--json")
    schemas.check("receipt", receipts, "receipts of requests")
    schemas.check("event", entitle("events", "--json"), "events --json")
    schemas.check("event", entitle("events", "--raw", "--source", "revenuecat", "--json"), "events --raw --json")
    shown = entitle("show", "alice", "--json") + entitle("show", "nobody", "--known", "2025-01-01", "--json")
    schemas.check("show", shown, "show --json")
    answers = entitle("show", "--questions", file("questions.ndjson"))
    schemas.check("show", answers, "show --questions")
    for name in ("alice", "bob", "dave", "erin", "rc-001", "nobody"):
        schemas.check("timeline", entitle("timeline", name, "--json"), f"timeline {name} --json")
    changes(schemas, entitle, file)
    explained = [entitle("explain", name, feature, "--at", "2025-06-01", "--for", audience, "--lang", language, "--json")[0]
            for name in ("alice", "bob", "carol", "dave", "erin", "frank", "rc-001", "nobody")
            for feature in ("export", "record", "spectrum")
            for audience, language in (("developer", "en"), ("support", "ja"), ("customer", "zh-Hant"))]
    schemas.check("explain", explained, "explain --json")
    schemas.check("can", entitle("can", "bob", "export", "--json")
                  + entitle("can", "nobody", "export", "--json", exits=(1,)), "can --json")
    for name in ("customers", "revenue", "refunds", "funnel", "stages", "errors", "experiments"):
        reports = entitle("report", name, "--json") + entitle("report", name, "--json", "--at", "2025-06-13",
                                                              "--known", "2025-06-20", "--from", "2025-03-01")
        schemas.check("report", reports, f"report {name} --json")
        if not any(table for report in reports for table in report.values() if isinstance(table, list)):
            fail(f"report {name} says nothing of the history")
    signed(schemas, entitle, history)
    scenarios(schemas, entitle)
    served(schemas, entitle)
    told(schemas, entitle)
    alerted(schemas, entitle)
    erased(schemas, entitle)
    schemas.check("audit", entitle("audit", "--json"), "audit --json")
    schemas.check("verify", entitle("verify", "--json") + entitle("verify", "alice", "--record", "--json"), "verify --json")
    kept(schemas, entitle, history)
    rescued(schemas, entitle)
    schemas.check("status", entitle("status", "--json"), "status --json")
    # What it finds is the machine's too.
    schemas.check("doctor", entitle("doctor", "--json", exits=(0, 1)), "doctor --json")
    schemas.check("cluster-check", entitle.plain("cluster", "check", "--postgres", "host=/nowhere", "--json", exits=(1,)),
                  "cluster check --json")
    clustered(schemas, entitle)
    schemas.check("config", entitle("config", "show", "--json"), "config show --json")
    exported(schemas, entitle, history, answers)
    schemas.check("catalog", [json.load(open(file("catalog.json"), encoding="utf-8"))]
                  + entitle("catalog", "show", "--at", "2025-02-01")
                  + entitle("catalog", "show", "--at", "2025-08-01"), "catalog show")
    schemas.check("gates", entitle("catalog", "gates", "--json"), "catalog gates --json")
    sold(schemas, entitle, history)
    schemas.check("receipt", entitle("grant", "frank", "--tier", "premium", "--dry-run", "--json")
                  + entitle("catalog", "publish", file("catalog-july.json"), "--dry-run", "--json"), "--dry-run --json")
    problems = entitle("show", "alice", "--json", ledger="/nonexistent", exits=(66,), stream="stderr")
    problems += entitle("show", "--json", exits=(64,), stream="stderr")
    problems += entitle("explain", "alice", "exprot", "--json", exits=(64,), stream="stderr")
    problems += entitle("grant", "frank", "--tier", "premium", "--id", "k1", "--json", exits=(4,), stream="stderr")
    problems += entitle("trial", "frank", "week", "--json", exits=(1, 4), stream="stderr")
    schemas.check("problem", problems, "problems")
    return answers


def sold(schemas, entitle, folder):
    """What stores say of what they sell: nothing, a file's products, and those after a load that failed."""
    whole, none = os.path.join(folder, "whole.storekit"), os.path.join(folder, "none.storekit")
    offer = {"paymentMode": "payAsYouGo", "subscriptionPeriod": "P1M", "numberOfPeriods": 2, "displayPrice": "0.99"}
    subscription = {"productID": "com.example.pro.month", "type": "RecurringSubscription", "displayPrice": "4.99",
                    "recurringSubscriptionPeriod": "P1M", "introductoryOffer": offer,
                    "localizations": [{"locale": "en_US", "displayName": "Pro", "description": "All of it"}]}
    for path, subscriptions in ((whole, [subscription]), (none, [])):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"subscriptionGroups": [{"id": "g", "subscriptions": subscriptions}]}, file)
    told = entitle("products", "--json") + entitle("products", "--from", whole, "--json")
    told += entitle("products", "--from", none, "--json", exits=(65,))
    schemas.check("products", told, "products --json")
    if [len(answer["products"]) for answer in told] != [0, 1, 1] or not told[2]["sources"][0]["fault"]:
        fail(f"products came to {told}")


def exported(schemas, entitle, folder, answers):
    """Exports of a customer and a range, whole and tampered with; replays with evidence and tokens."""
    file = lambda name: os.path.join(folder, name)
    outcomes, checks, manifests = [], [], []
    for number, arguments in enumerate((["--customer", "alice"], ["--customer", "bob", "--redact", "names"],
                                        ["--from", "100", "--to", "2025-03-01"])):
        place = file(f"export-{number}")
        outcomes += entitle("export", *arguments, "--output", place, "--json")
        with open(os.path.join(place, "manifest.json"), encoding="utf-8") as manifest:
            manifests.append(json.load(manifest))
        checks += entitle.plain("check-export", place, "--json")
    with open(file("export-0/events.ndjson"), "a", encoding="utf-8") as events:
        events.write("\n")
    checks += entitle.plain("check-export", file("export-0"), "--json", exits=(3,))
    schemas.check("export", outcomes, "export --json")
    schemas.check("export-manifest", manifests, "manifest.json")
    schemas.check("check-export", checks, "check-export --json")
    with open(file("tokens.ndjson"), "w", encoding="utf-8") as tokens:
        tokens.writelines(json.dumps(answer) + "\n" for answer in answers[:50])
        tokens.write("nonsense\n")
    schemas.check("replay", entitle("replay", "--json")
                  + entitle("replay", "--known", "2025-06-01", "--json")
                  + entitle("replay", "--customer", "alice", "--tokens", file("tokens.ndjson"), "--json", exits=(3,)),
                  "replay --json")


def changes(schemas, entitle, file):
    """What differs between two points, or by another catalog; what a drift check says."""
    diffs = [entitle("diff", name, *points, "--json")[0]
             for name in ("alice", "bob", "carol", "dave", "erin", "frank", "gina", "nobody")
             for points in (("--at", "2025-02-20", "--at", "2025-07-15"), ("--at", "2025-04-15", "--known", "2025-04-20"),
                            ("--known-sequence", "0"))]
    schemas.check("diff", diffs, "diff --json")
    for part in ("tier", "validUntil", "features", "purchases", "grants", "trials", "events", "catalogs"):
        if not any(diff[part] for diff in diffs):
            fail(f"no diff has {part}")
    moves = file("moves.ndjson")
    found = entitle("whatif", "--catalog", file("catalog-july.json"), "--at", "2025-06-01", "--output", moves, "--json")
    cut = entitle("whatif", "--catalog", file("catalog-july.json"), "--at", "2025-06-01", "--samples", "2", "--json",
                  "--fail-on-loss", exits=(1,))
    schemas.check("whatif", found + cut, "whatif --json")
    schemas.check("whatif-line", lines(moves), "whatif --output")
    if len(lines(moves)) != len(found[0]["gains"]) + len(found[0]["losses"]):
        fail("whatif --output and --json list other changes")
    rows, differ = file("rows.ndjson"), file("differences.ndjson")
    with open(rows, "w", encoding="utf-8") as told:
        told.write(json.dumps({
            "rc_original_app_user_id": "frank", "product_identifier": "pro.month", "store": "play_store",
            "start_time": "2025-01-01 00:00:00", "end_time": "2035-01-01 00:00:00", "is_auto_renewable": "true",
            "is_sandbox": "false", "store_transaction_id": "GPA.1"}) + "\n")
    compared = entitle("compare", "revenuecat", "--from", rows, "--complete", "--output", differ, "--json", exits=(1,))
    schemas.check("compare", compared, "compare revenuecat --json")
    schemas.check("compare-line", lines(differ), "compare revenuecat --output")
    if len(lines(differ)) != compared[0]["differing"]:
        fail("compare revenuecat --output and --json list other differences")
    schemas.check("catalog-diff", entitle("catalog", "diff", file("catalog-july.json"), "--at", "2025-06-01", "--json"),
                  "catalog diff --json")
    schemas.check("drift", entitle("drift", "--all", "--json") + entitle("drift", "--sample", "5", "--json"), "drift --json")


def kept(schemas, entitle, folder):
    """Archive, backup, restored ledger, and proofs checked without a ledger."""
    file = lambda name: os.path.join(folder, name)
    place = ["--to", file("archive"), "--json"]  # not where a salvage would find it
    archived = entitle("archive", *place) + entitle("archive", "--check", *place)
    schemas.check("archive", archived, "archive --json")
    backups = [entitle("backup", file("backup"), *words, "--json")[0] for words in ((), ("--vault-only",), ("--log-only",))]
    schemas.check("backup", backups, "backup --json")
    restore = ["restore", file("backup"), "--into", file("restored"), "--until-sequence", "100", "--json"]
    schemas.check("restore", entitle(*restore, "--dry-run") + entitle(*restore), "restore --json")
    checkpoint = entitle("checkpoint", "--json")[0]["checkpoint"]
    with open(file("checkpoint"), "w", encoding="utf-8") as out:
        out.write(checkpoint)
    entitle("prove", "17", "--output", file("proof"))
    entitle("prove", "--consistency", file("checkpoint"), "--output", file("consistency"))
    with open(os.path.join(entitle.ledger, "ledger.json"), encoding="utf-8") as manifest:
        key = json.load(manifest)["publicKey"]
    proven = [found for words in ((file("proof"),), (file("consistency"), "--old", file("checkpoint")))
              for found in entitle.plain("check-proof", *words, "--key", key, "--json")]
    schemas.check("check-proof", proven, "check-proof --json")


def rescued(schemas, entitle):
    """A ledger whose log is cut off in the middle: what a salvage, an audit and `status` say of it."""
    cut, new = os.path.join(entitle.ledger + "-cut"), entitle.ledger + "-rescued"
    # Without the archive, which would fill every gap.
    shutil.copytree(entitle.ledger, cut, ignore=shutil.ignore_patterns("archive"))
    data = os.path.join(cut, "log", "data.mdb")
    os.truncate(data, os.path.getsize(data) // 2)
    reports = entitle("salvage", "--dry-run", "--json", ledger=cut, exits=(3,))
    reports += entitle("salvage", "--into", new, "--json", ledger=cut, exits=(3,))
    reports += entitle("salvage", "--dry-run", "--json")
    schemas.check("salvage", reports, "salvage --json")
    schemas.check("heal", entitle("salvage", "--heal", "--json"), "salvage --heal --json")
    schemas.check("audit", entitle("audit", "--json", ledger=new, exits=(3,)), "audit after a salvage")
    schemas.check("status", entitle("status", "--json", ledger=new, exits=(1,)), "status after a salvage")


def erased(schemas, entitle):
    """An erasure, planned and done; its events without ids; somebody of whom nothing is known."""
    schemas.check("erasure-plan", entitle("erase", "gina", "--dry-run", "--json")
                  + entitle("erase", "nobody", "--dry-run", "--json"), "erase --dry-run --json")
    schemas.check("erasure", entitle("erase", "gina", "--confirm", "gina", "--json")
                  + entitle("erase", "gina", "--confirm", "gina", "--json"), "erase --json")
    shown = entitle("events", "--json")
    schemas.check("erased-event", [event for event in shown if event["id"] is None], "events of who is erased")
    schemas.check("event", [event for event in shown if event["id"] is not None], "events of all others")
    schemas.check("problem", entitle("erase", "alice", "--confirm", "alicia", "--json", exits=(64,), stream="stderr"),
                  "erase without confirmation")


def signed(schemas, entitle, folder):
    """Claims by signed transactions: recorded, known, another's, and not signed at all."""
    file = lambda name: os.path.join(folder, name)
    store = AppStore(entitle.tool, folder)
    transaction = store.transaction()
    for name, text in (("transaction.jws", transaction), ("nonsense.jws", "a.b.c")):
        with open(file(name), "w", encoding="ascii") as out:
            out.write(text + "\n")
    claims = []
    for customer, name, code in (("ivan", "transaction.jws", 0), ("ivan", "transaction.jws", 0),
                                 ("judy", "transaction.jws", 4), ("judy", "nonsense.jws", 4)):
        claims += entitle("claim", customer, "--signed-transaction", file(name), "--stores", store.configuration,
                          "--json", exits=(code,))
    schemas.check("claim", claims, "claim --signed-transaction")
    outcomes = [item["outcome"] for claim in claims for item in claim["items"]]
    if outcomes != ["recorded", "known", "refused", "refused"]:
        fail(f"claims by signed transactions came to {outcomes}")
    asked(schemas, entitle, store, transaction)


def asked(schemas, entitle, store, transaction):
    """What the App Store is asked: about a customer, about everybody, about a list."""
    with store.served(transaction) as api:
        ask = ["--stores", api.configuration, "--json"]
        whole = entitle("sync", "ivan", *ask)
        schemas.check("sync", whole + entitle("sync", "nobody", *ask), "sync --json")
        if [purchase["outcome"] for purchase in whole[0]["purchases"]] != ["completed"]:
            fail(f"a sync came to {whole}")
        everybody = entitle("sync", "--backfill", *ask)
        listed = entitle("sync", "--from", "-", *ask, data=(api.purchase + "\n").encode())
        schemas.check("backfill", everybody + listed, "sync --backfill --json, sync --from --json")
        extended = entitle("extend", api.purchase, "--days", "7", "--because", "outage", *ask)
        # Beside a server it is the one that asks.
        with Server(entitle.tool, entitle.ledger, words=["--stores", api.configuration]) as server:
            extended += entitle("extend", api.purchase, "--days", "7", "--json")
            server.stop()
        schemas.check("extension", extended, "extend --json")
        schemas.check("test-notification", entitle("test-notification", *ask), "test-notification --json")
        entitle("consumption", api.purchase.split("/")[1], "--consented", "--stores", api.configuration)
        if not everybody[0]["failures"] or listed[0]["completed"] != 1:
            fail(f"asking about everybody came to {everybody}, about a list to {listed}")


def scenarios(schemas, entitle):
    """The published scenarios are of their form, and hold."""
    folder = os.path.join(FOLDER, "scenarios")
    files = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            files.append(json.load(file))
    schemas.check("scenario", files, "schemas/scenarios")
    played = entitle.plain("simulate", "run", "--all", "--json", "--scenarios", folder)
    if [item["id"] for item in played if item["ok"]] != [file["id"] for file in files]:
        fail(f"scenarios came to {played}")


def served(schemas, entitle):
    """Answers that only the server gives."""
    key = entitle.tool.key(entitle.ledger, "read")
    with Server(entitle.tool, entitle.ledger, key, ["--read-only"]) as server:
        answers = [server.ask("GET", f"/v1/customers/{customer}/purchases")[2]
                   for customer in ("alice", "bob", "dave", "ivan", "nobody")]
        schemas.check("purchases", answers, "purchases, from the server")
        server.stop()


@contextlib.contextmanager
def receiver():
    """An address of this machine, and the messages that come there."""
    messages = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            messages.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield "http://127.0.0.1:%d/hook" % server.server_port, messages
        server.shutdown()


def alerted(schemas, entitle):
    """One who is told of a stage that is slow in several flows."""
    with receiver() as (address, messages), Server(
            entitle.tool, entitle.ledger, environment={"ENTITLE_REPORT_SECONDS": "1"}) as server:
        added = entitle("webhooks", "add", address, "--private-address", "--type", "ledger.alert", "--json")
        # Fewer than five are no alert.
        for flow in range(5):
            for body in ({"type": "started"}, {"type": "succeeded", "stages": {"store": 60_000}}):
                server.ask("POST", "/v1/customers/slow/flows", {"flowId": "slow%d" % flow, **body})
        end = time.monotonic() + TOLD_SECONDS
        while not messages and time.monotonic() < end:
            time.sleep(0.1)
        server.stop()
    entitle("webhooks", "remove", added[0]["id"], "--json")
    schemas.check("ledger-alert", [message["data"] for message in messages], "alerts to webhooks")


def told(schemas, entitle):
    """One who is told of a grant and of its end; and one for whom both wait, for nothing is sent to the address."""
    hook = lambda *words, **more: entitle("webhooks", *words, "--json", **more)
    added = hook("add", "https://127.0.0.1/hook")
    webhook = added[0]["id"]
    changed = hook("rotate", webhook) + hook("disable", webhook) + hook("enable", webhook)
    schemas.check("webhook", added + changed, "webhooks add, rotate, disable and enable --json")
    schemas.check("webhook-test", hook("test", webhook, exits=(1,)), "webhooks test --json")
    schemas.check("problem", hook("test", "wh_none", exits=(4,), stream="stderr"), "webhooks test of nobody")
    with receiver() as (address, messages), Server(entitle.tool, entitle.ledger) as server:
        hook("add", address, "--private-address")
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=GRANT_SECONDS)
        server.ask("POST", "/v1/customers/told/grants", {
            "tier": "basic", "expiresAt": until.isoformat(timespec="milliseconds")})
        end = time.monotonic() + TOLD_SECONDS
        while len(messages) < 2 and time.monotonic() < end:
            time.sleep(0.1)
        server.stop()
    schemas.check("entitlement-changed", [message["data"] for message in messages], "messages of webhooks")
    waiting = hook("deliveries", webhook)
    schemas.check("webhook-deliveries", waiting + hook("deliveries", webhook, "--state", "dead"),
                  "webhooks deliveries --json")
    schemas.check("webhooks", hook("list"), "webhooks list --json")
    resent = hook("resend", webhook, "--from", "0") + hook("resend", webhook, "msg_none")
    schemas.check("webhook-resend", resent, "webhooks resend --json")
    causes = [type(message["data"]["cause"]) for message in messages]
    if causes != [int, str] or not waiting[0]["deliveries"] or not resent[0]["resent"]:
        fail(f"who is told of a grant is sent {messages}, and {waiting} waits, resent as {resent}")
