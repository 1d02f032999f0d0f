"""Every command that asks, as text and as JSON, and those that change a ledger."""

import json
import os
import re

from harness.report import Fault, say

NAMED = ("alice", "bob", "carol", "dave", "erin", "anonymous-7f3a", "nobody", "rc-001", "rc-002")
OTHERS = ("customer-001", "customer-042", "customer-133", "customer-256")
POINTS = {
    "now": (), "march": ("--at", "2025-03-15"),
    "june": ("--at", "2025-06-20T12:00:00Z", "--known", "2025-06-01"),
    "prefix": ("--at", "2025-08-31", "--known-sequence", "1500"),
}
ALICE = ("--at", "2025-04-15", "--known", "2025-04-20")
REPORTS = ("customers", "revenue", "refunds", "funnel", "stages", "errors", "experiments")
# What RevenueCat exports of two customers, one of whom the history has.
TOLD = [{"rc_original_app_user_id": customer, "product_identifier": "pro.month", "store": "app_store",
         "start_time": "2025-03-01 00:00:00", "end_time": "2025-04-01 00:00:00", "is_auto_renewable": "true",
         "is_sandbox": "false", "store_transaction_id": "90" + customer} for customer in ("alice", "zoe")]
# Folded by several threads, written as each is done.
UNORDERED = "whatif.ndjson"
# Commands that are not asked: what they print is a server's, a machine's or new keys.
# Some ask a store, and what they answer is the store's; check-schemas has one of its own for them.
LEFT_OUT = ("bench", "cluster", "console", "consumption", "demo", "doctor", "extend", "init", "listen", "serve",
            "simulate", "sync", "tail", "test-notification")
# This machine's own: nothing is sent there.
ADDRESS = "https://127.0.0.1/hook"


class Commands:
    def __init__(self, tool, recording):
        self.tool, self.recording, self.heads = tool, recording, set()
        self.changed = False

    def ask(self, name, *words, data=None, files=(), plain=False):
        """Runs a command and keeps its status, output, messages and the files that it wrote."""
        self.heads.add(words[0])
        name = "command-" + name
        if not self.recording.wants(name):
            return
        done = self.tool.run_plain(*words) if plain else self.tool.run("ledger", *words, data=data)
        parts = [("entitle %s" % " ".join(words), b"%d\n" % done.returncode),
                 ("output", done.stdout), ("errors", done.stderr)]
        for path in files:
            whole = os.path.join(self.tool.scratch, path)
            for file in sorted(walk(whole)):
                with open(file, "rb") as opened:
                    data = opened.read()
                if path == UNORDERED:
                    data = b"".join(sorted(data.splitlines(keepends=True)))
                parts.append((os.path.relpath(file, self.tool.scratch), data))
        self.recording.keep(
            name, [(title, self.anonymous(data)) for title, data in parts], self.changed)

    def anonymous(self, data):
        """Without the directory that all runs in."""
        return data.replace(self.tool.scratch.encode(), b"SCRATCH")

    def both(self, name, *words, **more):
        self.ask(name + ".text", *words, **more)
        self.ask(name + ".json", *words, "--json", **more)


def walk(path):
    if os.path.isfile(path):
        return [path]
    return [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]


def questions(c, given):
    c.both("show-questions", "show", "--questions", "questions.ndjson")
    for customer in NAMED:
        for point, words in POINTS.items():
            c.both("show-%s-%s" % (customer, point), "show", customer, *words)
            c.both("can-%s-export-%s" % (customer, point), "can", customer, "export", *words)
            c.both("explain-%s-export-%s" % (customer, point), "explain", customer, "export", *words)
        c.both("timeline-%s" % customer, "timeline", customer)
        c.both("diff-%s" % customer, "diff", customer, "--at", "2025-03-15", "--at", "2025-08-01")
        c.both("events-%s" % customer, "events", "--customer", customer)
    for customer in OTHERS:
        c.both("show-%s" % customer, "show", customer)
        c.both("timeline-%s" % customer, "timeline", customer, "--known", "2025-06-01")
        for feature in ("record", "spectrum", "transcript"):
            c.both("can-%s-%s" % (customer, feature), "can", customer, feature)
            c.both("explain-%s-%s" % (customer, feature), "explain", customer, feature)
    c.both("show-alice-april", "show", "alice", *ALICE)
    c.both("show-alice-sandbox", "show", "alice", "-e", "sandbox")
    c.both("show-token", "show", "--token", given.decision)
    c.both("timeline-alice-april", "timeline", "alice", *ALICE)
    c.both("diff-alice-known", "diff", "alice", "--at", "2025-04-15", "--known", "2025-04-20",
           "--known", "2025-06-01")
    c.both("diff-alice-sequence", "diff", "alice", "--at", "2025-04-15", "--known-sequence", "900",
           "--known-sequence", "2000")
    for feature in ("record", "share", "spectrum", "unknown"):
        c.both("can-alice-%s" % feature, "can", "alice", feature, *ALICE)
        c.both("explain-alice-%s" % feature, "explain", "alice", feature, *ALICE)
    for reader in ("developer", "support", "customer"):
        for language in ("en", "ja", "zh-Hant"):
            for customer in ("alice", "bob", "erin"):
                c.both("explain-%s-%s-%s" % (customer, reader, language), "explain", customer,
                       "export", "--for", reader, "--lang", language)
    for customer in ("alice", "bob"):
        c.ask("timeline-%s.svg" % customer, "timeline", customer, "--svg", "-")


def reports(c):
    c.both("whatif", "whatif", "--catalog", "catalog.json", "--at", "2025-08-01")
    c.both("whatif-effective", "whatif", "--catalog", "catalog.json", "--effective", "2025-05-01",
           "--samples", "5", "--output", UNORDERED, files=[UNORDERED])
    c.both("whatif-loss", "whatif", "--catalog", "catalog.json", "--at", "2025-08-01",
           "--fail-on-loss")
    with open(os.path.join(c.tool.scratch, "rows.ndjson"), "w", encoding="utf-8") as rows:
        for row in TOLD:
            rows.write(json.dumps(row) + "\n")
    for point in ("now", "march"):
        c.both("compare-revenuecat-" + point, "compare", "revenuecat", "--from", "rows.ndjson", "--complete",
               "--at", "2025-03-15" if point == "march" else "2026-01-01")
    for report in REPORTS:
        for point, words in (*POINTS.items(), (
                "quarter", ("--from", "2025-04-01", "--to", "2025-07-01"))):
            c.both("report-%s-%s" % (report, point), "report", report, *words)
        c.ask("report-%s.csv" % report, "report", report, "--csv")
    c.both("report-stages-alert", "report", "stages", "--thresholds", "100,verify:1",
           "--fail-on-alert")
    c.both("report-errors-alert", "report", "errors", "--window-minutes", "1440", "--minimum-count",
           "1", "--at", "2025-06-13", "--fail-on-alert")


def log(c):
    c.ask("events-all.json", "events", "--json")
    c.both("events-range", "events", "--from", "100", "--to", "140")
    c.both("events-type", "events", "--type", "revocation.refunded", "--since", "2025-05-01")
    c.both("events-source", "events", "--source", "revenuecat", "--limit", "5", "--raw")
    c.both("events-purchase", "events", "--purchase", "app_store/2000000123")
    c.both("catalog-show", "catalog", "show")
    c.both("catalog-show-june", "catalog", "show", "--at", "2025-06-01")
    c.both("catalog-validate", "catalog", "validate", "catalog.json", plain=True)
    c.both("catalog-validate-bad", "catalog", "validate", "catalog-bad.json", plain=True)
    c.both("catalog-diff", "catalog", "diff", "catalog.json")
    c.both("catalog-gates", "catalog", "gates")
    c.both("catalog-gates-feature", "catalog", "gates", "--feature", "export", "--customer", "bob")
    c.both("catalog-gates-file", "catalog", "gates", "--file", "catalog.json")
    c.both("audit", "audit")
    c.both("audit-quick", "audit", "--quick")
    c.both("audit-hashes", "audit", "--hashes")
    c.both("audit-keyless", "audit", "--without-key")
    c.both("audit-against", "audit", "--against", "checkpoint-old.txt", "--html", "audit.html",
           files=["audit.html"])
    c.both("replay", "replay")
    c.both("replay-alice", "replay", "--customer", "alice", *ALICE)
    c.both("replay-tokens", "replay", "--tokens", "-", data=b"")
    c.both("drift", "drift", "--all")
    c.both("checkpoint", "checkpoint")
    for sequence in ("0", "1499", "2729", "99999"):
        c.both("prove-%s" % sequence, "prove", sequence)
    c.both("prove-consistency", "prove", "--consistency", "1000")
    c.ask("prove-file", "prove", "7", "--output", "proof.txt", files=["proof.txt"])
    with open(os.path.join(c.tool.scratch, "ledger", "ledger.json"), encoding="utf-8") as file:
        key = json.load(file)["publicKey"]
    c.tool.ask("ledger", "prove", "7", "--output", "proof-7.txt")
    c.both("check-proof", "check-proof", "proof-7.txt", "--key", key, plain=True)
    c.both("check-proof-none", "check-proof", "events.ndjson", "--key", key, plain=True)
    c.both("status", "status")
    c.both("config-show", "config", "show")
    c.both("keys-list", "keys", "list")
    c.both("products", "products")
    c.both("webhooks-list", "webhooks", "list")
    c.both("archive", "archive", "--to", "archive")
    c.both("archive-check", "archive", "--to", "archive", "--check")
    c.both("backup", "backup", "backup")
    c.both("salvage", "salvage", "ledger", "--dry-run", plain=True)


def exports(c):
    for number, (name, words) in enumerate((
            ("alice", ["--customer", "alice"]), ("bob", ["--customer", "bob", "--redact", "none"]),
            ("erin", ["--customer", "erin", "--redact", "names", "--known", "2025-06-12"]),
            ("range", ["--from", "0", "--to", "40"]),
            ("july", ["--from", "2025-07-01", "--to", "2025-07-10", "--redact", "signatures"]))):
        folder = "export-%d" % number
        formats = ["ndjson", "csv", "html"] if "--customer" in words else ["ndjson", "csv"]
        c.ask("export-" + name, "export", *words, "--output", folder, "--json",
              *(word for format in formats for word in ("--format", format)), files=[folder])
        c.both("check-export-" + name, "check-export", folder, plain=True)
    c.ask("export-text", "export", "--customer", "carol", "--output", "export-text")


def errors(c):
    for name, words in {
            "at": ["show", "alice", "--at", "yesterday"],
            "known-twice": ["show", "alice", "--known", "2025-01-01", "--known-sequence", "3"],
            "sequence": ["show", "alice", "--known-sequence", "99999"],
            "environment": ["show", "alice", "-e", "moon"],
            "nobody": ["show"], "token": ["show", "--token", "AAAA"],
            "feature": ["can", "alice", "exprot"], "missing": ["can", "alice"],
            "explain-language": ["explain", "alice", "export", "--lang", "tlh"],
            "report": ["report", "income"], "whatif": ["whatif", "--catalog", "catalog-bad.json"],
            "whatif-file": ["whatif", "--catalog", "absent.json"],
            "diff": ["diff", "alice"], "diff-words": ["diff", "alice", "2025-01-01"], "events": ["events", "--from", "minus"],
            "gates": ["catalog", "gates", "--feature", "unknown"],
            "option": ["show", "alice", "--when", "now"],
            "key": ["show", "alice", "--key-file", "catalog.json"],
            "export": ["export", "--customer", "alice", "--output", "ledger"],
            "prove": ["prove", "x"],
            "webhooks-add": ["webhooks", "add", "ftp://127.0.0.1/hook"],
            "webhooks-add-type": ["webhooks", "add", ADDRESS, "--type", "no.such"],
            "webhooks-add-of": ["webhooks", "add", ADDRESS, "--of", "moon"],
            "webhooks-test": ["webhooks", "test", "wh_none"],
            "webhooks-deliveries": ["webhooks", "deliveries", "wh_none"],
            "webhooks-deliveries-state": ["webhooks", "deliveries", "wh_none", "--state", "lost"],
            "webhooks-resend": ["webhooks", "resend", "wh_none"],
            "webhooks-resend-none": ["webhooks", "resend", "wh_none", "--from", "0"]}.items():
        c.both("error-" + name, *words)
    c.ask("error-questions.json", "show", "--questions", "-", "--json",
          data=b'{"customer":"alice"}\n{"customer":7}\n{"at":"2025-01-01"}\nnone\n')
    c.both("error-command", "shwo", "alice", plain=True)
    c.both("error-ledger", "show", "alice", "--ledger", "nowhere", plain=True)


def changes(c):
    """On a copy of its own: what a change says, said again, and refused."""
    for name, words in {
            "grant": ["grant", "alice", "--grant-id", "g", "--tier", "basic", "--until", "2026-01-01",
                      "--reason", "an apology"],
            "grant-feature": ["grant", "bob", "--grant-id", "h", "--feature", "export"],
            "grant-empty": ["grant", "bob"], "grant-tier": ["grant", "bob", "--tier", "gold"],
            "withdraw": ["withdraw", "alice", "g"], "withdraw-unknown": ["withdraw", "alice", "none"],
            "trial": ["trial", "new", "week"], "trial-unknown": ["trial", "new", "month"],
            "link": ["link", "carol", "carol-phone"], "link-self": ["link", "carol", "carol"],
            "use": ["use", "nobody", "record", "--amount", "20", "--unit", "seconds"],
            "use-denied": ["use", "nobody", "export"],
            "use-unknown": ["use", "nobody", "unknown"], "use-undo": ["use", "nobody", "--undo", "no"],
            "claim": ["claim", "frank", "app_store/2000000123"],
            "claim-signed": ["claim", "frank", "--stores", "stores.json", "--signed-transaction",
                             "transaction-9001.jws", "transaction-9002.jws"],
            "claim-bad": ["claim", "frank", "--stores", "stores.json", "--signed-transaction",
                          "transaction-bad.jws"],
            "transfer": ["transfer", "app_store/2000000123", "--to", "bob", "--reason", "asked"],
            "transfer-unknown": ["transfer", "app_store/none", "--to", "bob", "--reason", "asked"],
            "release": ["release", "app_store/2000000123", "--reason", "asked"],
            "release-bare": ["release", "app_store/2000000123"],
            "publish": ["catalog", "publish", "catalog.json", "--effective", "2025-10-01"],
            "publish-bad": ["catalog", "publish", "catalog-bad.json"],
            "verify": ["verify", "alice"], "verify-record": ["verify", "--record"],
            "noted": ["explain", "alice", "export", "--reason", "asked"],
            "erase-dry": ["erase", "dave", "--dry-run"],
            "erase-unconfirmed": ["erase", "dave"],
            "erase": ["erase", "dave", "--confirm", "dave"],
            "erase-unknown": ["erase", "who", "--confirm", "who"]}.items():
        more = [] if words[0] in ("explain", "verify") or "--dry-run" in words else ["--id", "request-" + name]
        c.both("change-" + name, *words, *more)
    for count in range(4):
        c.ask("change-use-%d.json" % count, "use", "limited", "record", "--id", "u%d" % count, "--json")
    c.both("change-show-after", "show", "alice")
    c.both("change-show-erased", "show", "dave")
    c.both("change-import", "import", "events.ndjson")
    c.both("change-import-bad", "import", "--format", "events", "-",
           data=b'{"specversion":"1.0","id":"x","type":"no.such"}\nnone\n')
    c.both("change-rebuild", "rebuild")
    c.both("change-audit", "audit")
    c.both("change-backup", "backup", "backup")
    c.both("change-restore", "restore", "backup", "--into", "restored", plain=True)


def webhooks(c):
    """Of somebody who is told: no server runs, so that nothing is noticed."""
    webhook = c.tool.ask_json("ledger", "webhooks", "add", ADDRESS)["id"]
    for name, words in {
            "test": ["test", webhook], "disable": ["disable", webhook], "disabled": ["list"],
            "enable": ["enable", webhook], "rotate": ["rotate", webhook],
            "deliveries": ["deliveries", webhook],
            "deliveries-dead": ["deliveries", webhook, "--state", "dead", "--limit", "5"],
            "resend": ["resend", webhook, "msg_none"],
            "resend-range": ["resend", webhook, "--from", "0", "--to", "9"],
            "remove": ["remove", webhook],
            "add": ["add", ADDRESS, "--type", "*", "--type", "grant.given", "--of", "sandbox", "--of", "local",
                    "--catalog-changes", "--private-address"]}.items():
        c.both("change-webhooks-" + name, "webhooks", *words)


def help_texts(c):
    """What each command says of itself; every command has to have been asked by now."""
    text = c.tool.ask_plain("--help").decode()
    heads = set(re.findall(r"^  ([a-z][a-z-]*) {2,}", text.split("SUBCOMMANDS:", 1)[1], re.M))
    c.ask("help", "--help", plain=True)
    for head in sorted(heads):
        c.recording.keep("command-help-" + head, [("help", c.tool.ask_plain("help", head))])
    missing = heads - c.heads - set(LEFT_OUT)
    if missing:
        raise Fault("nobody asks the commands %s" % ", ".join(sorted(missing)))


def run(tool, given, recording):
    say("answers: commands")
    c = Commands(given.copy(tool, "commands"), recording)
    errors(c)
    questions(c, given)
    reports(c)
    log(c)
    exports(c)
    c.tool, c.changed = given.copy(tool, "changes"), True
    changes(c)
    webhooks(c)
    help_texts(c)
